"""Cut a chapter into slides, by a rule and not by hand.

No chapter teaches it; a refresh stores what it finds, and `coursekit slides` shows it. The headings
of a chapter begin its slides, its paragraphs are dealt out over slides below them, and code follows
its sentence as a *fragment*, hidden until the class has made its prediction. Because the cut is
computed from the text, there is nothing to keep in step when a chapter changes.

The slide types are those of Jupyter (cell metadata `slideshow.slide_type`): `slide` to the right,
`subslide` below, `fragment` on the same slide at the next key press, `skip` not shown.

Not promised: a slide that is good to look at. Promised: at most 90 words and one figure on each.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_WORDS = 90
MOST_LINES = 15.5  # of prose, that fill a slide of 720 pixels; the heights below are in such lines
CHARACTERS = 76  # of prose in a line
FIGURE_LINES = 14.0
CODE_LINE = 0.75
CODE_CHARACTERS = 90
MOST_PRINTED = 13.8  # of one output; what is longer can be scrolled
ROW_LINES = 1.25

_MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S)
_CODE = re.compile(r"`[^`\n]+`")
_ITEM = re.compile(r"^(?:[-*+]|\d+\.) ", re.M)
_RULE = re.compile(r"^\|[-:| ]+\|$")


@dataclass(frozen=True)
class Part:
    """A cell, or a piece of a markdown cell, and how it begins on the screen.

    `cell` is its place in the notebook; `text` the markdown to show, None for code.
    """

    cell: int
    begins: str
    text: str | None = None


def slide_types(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the slide type that a refresh stores with each cell.

    >>> title = {"cell_type": "markdown", "source": "# Title"}
    >>> code = {"cell_type": "code", "source": "import numpy as np"}
    >>> heading = {"cell_type": "markdown", "source": "## Predict"}
    >>> slide_types([title, code, heading, code])
    ['slide', 'skip', 'slide', 'fragment']
    """
    first: dict[int, str] = {}
    for part in parts(cells):
        first.setdefault(part.cell, part.begins)
    return [first[number] for number in range(len(cells))]


def parts(cells: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Return all parts of a chapter in order: what is on each slide, and what begins one."""
    found: list[Part] = []
    room = 0.0
    set_up = _set_up(cells)
    for number, cell in enumerate(cells):
        if number == set_up:
            found.append(Part(number, "skip"))
        elif cell["cell_type"] == "code":
            needed = code_lines(cell)
            begins = "fragment" if needed <= room else "subslide"
            room = (room if begins == "fragment" else MOST_LINES) - needed
            found.append(Part(number, begins))
        else:
            begins = "slide" if re.match(r"##? ", cell["source"]) else "subslide"
            for piece in pieces(cell["source"]):
                found.append(Part(number, begins, piece))
                begins = "subslide"
                room = MOST_LINES - sum(map(prose_lines, blocks(piece)))
    return found


def _set_up(cells: Sequence[Mapping[str, Any]]) -> int:
    """Return the place of the imports below the title: a class has nothing to see in them."""
    second = cells[1] if len(cells) > 1 else {"cell_type": "", "source": ""}
    is_set_up = second["cell_type"] == "code" and re.search(r"^(?:import|from) ", second["source"])
    return 1 if is_set_up and not second.get("outputs") else -1


def has_figure(cell: Mapping[str, Any]) -> bool:
    """Whether a code cell has put out a figure or an explorer."""
    return any("<figure" in _html(output) for output in cell.get("outputs", []))


def _html(output: Mapping[str, Any]) -> str:
    return "".join(output.get("data", {}).get("text/html", ""))


# --- words and heights --------------------------------------------------------------------------


def words(text: str) -> int:
    """Count words as a reader in the room sees them.

    A formula or a piece of code is one, a table rule none, and an answer that is folded away none.

    >>> words("We add $a + b$. <details><summary>Why?</summary>Because we can.</details>")
    4
    """
    text = re.sub(r"</summary>.*?</details>", " ", text, flags=re.S)
    text = _CODE.sub(" x ", _MATH.sub(" x ", text))
    text = re.sub(r"<[^>]+>|\]\([^)]*\)", " ", text)
    return len(re.findall(r"\S*\w\S*", text))


def prose_lines(block: str) -> float:
    """Return the height of a block of markdown on a slide, in lines of prose."""
    if block.startswith("#"):
        return 2.0
    if block.startswith("```"):
        return 0.5 + CODE_LINE * float(block.count("\n") - 1)
    if block.startswith("|"):
        rows = [row for row in block.split("\n") if not _RULE.match(row)]
        return 0.5 + ROW_LINES * sum(math.ceil(len(_seen(row)) / 100) for row in rows)
    display = re.findall(r"\$\$.*?\$\$", block, re.S)
    rest = re.sub(r"\$\$.*?\$\$", "", block, flags=re.S)
    height = 0.0
    for formula in display:
        height += 2.4 + 1.6 * formula.count(r"\\ ")
    for line in _paragraphs(rest):
        height += 0.5 + math.ceil(len(_seen(line)) / CHARACTERS)
    return height


def code_lines(cell: Mapping[str, Any]) -> float:
    """Return the height of a code cell with what it put out, in lines of prose."""
    height = 0.7 + _listing(cell["source"])
    for output in cell.get("outputs", []):
        if "<figure" in _html(output):
            return FIGURE_LINES
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        height += 0.5 + min(_listing("".join(text).rstrip("\n")), MOST_PRINTED)
    return height


def _listing(text: str) -> float:
    return CODE_LINE * sum(math.ceil(len(line) / CODE_CHARACTERS) or 1 for line in text.split("\n"))


def _paragraphs(text: str) -> Iterator[str]:
    """Yield what begins on a line of its own: paragraphs and items, each with its wrapped lines."""
    for block in re.split(r"\n\s*\n", text):
        for item in re.split(r"\n(?=\s*(?:[-*+]|\d+\.) )", block):
            if item.strip():
                yield item


def _seen(text: str) -> str:
    """Return a text about as long as it is when it is set: formulas are shorter than their TeX."""
    text = re.sub(r"</summary>.*?</details>", "", text, flags=re.S)
    text = _MATH.sub(
        lambda found: "x" * (len(re.sub(r"\\[a-z]+|[{}^_ ]", "x", found[0])) // 2), text
    )
    return re.sub(r"\]\([^)]*\)|<[^>]+>|[*`]", "", text)


# --- cutting a cell -----------------------------------------------------------------------------


def blocks(text: str) -> list[str]:
    """Split markdown at its blank lines; a folded answer, a formula and a listing stay whole."""
    found: list[str] = []
    inside = ""
    for chunk in re.split(r"\n\s*\n", text.strip()):
        if inside:
            found[-1] += "\n\n" + chunk
        else:
            found.append(chunk)
        whole = found[-1]
        opened = {
            "</details>": whole.count("<details") > whole.count("</details>"),
            "```": whole.count("```") % 2 == 1,
            "$$": whole.count("$$") % 2 == 1,
        }
        inside = next((end for end, is_open in opened.items() if is_open), "")
    return found


def pieces(text: str) -> list[str]:
    """Deal a markdown cell out over as few slides as hold it, about equally full.

    >>> [words(piece) for piece in pieces("\\n\\n".join(["word " * 40] * 3))]
    [80, 40]
    """
    units = [unit for block in blocks(text) for unit in _units(block)]
    fewest = len(_packed(units, MOST_WORDS, MOST_LINES))
    for share in (0.5, 0.6, 0.7, 0.8, 0.9):
        dealt = _packed(units, share * MOST_WORDS, share * MOST_LINES)
        if len(dealt) == fewest:
            return dealt
    return _packed(units, MOST_WORDS, MOST_LINES)


def _packed(units: Iterable[str], most_words: float, most_lines: float) -> list[str]:
    """Fill one piece after the other; a heading never ends one."""
    packed: list[list[str]] = []
    for unit in units:
        if packed and (
            packed[-1][-1].startswith("#") or _fits([*packed[-1], unit], most_words, most_lines)
        ):
            packed[-1].append(unit)
        else:
            packed.append([unit])
    return [_joined(group) for group in packed]


def _fits(units: Sequence[str], most_words: float, most_lines: float) -> bool:
    return sum(map(words, units)) <= most_words and sum(map(prose_lines, units)) <= most_lines


def _joined(units: Sequence[str]) -> str:
    """Put units together again: items of one list by a line break, tables without a second head."""
    text = units[0]
    for unit in units[1:]:
        head = "\n".join(unit.split("\n")[:2])
        if unit.startswith("|") and text.endswith("|") and head in text:
            text += "\n" + "\n".join(unit.split("\n")[2:])
        elif _ITEM.match(unit) and _ITEM.match(text.split("\n\n")[-1]):
            text += "\n" + unit
        else:
            text += "\n\n" + unit
    return text


def _units(block: str) -> list[str]:
    """Return a block, or where it is too long for a slide its items, rows or sentences."""
    if _fits([block], MOST_WORDS, MOST_LINES):
        return [block]
    if block.startswith("|"):
        head, rule, *rows = block.split("\n")
        return [f"{head}\n{rule}\n{row}" for row in rows]
    if _ITEM.match(block):
        return re.split(r"\n(?=(?:[-*+]|\d+\.) )", block)
    return _sentences(block)


def _sentences(block: str) -> list[str]:
    """Split a paragraph after its sentences, never inside a formula, code or bold words."""
    found = [""]
    for sentence in re.split(r"(?<=[.?!:])(?<!\b[A-Z]\.)\s+(?=[^a-z])", block):
        found[-1] += sentence if not found[-1] else f" {sentence}"
        if all(found[-1].count(mark) % 2 == 0 for mark in ("$", "`", "**")):
            found.append("")
    return [sentence for sentence in found if sentence]
