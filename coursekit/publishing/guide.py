"""Read the speaker notes out of `notebooks/instructor_guide.ipynb`.

The guide is the one home of what an instructor asks, expects and counts minutes for: beside the
chapters, not in them, so that no learner meets an answer before the question. Its chapters are
headings `## 03 Follow the variance`; below, one item for each part of the chapter:

    - **Predict**, 5 min. *Ask* ... *Expect* ...

The slides show such an item, for the speaker alone, at the heading of that part.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from coursekit.authoring import read

GUIDE = "instructor_guide.ipynb"
IDEA, DEMONSTRATION = "The one idea", "Demonstration"
DEMONSTRATED_IN = "See"
_CHAPTER = re.compile(r"^## (\d\d) (.+?)\s*$", re.M)
_ITEM = re.compile(r"^- \*\*(.+?)\*\*, (\d+) min\.\s+(.+?)(?=\n- |\n\s*\n|\Z)", re.M | re.S)
_PARAGRAPH = re.compile(r"^\*\*([^*]+?)[.,:]\*\*\s+(.+?)(?=\n\s*\n|\Z)", re.M | re.S)


@dataclass(frozen=True)
class Note:
    """What the speaker is told at the heading `part`: minutes for it, and markdown on one line."""

    part: str
    minutes: int
    text: str


@dataclass(frozen=True)
class Told:
    """What the guide tells of one chapter: its one idea, and a note for each part."""

    idea: str
    notes: tuple[Note, ...]


NOTHING = Told("", ())


def read_guide(root: Path) -> dict[str, Told]:
    """Return what the guide tells, by number of chapter; nothing where there is no guide."""
    path = root / "notebooks" / GUIDE
    if not path.is_file():
        return {}
    notebook = read(path, path.read_bytes())
    return parsed("\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown"))


def parsed(text: str) -> dict[str, Told]:
    """Return what the text of a guide tells; the demonstration stands in the note of `See`.

    >>> idea, item = "**The one idea.** Copies\\nstay.", "- **See**, 5 min. Look."
    >>> told = parsed(f"## 01 Break\\n\\n{idea}\\n\\n{item}\\n")
    >>> told["01"].idea, told["01"].notes
    ('Copies stay.', (Note(part='See', minutes=5, text='Look.'),))
    """
    pieces = _CHAPTER.split(text)[1:]  # number, title, body, number, ...
    return {number: _told(body) for number, body in zip(pieces[0::3], pieces[2::3], strict=True)}


def _told(body: str) -> Told:
    paragraphs = {label: " ".join(text.split()) for label, text in _PARAGRAPH.findall(body)}
    shown = paragraphs.get(DEMONSTRATION)
    notes = []
    for part, minutes, text in _ITEM.findall(body):
        told = " ".join(text.split())
        if part == DEMONSTRATED_IN and shown:
            told += f" *Demonstration:* {shown}"
        notes.append(Note(part, int(minutes), told))
    return Told(paragraphs.get(IDEA, ""), tuple(notes))
