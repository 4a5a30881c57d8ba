"""Keep every notebook executed, normal and in step with its source.

For authors; no chapter teaches it. A *refresh* runs a notebook from a clean kernel in the
notebook's own folder, stores what it printed, and brings everything that carries no meaning
(cell ids, metadata, widget state) to one form, so that a second refresh writes the same bytes and
a difference in git is a difference in the lesson. An *exercise* is never written by hand: it is
its solution with the answers taken out, and executed.

Formats: nbformat 4.5, https://nbformat.readthedocs.io. Execution: nbclient.

Not promised: pictures equal to the byte across versions of matplotlib. The regression run
compares their text twins instead (see `coursekit.figures`).
"""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from coursekit.errors import NotebookRefused
from coursekit.notebook_files import (
    bytes_of,
    first_difference,
    notebooks_in,
    refuse_open_elsewhere,
    replace_whole,
    shown,
)
from coursekit.slideshow import slide_types

KERNEL = "python3"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": KERNEL}
KEPT_CELL_METADATA = ("slideshow",)  # the one cell metadata that carries meaning: a slide begins
CHAPTER = re.compile(r"\d\d_")  # how the stem of a chapter begins
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_SECONDS = 60  # the limit of the regression run too

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
STUB = "...  # your code here"
SOLUTION_ONLY = "<!-- solution -->"  # first line of a markdown cell that exercises leave out

_v4: Any = nbformat.v4  # nbformat carries no types
NotebookNode: Any = nbformat.NotebookNode


# --- the two requests ---------------------------------------------------------------------------


def refresh(paths: Sequence[str | Path] = (), check: bool = False, root: Path | None = None) -> int:
    """Execute and normalise notebooks in place; rebuild the exercise of every solution.

    Args:
        paths: notebooks or folders of notebooks. None given: `notebooks/` and `solutions/`.
            A path in `exercises/` stands for its rebuilding from its solution.
        check: compare with what is stored and write nothing.
        root: folder that holds `notebooks/`; the current folder or this package's checkout.

    Returns:
        0 when every notebook is (or, checking, already was) as a refresh writes it, else 1.
        A notebook that is refused is named with its cell and the cause, and stays as it was;
        the others are still done.
    """
    base = _root() if root is None else root
    wanted = [base / "notebooks", base / "solutions"] if not paths else [Path(p) for p in paths]
    jobs: list[tuple[Path, Callable[[], str]]] = []
    for path in notebooks_in(wanted):
        if path.parent.name == "exercises":
            source = path.parent.parent / "solutions" / path.name
            jobs.append((path, partial(_build_exercise, source, check)))
            continue
        jobs.append((path, partial(_refresh_one, path, check)))
        if path.parent.name == "solutions":
            jobs.append((_exercise_of(path), partial(_build_exercise, path, check)))
    return _run(jobs)


def build_exercises(check: bool = False, root: Path | None = None) -> int:
    """Make `exercises/` from `solutions/` as they are stored; see `refresh` for the rest.

    An exercise that no solution stands behind is named as a failure, never deleted.
    """
    base = _root() if root is None else root
    solutions = notebooks_in([base / "solutions"])
    sources = {_exercise_of(path): path for path in solutions}
    targets = sorted({*sources, *notebooks_in([base / "exercises"])})
    return _run(
        [
            (target, partial(_build_exercise, base / "solutions" / target.name, check))
            for target in targets
        ]
    )


def _root() -> Path:
    """Return the folder that holds `notebooks/`: the current one, or this package's checkout."""
    here = Path.cwd()
    return here if (here / "notebooks").is_dir() else Path(__file__).resolve().parent.parent


def _run(jobs: Sequence[tuple[Path, Callable[[], str]]]) -> int:
    """Do one job after the other, with a line for each, and a count at the end."""
    outcomes: dict[str, int] = {}
    for number, (path, job) in enumerate(jobs, start=1):
        print(f"[{number}/{len(jobs)}] {shown(path)} ... ", end="", flush=True)
        started = time.perf_counter()
        try:
            outcome = job()
        except NotebookRefused as refusal:
            outcome = f"refused\n    {refusal}"
        print(f"{outcome} ({time.perf_counter() - started:.1f} s)", flush=True)
        word = outcome.split(maxsplit=1)[0]
        outcomes[word] = outcomes.get(word, 0) + 1
    counts = ", ".join(f"{count} {word}" for word, count in outcomes.items()) or "nothing to do"
    print(f"{len(jobs)} notebooks: {counts}", flush=True)
    return 1 if {"refused", "stale"} & outcomes.keys() else 0


# --- one notebook -------------------------------------------------------------------------------


def _refresh_one(path: Path, check: bool) -> str:
    before = bytes_of(path)
    if not check:
        refuse_open_elsewhere(path)
    notebook = read(path, before)
    execute(notebook, path)
    return _store(path, before, written(notebook), check)


def _build_exercise(solution: Path, check: bool) -> str:
    target = _exercise_of(solution)
    if not solution.is_file():
        raise NotebookRefused(shown(target), None, f"no {shown(solution)} to make it from")
    before = target.read_bytes() if target.is_file() else None
    if not check:
        refuse_open_elsewhere(target)
    notebook = exercise_from(read(solution, solution.read_bytes()), solution)
    # A first build has no folder yet; its neighbour sees the same relative paths.
    execute(notebook, target if target.parent.is_dir() else solution)
    return _store(target, before, written(notebook), check)


def read(path: Path, raw: bytes) -> Any:
    """Parse a notebook and bring ids and metadata to their one form; outputs stay.

    Raises:
        NotebookRefused: not JSON; not a notebook of format 4; another kernel than `python3`.
    """
    name = shown(path)
    try:
        text = raw.decode("utf-8")
        major = json.loads(text)["nbformat"]
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise NotebookRefused(name, None, f"not JSON: {error}") from None
    except (KeyError, TypeError):
        raise NotebookRefused(name, None, "JSON, but no notebook: no nbformat") from None
    if major != 4:
        raise NotebookRefused(name, None, f"notebook format must be 4; got {major!r}")
    try:
        notebook = _v4.reads(text)
        kernel = notebook.metadata.get("kernelspec", {}).get("name")
        _normalise(notebook, path.stem)
        nbformat.validate(notebook)
    except (AttributeError, KeyError, TypeError, nbformat.ValidationError) as error:
        reason = (str(error).splitlines() or [repr(error)])[0]
        raise NotebookRefused(name, None, f"JSON, but no valid notebook: {reason}") from None
    if kernel != KERNEL:
        rule = f'metadata must name the kernel ("kernelspec": {json.dumps(KERNELSPEC)})'
        raise NotebookRefused(name, None, f"{rule}; got {kernel!r}")
    return notebook


def execute(notebook: Any, path: Path) -> None:
    """Run all cells of `notebook` from a clean kernel in the folder of `path`, in place.

    Raises:
        NotebookRefused: naming the cell that failed, took too long or killed the kernel.
    """
    running = ""

    def note(cell: Any, cell_index: int) -> None:
        nonlocal running
        running = f"cell {cell_index} ({cell.id})"

    client = NotebookClient(
        notebook,
        kernel_name=KERNEL,
        timeout=CELL_SECONDS,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # not: that loopback TCP is plain text
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=note,
    )
    try:
        # One BLAS thread, as the tests have: the matrices are small, the machine may be busy.
        client.execute(env={"OPENBLAS_NUM_THREADS": "1", **os.environ})
    except NoSuchKernel as error:
        reason = f"kernel {error.name} is not installed (pip install ipykernel)"
        raise NotebookRefused(shown(path), None, reason) from None
    except CellExecutionError as error:
        raise NotebookRefused(shown(path), running, f"{error.ename}: {error.evalue}") from None
    except CellTimeoutError:
        reason = f"still running after {CELL_SECONDS} s"
        raise NotebookRefused(shown(path), running, reason) from None
    except DeadKernelError:
        raise NotebookRefused(shown(path), running, "the kernel died") from None
    except RuntimeError as error:  # what jupyter_client raises for a kernel that never answers
        raise NotebookRefused(shown(path), None, f"the kernel did not start: {error}") from None
    _normalise(notebook, path.stem)


def written(notebook: Any) -> bytes:
    """Return the bytes that a refresh stores: sorted keys, indent 1, a newline at the end."""
    text: str = _v4.writes(notebook)
    return (text.rstrip("\n") + "\n").encode("utf-8")


def _normalise(notebook: Any, stem: str) -> None:
    """Remove what depends on when and where a notebook was run, or by which program saved."""
    notebook.nbformat_minor = 5
    notebook.metadata = NotebookNode(
        {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    )
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{stem}-{number:02d}"
        kept = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if key in cell.metadata}
        cell.metadata = NotebookNode(kept)
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = NotebookNode({})
            if len(output.get("data", {})) > 1:  # the static twin stays for who has no kernel
                output.data.pop(WIDGET_VIEW, None)
    if CHAPTER.match(stem):
        for cell, kind in zip(notebook.cells, slide_types(notebook.cells), strict=True):
            cell.metadata = NotebookNode({"slideshow": {"slide_type": kind}})


def _store(path: Path, before: bytes | None, after: bytes, check: bool) -> str:
    if before == after:
        return "unchanged"
    if check:
        return f"stale\n    {first_difference(before or b'', after)}"
    refuse_open_elsewhere(path)
    now = path.read_bytes() if path.is_file() else None
    if now != before:
        raise NotebookRefused(shown(path), None, "it changed on disk while it was executed")
    replace_whole(path, after)
    return "rewritten"


# --- exercises ----------------------------------------------------------------------------------


def exercise_from(notebook: Any, solution: Path) -> Any:
    """Take the answers out of a solution: stubs for marked code, no solution-only markdown.

    Raises:
        NotebookRefused: a marker without its partner, with the cell that holds it.
    """
    kept = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            try:
                cell.source = without_solution(cell.source)
            except ValueError as error:
                where = f"cell {number} ({cell.id})"
                raise NotebookRefused(shown(solution), where, str(error)) from None
            cell.outputs, cell.execution_count = [], None
        elif cell.source.lstrip().startswith(SOLUTION_ONLY):
            continue
        kept.append(cell)
    notebook.cells = kept
    _normalise(notebook, solution.stem)
    return notebook


def without_solution(source: str) -> str:
    """Replace each marked region by a stub at the indentation of its first marker.

    Raises:
        ValueError: a marker without its partner.

    >>> print(without_solution("y = (\\n    ### BEGIN SOLUTION\\n    x\\n    ### END SOLUTION\\n)"))
    y = (
        ...  # your code here
    )
    """
    lines: list[str] = []
    inside = False
    for line in source.split("\n"):
        marker = line.strip()
        if marker == BEGIN:
            if inside:
                raise ValueError(f"{BEGIN} inside a solution that has not ended")
            inside = True
            lines.append(line[: line.index(BEGIN)] + STUB)
        elif marker == END:
            if not inside:
                raise ValueError(f"{END} without {BEGIN}")
            inside = False
        elif not inside:
            lines.append(line)
    if inside:
        raise ValueError(f"{BEGIN} without {END}")
    return "\n".join(lines)


def _exercise_of(solution: Path) -> Path:
    return solution.parent.parent / "exercises" / solution.name
