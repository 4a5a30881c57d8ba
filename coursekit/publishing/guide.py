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
_CHAPTER = re.compile(r"^## (\d\d) (.+?)\s*$", re.M)
_ITEM = re.compile(r"^- \*\*(.+?)\*\*, (\d+) min\.\s+(.+?)(?=\n- |\n\s*\n|\Z)", re.M | re.S)


@dataclass(frozen=True)
class Note:
    """What the speaker is told at the heading `part`: minutes for it, and markdown on one line."""

    part: str
    minutes: int
    text: str


def notes(root: Path) -> dict[str, list[Note]]:
    """Return the notes of the guide by number of chapter; none where there is no guide."""
    path = root / "notebooks" / GUIDE
    if not path.is_file():
        return {}
    notebook = read(path, path.read_bytes())
    return parsed("\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown"))


def parsed(text: str) -> dict[str, list[Note]]:
    """Return the notes in the text of a guide.

    >>> parsed("## 01 Break\\n\\n- **Predict**, 5 min. *Ask* four\\n  numbers.\\n")
    {'01': [Note(part='Predict', minutes=5, text='*Ask* four numbers.')]}
    """
    found: dict[str, list[Note]] = {}
    _before, *chapters = _CHAPTER.split(text)
    for number, _title, body in zip(*[iter(chapters)] * 3, strict=True):
        found[number] = [
            Note(part, int(minutes), " ".join(told.split()))
            for part, minutes, told in _ITEM.findall(body)
        ]
    return found
