"""The learner's side of the course: find it, open it, and keep one's own work apart from it.

No chapter teaches it; `00_start_here` uses it. The course is a folder with `notebooks/`,
`exercises/` and this package in it. What a learner changes is a copy in `my_work/`, which git does
not look at: an update of the course never meets it, and nothing here ever writes over it.

Not promised: a JupyterLab without any settings of the user's own. Theirs stay in force and stay
untouched; ours only replace JupyterLab's defaults, for this one run.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from coursekit.errors import CourseNotFound, PackageMissing, UnknownChoice

START = "notebooks/00_start_here.ipynb"
WORK = "my_work"
ALL = "all"
LAB_SETTINGS = Path(__file__).parent / "lab_settings"  # holds overrides.json: no news, no popup


def course_root() -> Path:
    """Return the folder of the course: the current one, or one above it, or the package's own.

    Raises: `CourseNotFound` when none of them holds the start chapter.
    """
    beside_package = Path(__file__).resolve().parent.parent
    try:
        here = Path.cwd()
    except FileNotFoundError:  # somebody has deleted the current folder
        here = beside_package
    for folder in (here, *here.parents, beside_package):
        if (folder / START).is_file() and (folder / "coursekit").is_dir():
            return folder
    raise CourseNotFound(START, str(here), str(beside_package))


# --- open the course ----------------------------------------------------------------------------


def lab_command(
    root: Path | None = None, *, port: int | None = None, browser: bool = True
) -> tuple[list[str], dict[str, str]]:
    """Return how JupyterLab is started on the first chapter: arguments and environment.

    Args:
        root: the folder to serve; the course's when not given.
        port: where to listen; JupyterLab's own choice when not given.
        browser: whether to open one. Without, or where there is none, the address is printed.
    Raises: `CourseNotFound`.
    """
    served = course_root() if root is None else root
    arguments = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={served}",
        f"--LabApp.default_url=/lab/tree/{START}",
        f"--LabApp.app_settings_dir={LAB_SETTINGS}",
    ]
    if port is not None:
        arguments.append(f"--port={port}")
    if not browser:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")  # in a container root is often the only user
    # Without it a kernel of the same name, installed for the user by another project, comes first.
    return arguments, os.environ | {"JUPYTER_PREFER_ENV_PATH": "1"}


def open_lab(port: int | None = None, browser: bool = True) -> int:
    """Start JupyterLab on the first chapter, wait until it ends, and return its exit status.

    Raises: `CourseNotFound`, `PackageMissing`.
    """
    arguments, environment = lab_command(port=port, browser=browser)
    if find_spec("jupyterlab") is None:
        raise PackageMissing("jupyterlab")
    print(f"Opening {START}. Press Control-C twice here to end JupyterLab.", flush=True)
    with subprocess.Popen(arguments, env=environment) as lab:
        while True:
            try:
                return lab.wait()
            except KeyboardInterrupt:
                continue  # JupyterLab has received it too, and asks whether it is meant


# --- copy an exercise ---------------------------------------------------------------------------


def exercises(root: Path) -> dict[int, Path]:
    """Return the exercises of the course by number."""
    found = sorted((root / "exercises").glob("ex[0-9][0-9]_*.ipynb"))
    return {int(path.name[2:4]): path for path in found}


def start(number: str, root: Path | None = None) -> list[str]:
    """Copy an exercise, or `all`, to `my_work/`; a copy that is already there stays as it is.

    Args:
        number: `1` or `01` to the last one, or `all`.
        root: folder of the course; found when not given.
    Returns: a sentence for each exercise, to be shown.
    Raises: `CourseNotFound`; `UnknownChoice` for another number, before anything is copied.
    """
    folder = course_root() if root is None else root
    available = exercises(folder)
    wanted = [one for one in available if number == ALL or str(one) == number.lstrip("0")]
    if not wanted and number != ALL:
        raise UnknownChoice("exercise", number, (*map(str, available), ALL))
    (folder / WORK).mkdir(exist_ok=True)
    return [_copied(available[one], folder / WORK) for one in wanted]


def _copied(source: Path, folder: Path) -> str:
    target = folder / source.name
    content = source.read_bytes()
    try:
        with open(target, "xb") as file:  # "x": never over a file that is there
            file.write(content)
    except FileExistsError:
        return f"{folder.name}/{source.name} is there already and stays as it is"
    except OSError:
        target.unlink(missing_ok=True)  # a part of a notebook would be taken for a copy
        raise
    return f"{folder.name}/{source.name} is ready"
