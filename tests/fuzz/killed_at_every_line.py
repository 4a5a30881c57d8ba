"""Save over an old file and be killed at line 1, 2, 3 … of the saving code; say what is there then.

Lines of `pathlib` and `shutil` on the way count as well: what opens, writes and renames. Run by
`test_fuzz_files.py` in a process of its own, which forks one child for each line. Prints one word a
line: `old`, `new`, or what else was found.
"""

import os
import pathlib
import shutil
import signal
import sys
from pathlib import Path

import numpy as np

from coursekit import storage
from coursekit.checks import progress

SAVING = {module.__file__ for module in (storage, progress, pathlib, shutil)}


def save(what, folder, content):
    if what == "numbers":
        storage.save_arrays(folder / "file", {"a": np.full(2000, content)}, {"is": str(content)})
    else:
        progress.record(folder, f"ex0{int(content)}.a")


def found(what, folder):
    if what == "numbers":
        arrays, notes = storage.load_arrays(folder / "file")
        whole = (arrays["a"] == float(notes["is"])).all()
        return {"1.0": "old", "2.0": "new"}[notes["is"]] if whole else "mixed"
    return {1: "old", 2: "new"}[len(progress.read(folder))]


def killed_at(line, what, folder):
    """Whether the child was killed before it had finished."""
    child = os.fork()
    if child == 0:
        left = [line]

        def count(frame, event, _):
            if frame.f_code.co_filename not in SAVING:
                return None
            if event == "line":
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
            return count

        sys.settrace(count)
        save(what, folder, 2.0)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(what, folder):
    line, alive = 0, True
    while alive:
        line += 1
        place = folder / str(line)
        place.mkdir()
        save(what, place, 1.0)
        alive = killed_at(line, what, place)
        print(found(what, place))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
