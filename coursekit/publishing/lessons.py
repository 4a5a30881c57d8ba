"""What a notebook of the course says of itself: number, title, outcome and minutes.

All of it stands in the title cell, so that the table of contents cannot differ from the chapters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.authoring import read
from coursekit.errors import UnknownChoice

MINUTES = re.compile(r"\*\*Time:\*\* (?:about )?(\d+) minutes")


@dataclass(frozen=True)
class Lesson:
    """A chapter or an exercise: its file, and what its first cell says.

    `number` is `03` or `ex03`; `outcome` the first paragraph without a label before it, markdown on
    one line; `minutes` is None where no time is stated; `sections` are the headings of level two.
    """

    path: Path
    notebook: Any
    number: str
    title: str
    outcome: str
    minutes: int | None
    sections: tuple[str, ...]


def chapters(root: Path) -> list[Lesson]:
    """Return the chapters below `root`, in their order."""
    return [lesson(path) for path in sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb"))]


def exercises(root: Path) -> list[Lesson]:
    """Return the exercises below `root`, in their order: without answers, as learners get them."""
    return [lesson(path) for path in sorted((root / "exercises").glob("ex[0-9][0-9]_*.ipynb"))]


def lesson(path: Path) -> Lesson:
    """Read one notebook.

    Raises: `NotebookRefused` for a file that is no notebook of the course.
    """
    notebook = read(path, path.read_bytes())
    first = notebook.cells[0].source
    paragraphs = [block for block in re.split(r"\n\s*\n", first) if not block.startswith("#")]
    outcome = " ".join(paragraphs[0].split()) if paragraphs else ""
    minutes = MINUTES.search(first)
    sections = tuple(
        heading
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for heading in re.findall(r"^## (.+?)\s*$", cell.source, re.M)
    )
    return Lesson(
        path=path,
        notebook=notebook,
        number=path.name.partition("_")[0],
        title=first.partition("\n")[0].lstrip("# "),
        outcome=re.sub(r"^\*\*[^*]+:\*\* (.)", lambda label: label[1].upper(), outcome),
        minutes=int(minutes[1]) if minutes else None,
        sections=sections,
    )


def chosen(numbers: Sequence[str], available: Sequence[Lesson]) -> list[Lesson]:
    """Return the lessons with these numbers (`3` or `03`), all of them when none is given.

    Raises: `UnknownChoice` for a number that is not there.
    """
    by_number = {one.number: one for one in available}
    for number in numbers:
        if number.zfill(2) not in by_number:
            raise UnknownChoice("chapter", number, tuple(by_number))
    wanted = {number.zfill(2) for number in numbers} or set(by_number)
    return [one for one in available if one.number in wanted]
