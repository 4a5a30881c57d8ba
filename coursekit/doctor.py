"""What is wrong with an installation, and how to mend it.

No chapter teaches it; `00_start_here` points to it. Each function looks at one thing and returns
what it found; a trouble comes with the cure that a learner can type. The doctor changes nothing:
it starts a kernel and ends it, and writes a file that is gone at once.

Not promised: that a healthy report means a fast machine, or that a browser opens.
"""

import json
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from coursekit.errors import CourseNotFound
from coursekit.workspace import WORK, course_root

OLDEST_PYTHON = (3, 11)
REINSTALL = "pip install -c constraints.txt -e ."
KERNEL = "python3"
KERNEL_SECONDS = 60.0
# Runs in the kernel, because only there the learner's cells run.
PROBE = """
import io, sys, json
import coursekit.rng, numpy, safetensors, ipywidgets
import matplotlib
import matplotlib.pyplot as plt
plt.figure().savefig(io.BytesIO())
print(json.dumps({"python": sys.prefix, "coursekit": coursekit.rng.__file__,
                  "word": coursekit.rng.SplitMix64(0).next_u64(),
                  "backend": matplotlib.get_backend()}))
"""
FIRST_WORD_OF_SEED_0 = 0xE220A8397B1DCDAF


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what was seen, and if it is a trouble, the cure."""

    subject: str
    seen: str
    cure: str = ""

    @property
    def is_trouble(self) -> bool:
        """Whether there is something to mend."""
        return bool(self.cure)


def main() -> int:
    """Print every finding as it is made, and a last line. Return 1 if there was a trouble."""
    troubles = 0
    for finding in examine():
        troubles += finding.is_trouble
        print(f"{'TROUBLE' if finding.is_trouble else 'ok':8}{finding.subject}: {finding.seen}")
        if finding.is_trouble:
            print(textwrap.indent(f"cure: {finding.cure}", " " * 8), flush=True)
    print(
        {0: "No trouble found.", 1: "1 trouble found."}.get(troubles, f"{troubles} troubles found.")
    )
    return 1 if troubles else 0


def examine() -> Iterator[Finding]:
    """Yield the findings, cheap ones first."""
    yield python_version(sys.version_info[:3])
    try:
        root = course_root()
    except CourseNotFound as missing:
        yield Finding("course", f"not found ({missing})", "change to the folder that you cloned")
        return
    yield Finding("course", str(root))
    yield work_folder(root / WORK)
    yield from packages((root / "constraints.txt").read_text(encoding="utf-8"))
    yield from kernel()


def python_version(version: tuple[int, int, int]) -> Finding:
    """Is Python new enough, and wide enough for 64-bit arrays?"""
    seen = f"{'.'.join(map(str, version))} ({sys.executable})"
    if version[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        return Finding("Python", seen, f"install Python {wanted} or newer, then make .venv anew")
    if sys.maxsize < 2**63 - 1:
        return Finding(
            "Python", f"{seen}, 32 bits", "install a 64-bit Python, then make .venv anew"
        )
    return Finding("Python", seen)


def work_folder(folder: Path) -> Finding:
    """Can the learner's own notebooks be written? The folder need not be there yet."""
    place = folder if folder.exists() else folder.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Finding(
            "work folder",
            f"{place} cannot be written ({error.strerror or error})",
            f"allow yourself to write in {place}, or clone the course into your own folder",
        )
    return Finding("work folder", f"{folder} can be written")


# --- packages -----------------------------------------------------------------------------------


def packages(
    constraints: str, installed: Callable[[str], str | None] | None = None
) -> Iterator[Finding]:
    """Are all needed packages there, in the versions that the course was tried with?

    Args:
        constraints: the text of `constraints.txt`.
        installed: returns the version of a package, or None; this Python's when not given.
    """
    version_of = _installed if installed is None else installed
    try:
        from packaging.requirements import Requirement
    except ImportError:
        yield Finding("packages", "packaging is missing", REINSTALL)
        return
    wanted = [
        Requirement(line)
        for line in constraints.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    pins = {
        pin.name: str(pin.specifier) for pin in wanted if not pin.marker or pin.marker.evaluate()
    }
    healthy = 0
    for name in _required():
        if version_of(name) is None:
            yield Finding("packages", f"{name} is missing", REINSTALL)
    for name, pin in pins.items():
        version = version_of(name)
        if version is not None and f"=={version}" != pin:
            yield Finding("packages", f"{name} is {version}, tried with {pin[2:]}", REINSTALL)
        healthy += version is not None and f"=={version}" == pin
    yield Finding("packages", f"{healthy} in the versions of constraints.txt")


def _required() -> list[str]:
    """The packages that the default installation of coursekit asks for."""
    from packaging.requirements import Requirement

    try:
        stated = metadata.requires("coursekit") or []
    except metadata.PackageNotFoundError:
        return ["coursekit"]
    needed = [Requirement(text) for text in stated]
    return [one.name for one in needed if not one.marker or one.marker.evaluate({"extra": ""})]


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


# --- kernel -------------------------------------------------------------------------------------


def kernel(name: str = KERNEL, seconds: float = KERNEL_SECONDS) -> Iterator[Finding]:
    """Does the notebooks' kernel start, in this Python, and can it import, draw and compute?"""
    try:
        seen = json.loads(_printed_by_kernel(name, PROBE, seconds))
    except Exception as error:  # whatever goes wrong here is what the doctor is asked about
        reason = str(error).strip().splitlines() or [type(error).__name__]
        yield Finding(
            f"kernel {name}",
            f"does not run ({reason[-1]})",
            f"{REINSTALL} and then python -m ipykernel install --sys-prefix",
        )
        return
    if Path(seen["python"]).resolve() != Path(sys.prefix).resolve():
        yield Finding(
            f"kernel {name}",
            f"runs another Python, in {seen['python']}",
            "open the course with `coursekit lab`, or remove the other kernel: "
            f"jupyter kernelspec remove {name}",
        )
        return
    yield Finding(f"kernel {name}", "starts, imports the package and draws")
    yield Finding("matplotlib", f"backend {seen['backend']}")
    if seen["word"] != FIRST_WORD_OF_SEED_0:
        yield Finding(
            "generator",
            f"{seen['coursekit']} does not draw the first word of seed 0",
            f"undo the change (git checkout coursekit/rng.py), or {REINSTALL}",
        )


def _printed_by_kernel(name: str, code: str, seconds: float) -> str:
    """Run code in a fresh kernel and return what it printed; raise what it raised."""
    from jupyter_client.manager import start_new_kernel

    printed: list[str] = []

    def collect(message: dict[str, dict[str, str]]) -> None:
        if message["content"].get("name") == "stdout":
            printed.append(message["content"]["text"])

    manager, client = start_new_kernel(
        kernel_name=name, startup_timeout=seconds, extra_arguments=["--log-level=40"]
    )
    try:
        reply = client.execute_interactive(code, timeout=seconds, output_hook=collect)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if reply["content"]["status"] != "ok":
        raise RuntimeError(f"{reply['content']['ename']}: {reply['content']['evalue']}")
    return "".join(printed)
