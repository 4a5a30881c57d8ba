"""How the exercises are proved: what their notebooks hold, and what a check says to an answer.

A test file of an exercise lists other right answers and, as a table, wrong ones: the part, the
mistake behind the answer, the answer, and what the hint has to say. Nothing here starts a kernel;
the regression run executes the notebooks and compares the lines that are read here.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from coursekit.checks import examine
from coursekit.checks.core import LONGEST_LINE
from coursekit.checks.misconceptions import Misconception

ROOT = Path(__file__).resolve().parents[2]


class Right(NamedTuple):
    """Another right answer than that of the solution, and how it differs."""

    part: str
    manner: str
    answer: object


class Wrong(NamedTuple):
    """A wrong answer, the mistake behind it, and a piece of the hint that it has to get."""

    part: str
    mistake: str
    answer: object
    says: str | Misconception


def each(rows: list[Any]) -> pytest.MarkDecorator:
    """Run a test once for every row of a table, under the words of the row."""
    names = [f"{row.part}: {row[1]}" for row in rows]
    assert len(set(names)) == len(names), "two rows of a table have one name"
    return pytest.mark.parametrize("row", rows, ids=names)


def assert_passes(row: Right) -> None:
    verdict = examine(row.part, row.answer)
    assert verdict.state == "passed", verdict.line
    assert verdict.text.endswith(".")


def assert_rejected(row: Wrong) -> None:
    verdict = examine(row.part, row.answer)
    assert verdict.state == "not yet", verdict.line
    assert verdict.line == examine(row.part, row.answer).line, "not the same on every run"
    assert len(verdict.line) < LONGEST_LINE, "the line is cut"
    before, _, hint = verdict.text.partition(" Hint: ")
    assert before.startswith("got ")
    assert (row.says.hint if isinstance(row.says, Misconception) else row.says) in hint


def notebook_of(folder: str, exercise: str) -> Path:
    """Return the one notebook of an exercise such as `ex01` in `exercises` or `solutions`."""
    (path,) = (ROOT / folder).glob(f"{exercise}_*.ipynb")
    return path


@lru_cache
def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_bytes())["cells"]
    return found


def checks_called(path: Path) -> list[str]:
    """Return the parts whose checks a notebook calls, in order."""
    code = ["".join(cell["source"]) for cell in cells(path) if cell["cell_type"] == "code"]
    return re.findall(r"^check\(\"(ex\d\d\.[a-z])\"", "\n".join(code), re.M)


def lines_of_checks(path: Path) -> list[str]:
    """Return the lines that its checks have put out, as they are stored."""
    outputs = [output for cell in cells(path) for output in cell.get("outputs", [])]
    text = "".join("".join(one["text"]) for one in outputs if one.get("name") == "stdout")
    return re.findall(r"^ex\d\d\.[a-z] .*$", text, re.M)
