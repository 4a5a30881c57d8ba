"""Do the notebooks notice a fault in `coursekit` when the unit tests are switched off?

    python tests/faults [-j PROCESSES] [WORD ...]

For each fault of `faults.py` (with words: those whose name or file contains one of them) the course
is copied, the fault is put into the copy, and the copied notebooks run as the test command runs
them, strict comparison of every stored output, until a cell goes red. Prints who caught it. Before
all that the copy without a fault must be green, or nothing that follows would mean anything.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ["coursekit", "notebooks", "tests/nbval_sanitize.cfg", "conftest.py", "pyproject.toml"]
NEEDED += ["README.md", "exercises", "solutions"]  # what chapters read or list
PYTEST = [sys.executable, "-m", "pytest", "-o", "addopts=", "-p", "no:cacheprovider", "-q", "-x"]
PYTEST += ["--color=no", "-rfE", "--tb=no", "--nbval", "--nbval-current-env"]
PYTEST += ["--nbval-cell-timeout=60"]
SOUND = Fault("no fault at all", "__init__.py", "", "", "", "")
SURVIVED = "survived"


def copied(fault: Fault, folder: Path) -> None:
    """Lay the course down in `folder`, with the fault in it."""
    for name in NEEDED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("my_work", "*.tmp"))
        else:
            shutil.copy2(source, target)
    path = folder / "coursekit" / fault.file
    text = path.read_text(encoding="utf-8")
    if fault.old and text.count(fault.old) != 1:
        raise SystemExit(f"{fault.name}: its text occurs {text.count(fault.old)} times")
    if fault.old:
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def caught_by(fault: Fault) -> tuple[str, float]:
    """Return the notebook and cell that went red, or `SURVIVED`, and the seconds that it took."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="coursekit-fault-") as name:
        folder = Path(name)
        copied(fault, folder)
        likely = fault.chapters.split()
        notebooks = sorted(
            (f"notebooks/{path.name}" for path in (folder / "notebooks").glob("*.ipynb")),
            key=lambda path: (
                likely.index(path[10:12]) if path[10:12] in likely else len(likely),
                path,
            ),
        )
        run = subprocess.run(
            [*PYTEST, f"--nbval-sanitize-with={folder}/tests/nbval_sanitize.cfg", *notebooks],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
    red = re.search(r"^(?:FAILED|ERROR) notebooks/(.+)\.ipynb(?:::Cell (\d+))?", run.stdout, re.M)
    seconds = time.monotonic() - start
    if red:
        return f"{red[1]}, cell {red[2]}", seconds
    if run.returncode:
        raise SystemExit(f"{fault.name}: the run itself failed\n{run.stdout}{run.stderr}")
    return SURVIVED, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("words", nargs="*", help="only faults whose name or file contains one")
    parser.add_argument("-j", type=int, default=1, help="how many copies run at once")
    options = parser.parse_args()
    chosen = [
        fault
        for fault in FAULTS
        if not options.words or any(word in fault.name + fault.file for word in options.words)
    ]
    by, seconds = caught_by(SOUND)
    print(f"| {SOUND.name} | | {by} |  ({seconds:.0f} s)", flush=True)
    if by != SURVIVED:
        return 2
    survivors = []
    with ThreadPoolExecutor(options.j) as pool:
        for fault, (by, seconds) in zip(chosen, pool.map(caught_by, chosen), strict=True):
            print(f"| {fault.name} | {fault.file} | {by} |  ({seconds:.0f} s)", flush=True)
            survivors += [fault] if by == SURVIVED else []
    caught = len(chosen) - len(survivors)
    print(f"\n{caught} of {len(chosen)} caught ({100 * caught / len(chosen):.0f} %)")
    for fault in survivors:
        print(f"survived: {fault.name} ({fault.file}): {fault.why}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
