"""What holds for every exercise: each part is asked, a stub passes nothing, a solution passes all.

That an exercise is its solution without the answers is held by `test_notebooks`, and that it puts
out what is stored by the regression run.
"""

import importlib
import re
from collections import Counter

import numpy as np
import pytest
from proof import Wrong, cells, checks_called, lines_of_checks, notebook_of

from coursekit.checks import Part, all_parts, examine

PARTS = [one for one in all_parts() if one.exercise != "ex90"]  # test_checks has its own
EXERCISES = sorted({one.exercise for one in PARTS})
FEWEST_MISTAKES = 3  # of each part
FEWEST_IN_ALL = 9 * len(EXERCISES)

each_exercise = pytest.mark.parametrize("exercise", EXERCISES)
each_part = pytest.mark.parametrize("one", PARTS, ids=[one.name for one in PARTS])


@each_exercise
@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_a_notebook_asks_every_part_once_and_in_order(exercise: str, folder: str) -> None:
    called = checks_called(notebook_of(folder, exercise))
    assert called == [one.name for one in PARTS if one.exercise == exercise]
    assert 2 <= len(called) <= 4


@each_exercise
@pytest.mark.parametrize(
    ("folder", "state"), [("exercises", "not started"), ("solutions", "passed")]
)
def test_an_untouched_exercise_has_started_nothing_and_a_solution_passes_all(
    exercise: str, folder: str, state: str
) -> None:
    path = notebook_of(folder, exercise)
    said = [re.match(r"(ex\d\d\.[a-z]) ([a-z ]+): ", line) for line in lines_of_checks(path)]
    assert [(one[1], one[2]) for one in said if one] == [
        (part, state) for part in checks_called(path)
    ]


@each_exercise
def test_dots_put_out_nothing_themselves(exercise: str) -> None:
    """Dots on a line of their own at the end of a cell would put out `Ellipsis`."""
    put_out = [cell.get("outputs") for cell in cells(notebook_of("exercises", exercise))]
    assert "Ellipsis" not in str(put_out)


EMPTY = [..., None, 0, 1, 0.0, True, False, "", (), [], {}, set(), np.zeros(0), np.zeros((2, 2))]


def stub(*_: object) -> None: ...


@each_part
def test_nothing_empty_passes(one: Part) -> None:
    assert examine(one.name).state == "not started"
    assert examine(one.name, None).state == "not started"
    passed = [answer for answer in (*EMPTY, stub) if examine(one.name, answer).state == "passed"]
    assert passed == []


def test_every_part_has_its_table_of_wrong_answers() -> None:
    tables = [importlib.import_module(f"test_{exercise}").WRONG for exercise in EXERCISES]
    rows = [row for table in tables for row in table if isinstance(row, Wrong)]
    found = Counter(row.part for row in rows)
    assert [one.name for one in PARTS if found[one.name] < FEWEST_MISTAKES] == []
    assert found.total() >= FEWEST_IN_ALL
