"""Keep what a learner has passed, in `my_work/progress.json`, and show it.

Only a passed check writes, and only when it runs in the learner's folder: the nearest one called
`my_work` around the notebook, or the one that the environment variable COURSEKIT_PROGRESS names. A
run of `solutions/` or `exercises/`, by an instructor or a test, writes nothing anywhere.

A new file replaces the old one whole, under a lock that the operating system frees when a program
ends, so that two notebooks at once lose nothing. A file that cannot be read is kept aside under
another name, and the check says so. Not promised: locks on network folders that know none.
"""

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coursekit.checks.parts import EXERCISES, Part, all_parts
from coursekit.workspace import WORK

VARIABLE = "COURSEKIT_PROGRESS"
FILE = "progress.json"
LOCK = ".progress.lock"
FORMAT = 1
PATIENCE = 10.0  # seconds to wait for another notebook, or for a reader that holds the file
_TICK = 0.02


class Damaged(Exception):
    """The progress file is not one that `record` writes; the text says why."""


# --- keep ---------------------------------------------------------------------------------------


def folder() -> Path | None:
    """Return where passed checks are kept from here, None for nowhere."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    with contextlib.suppress(OSError):  # the current folder may have been deleted
        here = Path.cwd()
        for around in (here, *here.parents):
            if around.name == WORK:
                return around
    return None


def record(folder: Path, name: str) -> list[str]:
    """Keep that part `name` is passed; return what the learner should know about the keeping."""
    notes = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            try:
                passed = read(folder)
            except Damaged as damage:
                aside = _set_aside(folder / FILE)
                notes.append(
                    f"({FILE} was damaged, {damage}: kept as {aside}, a new one is begun.)"
                )
                passed = set()
            if name not in passed:
                _write(folder, passed | {name})
    except OSError as trouble:
        notes.append(f"(Not kept: {trouble.strerror or trouble}.)")
    return notes


def read(folder: Path) -> set[str]:
    """Return the names of the parts that the file in `folder` holds; none when there is no file.

    Raises: `Damaged`; `OSError` when the file is there and cannot be opened.
    """
    try:
        content = json.loads((folder / FILE).read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return set()
    except (ValueError, RecursionError):
        raise Damaged("it is no JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise Damaged(f"it is not of format {FORMAT}")
    passed = content.get("passed")
    if not isinstance(passed, list) or not all(isinstance(one, str) for one in passed):
        raise Damaged("its list of passed parts is none")
    return set(passed)


def _write(folder: Path, passed: set[str]) -> None:
    content = json.dumps({"format": FORMAT, "passed": sorted(passed)}, indent=1) + "\n"
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{FILE}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _replace(Path(name), folder / FILE)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _replace(new: Path, old: Path) -> None:
    """Put one file in the place of another; Windows refuses as long as somebody reads the old."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            new.replace(old)
            return
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > deadline:
                raise
            time.sleep(_TICK)


def _set_aside(file: Path) -> str:
    number = 1
    while (aside := file.with_name(f"progress.damaged-{number}.json")).exists():
        number += 1
    _replace(file, aside)
    return aside.name


# --- one at a time ------------------------------------------------------------------------------

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`, waiting for whoever has it; closing the handle frees it."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                _try_lock(handle)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise TimeoutError("another notebook is writing the progress file") from None
                time.sleep(_TICK)
        yield
    finally:
        os.close(handle)


# --- show ---------------------------------------------------------------------------------------


def progress_report(folder: Path) -> str:
    """Return what is passed in `folder`, exercise by exercise, and which part comes next.

    Reads only; a damaged file is named and left for the next passed check to keep aside.
    """
    trouble = ""
    try:
        passed = read(folder)
    except Damaged as damage:
        passed, trouble = (
            set(),
            f"{FILE} is damaged, {damage}. The next passed check keeps it aside.\n",
        )
    except OSError as error:
        passed, trouble = set(), f"{FILE} cannot be read: {error.strerror or error}.\n"
    parts = all_parts()
    done = [one for one in parts if one.name in passed]
    lines = [f"{len(done)} of {len(parts)} parts passed in {folder.name}/"]
    for exercise, stem in EXERCISES.items():
        own = [one for one in parts if one.exercise == exercise]
        if own:
            marks = " ".join(one.name[-1] if one in done else "-" for one in own)
            lines.append(f"{int(exercise[2:]):2d}  {_title(stem):<26}  {marks}")
    return trouble + "\n".join(lines) + "\n" + _next(folder, [p for p in parts if p not in done])


def _title(stem: str) -> str:
    return stem.replace("_", " ").capitalize()


def _next(folder: Path, left: list[Part]) -> str:
    if not left:
        return "All parts are passed.\n"
    one = left[0]
    file = f"{one.exercise}_{EXERCISES.get(one.exercise, '')}.ipynb"
    line = f"Next: {one.name}, {one.title}, in {folder.name}/{file}"
    if not (folder / file).exists():
        line += f" (coursekit start {int(one.exercise[2:])} copies it there)"
    return line + "\n"
