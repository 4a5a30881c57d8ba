"""One line for every answer: missing, wrong, right, or out to break the check that tries it."""

import _thread
import importlib
import json
import math
import os
import subprocess
import sys
import threading
import time
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

from coursekit import checks
from coursekit.autodiff import parameter
from coursekit.checks import (
    EXACT,
    REGISTRY,
    Answer,
    Mistake,
    Part,
    check,
    digits,
    examine,
    isolation,
    part,
    progress,
    progress_report,
    rounding,
    sampling,
)
from coursekit.checks.describe import LONGEST, describe
from coursekit.checks.misconceptions import LECUN_FOR_XAVIER, NAMED, OUTPUT_FIRST
from coursekit.errors import ZeroFanIn
from coursekit.rng import SplitMix64

# --- a small exercise of our own ----------------------------------------------------------------


def number(answer: Answer) -> str:
    mistakes = [Mistake(1.0, LECUN_FOR_XAVIER), Mistake(lambda v: v > 99, "That is huge.")]
    answer.expect(0.4, rounding(2), "Add the fans first.", mistakes, form="the variance")
    return "2/(1 + 4) is 0.4."


def matrix(answer: Answer) -> str:
    answer.expect(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]), EXACT, "Count again.")
    return "So it is."


def function(answer: Answer) -> str:
    scale = answer.function("fan_in, fan_out")
    for fan_in, fan_out in ((2, 2), (4, 2), (64, 1)):
        scale(fan_in, fan_out).expect(2 / (fan_in + fan_out), rounding(2), "Both fans count.")
    return "It holds for any fans."


def on_array(answer: Answer) -> str:
    total = answer.function("x")
    total(np.array([1.0, 2.0])).expect(3.0, rounding(2), "Add them up.")
    return "It adds."


def drawing(answer: Answer) -> str:
    draw = answer.function("rng")
    draw(SplitMix64(17)).expect(SplitMix64(17).next_unit_f64(), EXACT, "Draw once.")
    return "One draw."


EXAMINED = {"a": number, "b": matrix, "c": function, "d": on_array, "e": drawing}


@pytest.fixture(autouse=True)
def exercise(monkeypatch):
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    for letter, examined in EXAMINED.items():
        name = f"ex90.{letter}"
        monkeypatch.setitem(REGISTRY, name, Part(name, examined.__name__, 5.0, examined))


@pytest.fixture
def quick(monkeypatch):
    """Give the parts a fifth of a second."""
    for name, one in list(REGISTRY.items()):
        monkeypatch.setitem(REGISTRY, name, Part(name, one.title, 0.2, one.examine))


def line_for(capsys, name, answer):
    """Return the one line that `check` prints, having made sure that it is one and all."""
    check(name, answer)
    out, err = capsys.readouterr()
    assert err == ""
    assert out.endswith("\n")
    assert out.count("\n") == 1
    return out[:-1]


def returning(value):
    return lambda fan_in, fan_out: value


# --- the three answers --------------------------------------------------------------------------


def stub(fan_in, fan_out): ...  # your code here


def planned(fan_in, fan_out):
    raise NotImplementedError


def unnamed(fan_in, fan_out):
    return target_variance  # noqa: F821 - an earlier cell was not run


@pytest.mark.parametrize(
    ("name", "answer", "says"),
    [
        ("ex90.a", ..., "the answer still holds the dots."),
        ("ex90.a", None, "the answer is None so far."),
        ("ex90.a", NotImplemented, "the answer still holds the dots."),
        ("ex90.b", [[1.0, ...], [2.0, 3.0]], "the answer still holds the dots."),
        ("ex90.b", {"variance": ...}, "the answer still holds the dots."),
        ("ex90.c", stub, "stub(2, 2) returns nothing: it has to end with return."),
        ("ex90.c", lambda a, b: ..., "your function(2, 2) still holds the dots."),
        ("ex90.c", planned, "planned(2, 2) raises NotImplementedError."),
        ("ex90.c", unnamed, "unnamed(2, 2) needs the name 'target_variance', which is not"),
    ],
)
def test_what_is_not_there_yet_is_not_started(capsys, name, answer, says):
    line = line_for(capsys, name, answer)
    assert line.startswith(f"{name} not started: {says}")
    assert line.endswith("Put your answer in its place and run the cell again.")


def test_a_check_without_an_answer_is_not_started(capsys):
    check("ex90.a")
    assert capsys.readouterr().out.startswith("ex90.a not started: ")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("ex90.a", 0.4),
        ("ex90.a", 2 / 5),
        ("ex90.a", np.float64(0.4)),
        ("ex90.a", np.array(0.4)),
        ("ex90.a", Fraction(2, 5)),
        ("ex90.a", Decimal("0.4")),
        ("ex90.a", np.longdouble(2) / 5),
        ("ex90.a", parameter(0.4)),
        ("ex90.a", 0.4 * (1 + 2**-52)),
        ("ex90.b", [[1, 2, 3], [4, 5, 7]]),
        ("ex90.b", np.array([[1, 2, 3], [4, 5, 7]], dtype=np.float32)),
        ("ex90.b", parameter([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])),
        ("ex90.c", lambda fan_in, fan_out: 2 / (fan_in + fan_out)),
        ("ex90.c", lambda *fans: np.array(2 / sum(fans))),
        ("ex90.d", np.sum),
        ("ex90.d", lambda x: x.sum()),
        ("ex90.e", lambda rng: rng.next_unit_f64()),
    ],
)
def test_right_answers_pass_in_any_form(capsys, name, answer):
    assert line_for(capsys, name, answer).startswith(f"{name} passed: ")


@pytest.mark.parametrize(
    ("name", "answer", "says"),
    [
        ("ex90.a", 1.0, "got 1.0; expected the variance, within 4.4e-16 relative, for 2 roundings"),
        ("ex90.a", 1.0, f"Hint: {LECUN_FOR_XAVIER.hint}"),
        ("ex90.a", 100.0, "Hint: That is huge."),
        ("ex90.a", -0.4, "Hint: Only the sign is wrong."),
        ("ex90.a", 2.5, "Hint: That is one over the right number."),
        ("ex90.a", 0.16, "Hint: That is the square of the right number: a root is missing."),
        ("ex90.a", 0.4**0.5, "Hint: That is the root of the right number: a square is missing."),
        ("ex90.a", 0.8, "Hint: A factor of 2 is missing or too much."),
        ("ex90.a", 0.4001, "Hint: Rounded too early: hand over the computed number"),
        ("ex90.a", 0.7, "Hint: Add the fans first."),
        ("ex90.a", 0.4 * (1 + 2**-50), "Hint: Add the fans first."),
        ("ex90.a", "0.4", "got '0.4'; expected the variance"),
        ("ex90.a", "0.4", "Hint: Leave the quotation marks out."),
        ("ex90.a", True, "Hint: A bool is not a real number."),
        ("ex90.a", 0.4 + 0j, "Hint: A complex is not a real number."),
        ("ex90.a", [0.4], "got list of 1: 0.4; expected"),
        ("ex90.a", math.nan, "got nan; expected"),
        ("ex90.a", math.nan, "Hint: NaN comes from 0/0"),
        ("ex90.a", 10**400, "got an integer of 1329 bits; expected"),
        ("ex90.a", number, "Hint: That is a function: hand over what it returns."),
        ("ex90.b", [[1, 4], [2, 5], [3, 7]], f"Hint: {OUTPUT_FIRST.hint}"),
        ("ex90.b", [1, 2, 3, 4, 5, 7], "Hint: Its shape is (6,)."),
        ("ex90.b", [[1, 2], [3]], "Hint: Its rows have unequal lengths."),
        ("ex90.b", [["1", "2", "3"], ["4", "5", "7"]], "Hint: Every element has to be a real"),
        ("ex90.b", np.full((2, 3), np.inf), "Hint: NaN comes from 0/0"),
        ("ex90.b", np.ones((2, 3)), "got array of shape (2, 3): 1.0, 1.0, 1.0, 1.0, …; expected"),
        ("ex90.b", np.ones((2, 3)), "Hint: Count again."),
        ("ex90.c", 0.5, "Hint: Hand over the function itself"),
        ("ex90.c", lambda n: 0.5, "Hint: It cannot be called with these arguments."),
        ("ex90.c", lambda fan_in, fan_out: 0.5, "got your function(4, 2) = 0.5; expected"),
        ("ex90.c", lambda a, b: 1 / (a - b), "raising ZeroDivisionError: "),
        ("ex90.c", lambda a, b: [].pop(), "raising IndexError: pop from empty list"),
        ("ex90.c", returning("0.5"), "got your function(2, 2) = '0.5'; expected"),
        ("ex90.e", lambda rng: rng.next_unit_f64() and rng.next_unit_f64(), "Hint: Draw once."),
    ],
)
def test_wrong_answers_get_what_was_given_the_form_and_a_fitting_hint(capsys, name, answer, says):
    line = line_for(capsys, name, answer)
    assert line.startswith(f"{name} not yet: got ")
    assert says in line
    assert line.count("Hint: ") == 1
    assert line == line_for(capsys, name, answer)


def test_unknown_parts_are_named_not_raised(capsys):
    assert line_for(capsys, "ex90.z", 1) == (
        "ex90.z unknown: exercise ex90 has ex90.a, ex90.b, ex90.c, ex90.d, ex90.e."
    )
    assert line_for(capsys, "ex91.a", 1) == "ex91.a unknown: there is no exercise ex91."
    assert line_for(capsys, 90, 1).startswith("90 unknown: a check is called by a name")


# --- reading forms ------------------------------------------------------------------------------


def verdict_of(monkeypatch, read, answer):
    monkeypatch.setitem(REGISTRY, "ex90.z", Part("ex90.z", "read", 5.0, lambda a: repr(read(a))))
    return examine("ex90.z", answer).line


@pytest.mark.parametrize(
    ("read", "answer", "says"),
    [
        (lambda a: a.integer(), np.uint64(2**64 - 1), "passed: 18446744073709551615"),
        (lambda a: a.integer(), 17.0, "Its type is float: write 17 without a point."),
        (lambda a: a.integer(), 17.5, "It has to be whole"),
        (lambda a: a.integer(), True, "A bool is not a real number."),
        (lambda a: a.integers(2), [2**64 - 1, 1], "passed: [18446744073709551615, 1]"),
        (lambda a: a.integers(2), [1, 2, 3], "There are 3 elements where 2 are asked for."),
        (lambda a: a.integers(2), 5, "Write the elements in square brackets"),
        (lambda a: a.truth(), np.bool_(False), "passed: False"),
        (lambda a: a.truth(), 0, "Write True or False, without quotation marks."),
        (lambda a: a.choice(["Xavier", "He"]), " xavier ", "passed: 'Xavier'"),
        (lambda a: a.choice(["Xavier", "He"]), "LeCun", "Choose one of these"),
        (lambda a: sorted(a.choices(["a", "b", "c"])), {"c", "A"}, "passed: ['a', 'c']"),
        (lambda a: a.choices(["a", "b"]), "a", "Write them in square brackets"),
        (lambda a: a.choices(["a", "b"]), ["x"], "Choose one of these"),
        (lambda a: a.text(), b"no", "Put it in quotation marks."),
        (lambda a: list(a.entries(["p", "q"])), {"q": 1, "p": 2}, "passed: ['p', 'q']"),
        (lambda a: a.entries(["p", "q"]), {"p": 2}, "There is no entry 'q'."),
        (lambda a: a.entries(["p"]), {"p": 2, "x": 3}, "It has 2 entries where 1 are asked for."),
        (lambda a: a.entries(["p"]), {"p": None}, "not started: answer['p'] is None so far."),
        (lambda a: a.array(2, None).shape, [[1], [2]], "passed: (2, 1)"),
        (lambda a: a.array(2, 2), [[True, False], [False, True]], "Every element has to be"),
    ],
)
def test_each_form_is_read_strictly_and_refused_helpfully(monkeypatch, read, answer, says):
    assert says in verdict_of(monkeypatch, read, answer)


def test_a_refusal_that_is_asked_for_is_handed_on(monkeypatch):
    def strict(fan_in):
        raise ZeroFanIn()

    read = lambda a: (a.function("n").refusal(0), a.function("n").refusal)[0]  # noqa: E731
    assert "ZeroFanIn" in verdict_of(monkeypatch, read, strict)
    assert "passed: None" in verdict_of(monkeypatch, read, lambda n: n)


def test_reading_an_array_copies_it():
    mine = np.ones((2, 2))
    read = Answer(mine).array(2, 2)
    read[0, 0] = 5.0
    assert mine[0, 0] == 1.0


# --- tolerances and hints -----------------------------------------------------------------------


def test_a_tolerance_is_as_wide_as_it_says_and_no_wider():
    assert rounding(4).holds(1 + 4 * 2.0**-52, 1.0)
    assert not rounding(4).holds(1 + 5 * 2.0**-52, 1.0)
    assert rounding(4, scale=2.0).holds(8 * 2.0**-52, 0.0)
    assert not rounding(4, scale=2.0).holds(9 * 2.0**-52, 0.0)
    assert digits(3).holds(1.22, math.sqrt(1.5))
    assert digits(3).holds(1225e-3, 1.22474)
    assert not digits(3).holds(1.23, math.sqrt(1.5))
    assert digits(2).holds(0.0, 0.0)
    assert sampling(0.1).holds(0.9, 0.5)
    assert not sampling(0.1).holds(0.91, 0.5)


@pytest.mark.parametrize("tolerance", [EXACT, rounding(3), digits(3), sampling(0.1)])
def test_no_tolerance_lets_a_nan_or_another_shape_through(tolerance):
    assert not tolerance.holds(math.nan, 1.0)
    assert not tolerance.holds(np.ones(2), np.ones((1, 2)))
    assert not tolerance.holds(np.ones(2), 1.0)


def test_a_wide_tolerance_blames_no_factor(monkeypatch):
    def measured(answer: Answer) -> str:
        answer.expect(1.0, sampling(0.2), "Measure more.")
        return ""

    monkeypatch.setitem(REGISTRY, "ex90.z", Part("ex90.z", "measured", 5.0, measured))
    assert "Hint: Measure more." in examine("ex90.z", 1.9).line


def test_misconceptions_have_names_of_their_own_and_fit_into_a_line():
    assert len(NAMED) >= 25
    for name, one in NAMED.items():
        assert one.hint == f'Misconception "{name}": {one.correction}'
        assert one.correction.endswith(".")
        assert len(one.hint) < 200


# --- answers that fight back --------------------------------------------------------------------


class Lying(float):
    """Not the right number, and equal to everything."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = float.__hash__


class Raising:
    def __repr__(self, *_):
        raise RuntimeError("no repr")

    __eq__ = __len__ = __iter__ = __array__ = __float__ = __bool__ = __index__ = __repr__
    __hash__ = object.__hash__


class Quitting:
    def __repr__(self):
        raise SystemExit(3)

    __array__ = __repr__


class Masked:
    """An object whose class cannot be asked for."""

    @property
    def __class__(self):
        raise RuntimeError("no class")


class Unnamed(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")


class Nameless(metaclass=Unnamed):
    def __repr__(self):
        raise RuntimeError("no repr")


class Growing(list):
    def __len__(self):
        return 10**12


class BadError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raises_bad(*_):
    raise BadError


def leaves(*_):
    sys.exit("gone")


def interrupts(*_):
    raise KeyboardInterrupt


def recurses(*_):
    return recurses()


def hungry(*_):
    raise MemoryError


def warns(fan_in, fan_out):
    warnings.warn("look here", stacklevel=1)
    np.array([1.0]) / 0.0
    return 0.5


def talks(fan_in, fan_out):
    print("debug", fan_in)
    print("trouble", file=sys.stderr)
    sys.stdout.write("x" * 10_000_000)
    return 0.5


def closes(fan_in, fan_out):
    sys.stdout.close()
    return 0.5


def meddles(fan_in, fan_out):
    sys.stdout = sys.stderr = None
    np.seterr(all="raise")
    return 0.5


nested: list = []
nested.append(nested)

objects = np.empty((2, 3), dtype=object)
objects.fill(object())

HOSTILE = [
    Lying(1.5),
    Raising(),
    Raising,
    Quitting(),
    Masked(),
    Nameless(),
    Nameless,
    Growing(),
    nested,
    object(),
    type("A", (), {"__call__": lambda self: 1})(),
    (n for n in range(3)),
    np.ma.masked,
    objects,
    np.zeros((2, 3), dtype=[("a", float)]),
    np.array("2020-01-01", dtype="datetime64[D]"),
    {"a": Raising()},
    {Raising()},
    "line one\nline two\r\x1b[31mred\ud800",
    "x" * 10_000_000,
    b"\xff" * 1000,
    float("inf"),
    -0.0,
    10**5000,
    [10**5000],
    np.zeros(1_000_000),
    list(range(1_000_000)),
    pytest,
    raises_bad,
    leaves,
    interrupts,
    recurses,
    hungry,
    warns,
    talks,
    closes,
    meddles,
    returning(Raising()),
    returning(Quitting()),
    returning(Lying(1.5)),
    returning(returning),
    returning(np.nan),
    returning(np.ones(3)),
]


@pytest.mark.parametrize("name", ["ex90.a", "ex90.b", "ex90.c"])
@pytest.mark.parametrize("place", range(len(HOSTILE)))  # pytest must not look at them
def test_hostile_answers_are_answered(capsys, name, place):
    answer = HOSTILE[place]
    out, error = sys.stdout, sys.stderr
    filters, state = list(warnings.filters), np.geterr()
    line = line_for(capsys, name, answer)
    assert line.startswith(f"{name} not yet: got ")
    assert line.isprintable()
    assert len(line) <= 600
    assert (sys.stdout, sys.stderr) == (out, error)
    assert (list(warnings.filters), np.geterr()) == (filters, state)


def changes_in_place(x):
    x *= 2
    return 3.0


def test_an_argument_that_was_changed_is_answered(capsys):
    line = line_for(capsys, "ex90.d", changes_in_place)
    assert (
        "changes_in_place([1.0, 2.0]) that changed its argument 0 to array of shape (2,): 2.0"
        in line
    )
    assert "Hint: Work on a copy" in line


def test_a_generator_may_move_on_but_lists_and_dicts_may_not(monkeypatch):
    def keep(answer: Answer) -> str:
        answer.function("rng, names, table")(SplitMix64(1), ["a"], {"n": [1.0]})
        return "kept"

    monkeypatch.setitem(REGISTRY, "ex90.z", Part("ex90.z", "keep", 5.0, keep))
    assert examine("ex90.z", lambda r, n, t: r.next_u64()).state == "passed"
    assert "argument 1" in examine("ex90.z", lambda r, n, t: [n.append("b")]).line
    assert "argument 2" in examine("ex90.z", lambda r, n, t: [t["n"].pop()]).line


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(...),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(anything, st.sampled_from(["ex90.a", "ex90.b", "ex90.c"]))
def test_anything_at_all_gets_one_line_and_never_passes_by_accident(answer, name):
    verdict = examine(name, answer)
    assert verdict.line.startswith(f"{name} {verdict.state}: ")
    assert "\n" not in verdict.line
    assert verdict.state in ("not started", "not yet") or answer == 0.4


@given(st.text() | st.binary() | st.floats() | st.lists(st.integers()))
def test_descriptions_are_short_and_printable(value):
    shown = describe(value)
    assert len(shown) <= LONGEST
    assert shown.isprintable()


def test_descriptions_do_not_depend_on_the_order_of_a_set():
    assert describe({"b", "a", "c"}) == "set of 3: 'a', 'b', 'c'"


# --- time ---------------------------------------------------------------------------------------


def endless(fan_in, fan_out):
    while True:
        pass


def endless_that_swallows(fan_in, fan_out):
    while True:
        try:
            fan_in += 1
        except Exception:
            fan_in = 0


def endless_that_swallows_all(fan_in, fan_out):
    while True:
        try:
            fan_in += 1
        except:  # noqa: E722
            fan_in = 0


class EndlessRepr:
    def __repr__(self):
        while True:
            pass


class EndlessArray:
    def __array__(self, dtype=None, copy=None):
        return endless(0, 0)


class EndlessFloat(float):
    def __float__(self):
        return endless(0, 0)


def threads_left() -> int:
    """Count the threads once those that have come to their end are gone."""
    time.sleep(0.05)
    return threading.active_count()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("ex90.c", endless),
        ("ex90.c", endless_that_swallows),
        ("ex90.c", endless_that_swallows_all),
        ("ex90.c", EndlessRepr()),
        ("ex90.b", EndlessArray()),
        ("ex90.a", EndlessFloat(0.4)),
    ],
    ids=["loop", "except Exception", "bare except", "repr", "array", "float"],
)
def test_an_endless_answer_is_ended(capsys, name, answer):
    before = threads_left()
    started = time.perf_counter()
    line = line_for(capsys, name, answer)
    assert line == (
        f"{name} not yet: got no result within 0.2 s; expected an answer in time. "
        "Hint: Look for a loop whose condition never becomes false."
    )
    assert threads_left() == before
    assert time.perf_counter() - started < 5


@pytest.mark.usefixtures("quick")
def test_an_answer_that_cannot_be_ended_is_left_behind_and_said_so(capsys, monkeypatch):
    monkeypatch.setattr(isolation, "PATIENCE", 0.05)
    release = threading.Event()
    line = line_for(capsys, "ex90.c", lambda fan_in, fan_out: release.wait(60))
    release.set()
    assert line.endswith("It could not be ended: restart the kernel.")


def test_an_interrupt_by_the_learner_ends_the_answer_and_goes_on_its_way():
    before = threads_left()
    learner = threading.Timer(0.3, _thread.interrupt_main)
    learner.start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        check("ex90.c", endless)
    learner.join()
    assert time.perf_counter() - started < 4
    assert threads_left() == before


def test_a_check_works_outside_the_main_thread(capsys):
    thread = threading.Thread(target=check, args=("ex90.a", 0.4))
    thread.start()
    thread.join()
    assert capsys.readouterr().out == "ex90.a passed: 2/(1 + 4) is 0.4.\n"


NOTEBOOK = """
from coursekit.checks import Answer, check, part, rounding

@part("ex90.a", "a function", seconds=0.3)
def examined(answer: Answer) -> str:
    answer.function("n")(3).expect(6.0, rounding(1), "Twice.")
    return "Twice."

def endless(n):
    print("never seen")
    while True:
        n += 1

check("ex90.a", endless)
check("ex90.a", lambda n: print("nor this") or 2 * n)
"""


def test_it_all_holds_in_a_notebook(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=60, kernel_name="python3", resources=resources).execute()
    (output,) = notebook.cells[0].outputs
    assert (output.name, output.text.count("\n")) == ("stdout", 2)
    assert "no result within 0.3 s" in output.text
    assert output.text.endswith("ex90.a passed: Twice.\n")
    assert list(tmp_path.iterdir()) == []


# --- registering --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["1.a", "ex1.a", "ex01", "ex01.aa", "ex01.a\n"])
def test_a_part_needs_a_name_of_the_one_form(name):
    with pytest.raises(ValueError, match=r"as in ex01\.a"):
        part(name, "nothing")


def test_every_part_of_the_course_is_well_formed():
    for one in progress.all_parts():
        if one.exercise == "ex90":
            continue
        assert one.exercise in progress.EXERCISES
        assert 0 < len(one.title) < 80
        assert 0 < one.seconds <= 30


# --- progress -----------------------------------------------------------------------------------


@pytest.fixture
def my_work(tmp_path, monkeypatch):
    folder = tmp_path / "my_work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_passed_check_is_kept_and_nothing_else_is(my_work, capsys):
    for answer in (..., 0.7, endless):
        check("ex90.a", answer)
    assert list(my_work.iterdir()) == []
    check("ex90.a", 0.4)
    check("ex90.b", [[1, 2, 3], [4, 5, 7]])
    assert progress.read(my_work) == {"ex90.a", "ex90.b"}
    check("ex90.a", 0.7)
    assert progress.read(my_work) == {"ex90.a", "ex90.b"}
    assert sorted(path.name for path in my_work.iterdir()) == [".progress.lock", "progress.json"]
    assert "passed: 2/(1 + 4) is 0.4.\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["solutions", "exercises", "notebooks", "somewhere"])
def test_elsewhere_nothing_is_written(tmp_path, monkeypatch, name):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.chdir(folder)
    check("ex90.a", 0.4)
    assert list(tmp_path.rglob("*")) == [folder]


def test_the_variable_names_another_folder_and_wins(my_work, tmp_path, monkeypatch):
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "class" / "ann"))
    check("ex90.a", 0.4)
    assert progress.read(tmp_path / "class" / "ann") == {"ex90.a"}
    assert list(my_work.iterdir()) == []


def test_a_folder_below_my_work_belongs_to_it(my_work, monkeypatch):
    (my_work / "week1").mkdir()
    monkeypatch.chdir(my_work / "week1")
    check("ex90.a", 0.4)
    assert progress.read(my_work) == {"ex90.a"}


def test_an_answer_that_changes_the_working_folder_is_kept_where_it_began(my_work, tmp_path):
    def wanders(fan_in, fan_out):
        os.chdir(tmp_path)
        return 2 / (fan_in + fan_out)

    check("ex90.c", wanders)
    assert progress.read(my_work) == {"ex90.c"}


def test_a_working_folder_that_is_gone_keeps_nothing_and_breaks_nothing(capsys, monkeypatch):
    def gone():
        raise FileNotFoundError

    monkeypatch.setattr(Path, "cwd", gone)
    assert line_for(capsys, "ex90.a", 0.4) == "ex90.a passed: 2/(1 + 4) is 0.4."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is no JSON"),
        (b'{"format": 1, "passed": ["ex01', "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"[]", "it is not of format 1"),
        (b'{"format": 2, "passed": []}', "it is not of format 1"),
        (b'{"format": 1}', "its list of passed parts is none"),
        (b'{"format": 1, "passed": [1]}', "its list of passed parts is none"),
    ],
)
def test_a_damaged_file_is_kept_aside_and_said_so(my_work, capsys, content, reason):
    (my_work / "progress.json").write_bytes(content)
    (my_work / "progress.damaged-1.json").write_text("older", encoding="utf-8")
    assert progress_report(my_work).startswith(f"progress.json is damaged, {reason}.")
    assert (my_work / "progress.json").read_bytes() == content
    line = line_for(capsys, "ex90.a", 0.4)
    assert line.startswith("ex90.a passed: ")
    assert f"({reason}".replace("(", ", ") in line
    assert line.endswith("kept as progress.damaged-2.json, a new one is begun.)")
    assert (my_work / "progress.damaged-2.json").read_bytes() == content
    assert (my_work / "progress.damaged-1.json").read_text(encoding="utf-8") == "older"
    assert progress.read(my_work) == {"ex90.a"}


def test_a_folder_that_takes_no_file_is_said_so(tmp_path, capsys, monkeypatch):
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    monkeypatch.setenv(progress.VARIABLE, str(file / "below"))
    line = line_for(capsys, "ex90.a", 0.4)
    assert line.startswith("ex90.a passed: 2/(1 + 4) is 0.4. (Not kept: ")


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(my_work, capsys, monkeypatch):
    check("ex90.a", 0.4)
    before = sorted(path.name for path in my_work.iterdir())

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    capsys.readouterr()
    line = line_for(capsys, "ex90.b", [[1, 2, 3], [4, 5, 7]])
    assert line.endswith("(Not kept: No space left on device.)")
    assert progress.read(my_work) == {"ex90.a"}
    assert sorted(path.name for path in my_work.iterdir()) == before


def test_a_lock_held_by_another_notebook_is_waited_for_and_not_for_ever(my_work, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    with progress._locked(my_work):
        (note,) = progress.record(my_work, "ex90.a")
    assert note == "(Not kept: another notebook is writing the progress file.)"
    assert progress.record(my_work, "ex90.a") == []


MANY = """
import sys
from pathlib import Path
from coursekit.checks import progress
for letter in "abcdefghijklmnopqrstuvwxyz":
    assert progress.record(Path(sys.argv[1]), f"{sys.argv[2]}.{letter}") == []
"""


def test_notebooks_at_once_lose_nothing(tmp_path):
    exercises = ["ex01", "ex02", "ex03"]
    running = [
        subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path), one]) for one in exercises
    ]
    assert [process.wait(timeout=60) for process in running] == [0] * len(exercises)
    assert len(progress.read(tmp_path)) == 26 * len(exercises)


# --- the report ---------------------------------------------------------------------------------


@pytest.fixture
def two_exercises(monkeypatch):
    names = ["ex01.a", "ex01.b", "ex01.c", "ex02.a"]
    parts = [Part(name, f"title of {name}", 1.0, number) for name in names]
    monkeypatch.setattr(progress, "all_parts", lambda: parts)
    return parts


def write(folder, *passed):
    content = json.dumps({"format": 1, "passed": passed})
    (folder / "progress.json").write_text(content, encoding="utf-8")


@pytest.mark.usefixtures("two_exercises")
def test_the_report_shows_what_is_passed_and_what_comes_next(my_work):
    write(my_work, "ex01.a", "ex01.c", "ex77.q")
    (my_work / "ex01_scale_a_square_matrix.ipynb").touch()
    assert progress_report(my_work) == (
        "2 of 4 parts passed in my_work/\n"
        " 1  Scale a square matrix       a - c\n"
        " 2  Scale a wide input          -\n"
        "Next: ex01.b, title of ex01.b, in my_work/ex01_scale_a_square_matrix.ipynb\n"
    )


@pytest.mark.usefixtures("two_exercises")
def test_the_report_of_a_learner_who_begins_or_has_ended(my_work, tmp_path):
    assert progress_report(tmp_path / "nowhere").startswith("0 of 4 parts passed in nowhere/\n")
    assert progress_report(my_work).endswith("(coursekit start 1 copies it there)\n")
    assert list(my_work.iterdir()) == []
    write(my_work, "ex01.a", "ex01.b", "ex01.c", "ex02.a")
    assert progress_report(my_work).endswith("All parts are passed.\n")


# --- the modules of the exercises ---------------------------------------------------------------


@pytest.fixture
def written_exercise(tmp_path, monkeypatch):
    """Let a module stand beside those of the course, as an author adds one."""

    def write_module(text):
        (tmp_path / "ex91.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, "coursekit.checks.ex91", raising=False)
        importlib.invalidate_caches()

    yield write_module
    sys.modules.pop("coursekit.checks.ex91", None)
    REGISTRY.pop("ex91.a", None)


MODULE = """
from coursekit.checks import EXACT, Answer, part

@part("ex91.a", "forty-two", seconds=2.0)
def forty_two(answer: Answer) -> str:
    answer.expect(42.0, EXACT, "Six times seven.")
    return "It is 42."
"""


def test_the_module_of_an_exercise_is_found_when_it_is_asked_for(capsys, written_exercise):
    written_exercise(MODULE)
    assert line_for(capsys, "ex91.a", 42) == "ex91.a passed: It is 42."
    assert line_for(capsys, "ex91.a", 41).endswith("Hint: Six times seven.")
    assert line_for(capsys, "ex91.b", 41) == "ex91.b unknown: exercise ex91 has ex91.a."
    assert "ex91.a" in [one.name for one in progress.all_parts()]


def test_a_module_with_a_fault_is_said_so_and_not_raised(capsys, written_exercise):
    written_exercise("1 / 0")
    line = line_for(capsys, "ex91.a", 42)
    assert line == "'ex91.a' could not be checked: ZeroDivisionError: division by zero"
