"""Exercise 8, reject without a trace."""

import ast
import inspect
import itertools

import numpy as np
import pytest
from proof import Right, Wrong, assert_passes, assert_rejected, cells, each, notebook_of

from coursekit.checks import careless
from coursekit.checks.careless import CARELESS, counts_elements, draws_first, rehearses
from coursekit.checks.transactions import (
    INVERSE,
    careful,
    draws_between,
    draws_nothing,
    draws_two_each,
    ends_in_nan,
    fails_midway,
    is_interrupted,
)
from coursekit.errors import CourseError
from coursekit.initializers import he_normal, xavier_uniform
from coursekit.layers import Linear, transaction
from coursekit.parameters import NamedParameter, validate_name
from coursekit.rng import SplitMix64

# --- a --------------------------------------------------------------------------------------------

TRUE = (
    ("InvalidNameCharacter", (0, 0x44), 0),
    ("ZeroFanIn", (0,), 0),
    ("EmptyNameSegment", (8,), 0),
    ("EmptyNameSegment", (15,), 0),
    ("InvalidNameCharacter", (3, 0xC3), 0),
    ("FanSumOverflow", (2**63, 2**63), 0),
    ("accepted", (), 8),
    ("accepted", (), 0),
)


def but(row, *given):
    """Return the right table with one row, counted from 1, replaced."""
    return [*TRUE[: row - 1], list(given), *TRUE[row:]]


# --- b --------------------------------------------------------------------------------------------


def by_pairs(names):
    found = [[names[j], i, j] for j in range(len(names)) for i in range(j) if names[i] == names[j]]
    return tuple(found[0]) if found else ()


def by_sets(names):
    for position in range(len(names)):
        if len(set(names[: position + 1])) <= position:
            return [names[position], names.index(names[position]), position]
    return []


def by_outer_loop(names):
    for i, name in enumerate(names):
        if name in names[i + 1 :]:
            return [name, i, names.index(name, i + 1)]
    return []


def overwriting(names):
    seen, found = {}, []
    for position, name in enumerate(names):
        if name in seen:
            found = [name, seen[name], position]
        seen[name] = position
    return found


def sorted_first(names):
    names.sort()
    return by_pairs(names)


def never_nothing(names):
    return by_pairs(names) or [names[0] if names else "", 0, 0]


# --- c --------------------------------------------------------------------------------------------

CAUGHT = {
    "draws_first": [xavier_uniform, "Decoder.weight", 2, 2],
    "counts_elements": [draws_nothing, "bias", 2, 2],
    "rehearses": [ends_in_nan, "query", 2, 2],
}


def varying():
    """Return an initializer that takes more draws at each call."""
    calls = itertools.count(1)
    return lambda n, m, rng: rng.random((next(calls), n, m))[0]


# --- d --------------------------------------------------------------------------------------------


def by_transaction(initializer, name, fan_in, fan_out, rng):
    validate_name(name)
    with transaction(rng) as trial:
        return NamedParameter.from_array(name, initializer(fan_in, fan_out, trial))


def by_private_state(initializer, name, fan_in, fan_out, rng):
    validate_name(name)
    trial = SplitMix64.from_state(rng.state)
    made = NamedParameter.from_array(name, initializer(fan_in, fan_out, trial))
    rng._state = trial.state
    return made


def undoing(errors):
    """Return a sampler that draws on the generator itself and takes it back on these errors."""

    def sampled(initializer, name, fan_in, fan_out, rng):
        before = rng.state
        try:
            validate_name(name)
            return NamedParameter.from_array(name, initializer(fan_in, fan_out, rng))
        except errors:
            rng.advance(draws_between(rng.state, before))
            raise

    return sampled


def name_at_the_end(initializer, name, fan_in, fan_out, rng):
    trial = rng.clone()
    made = NamedParameter.from_array(name, initializer(fan_in, fan_out, trial))
    rng.advance(draws_between(rng.state, trial.state))
    return made


def rehearses_all(initializer, name, fan_in, fan_out, rng):
    careful(initializer, name, fan_in, fan_out, rng.clone())
    return NamedParameter.from_array(name, initializer(fan_in, fan_out, rng))


def name_then_elements(initializer, name, fan_in, fan_out, rng):
    validate_name(name)
    return counts_elements(initializer, name, fan_in, fan_out, rng)


def on_a_clone_for_ever(initializer, name, fan_in, fan_out, rng):
    validate_name(name)
    rng = rng.clone()
    return NamedParameter.from_array(name, initializer(fan_in, fan_out, rng))


def bare(initializer, name, fan_in, fan_out, rng):
    return careful(initializer, name, fan_in, fan_out, rng).value


def swallowing(initializer, name, fan_in, fan_out, rng):
    try:
        return careful(initializer, name, fan_in, fan_out, rng)
    except CourseError:
        return NamedParameter.zeros("refused", 1)


def always_xavier(initializer, name, fan_in, fan_out, rng):
    return NamedParameter.xavier_uniform(name, fan_in, fan_out, rng)


def renaming(initializer, name, fan_in, fan_out, rng):
    made = careful(initializer, name, fan_in, fan_out, rng)
    return NamedParameter.from_array(f"{name}.weight", made.value)


def back_to_the_start():
    """Return a sampler that, refusing, goes back to where its first request stood."""
    start = []

    def sampled(initializer, name, fan_in, fan_out, rng):
        start.append(rng.state)
        try:
            validate_name(name)
            return NamedParameter.from_array(name, initializer(fan_in, fan_out, rng))
        except BaseException:
            rng.advance(draws_between(rng.state, start[0]))
            raise

    return sampled


def wrapped_error(initializer, name, fan_in, fan_out, rng):
    try:
        return careful(initializer, name, fan_in, fan_out, rng)
    except CourseError as error:
        raise ValueError(str(error)) from error


RIGHT = [
    Right("ex08.a", "all tuples", TRUE),
    Right("ex08.a", "NumPy's integers", but(5, "invalidnamecharacter", np.array([3, 195]), 0)),
    Right("ex08.b", "by pairs", by_pairs),
    Right("ex08.b", "by sets", by_sets),
    Right("ex08.c", "the solution's", CAUGHT),
    Right(
        "ex08.c",
        "others",
        {
            "draws_first": (he_normal, "", 1, 3),
            "counts_elements": (draws_two_each, "a", 1, 1),
            "rehearses": (lambda n, m, rng: [rng.next_u64(), "x"], "a", 1, 2),
        },
    ),
    Right("ex08.c", "an interrupt", CAUGHT | {"draws_first": [is_interrupted, "a", 1, 1]}),
    Right("ex08.d", "by the package's transaction", by_transaction),
    Right("ex08.d", "by the state", by_private_state),
    Right("ex08.d", "undoing anything", undoing(BaseException)),
]

WRONG = [
    Wrong("ex08.a", "word for fault", but(2, "InvalidNameCharacter", [8, 46], 0), "'invalid' is"),
    Wrong("ex08.a", "fans first", but(3, "ZeroFanIn", [0], 0), "The name is read before the fans"),
    Wrong("ex08.a", "the first dot", but(3, "EmptyNameSegment", [7], 0), "the dot that ends it"),
    Wrong("ex08.a", "a dot may end", but(4, "accepted", [], 4), "After the last dot a segment"),
    Wrong("ex08.a", "the last dot", but(4, "EmptyNameSegment", [14], 0), "that is the length"),
    Wrong("ex08.a", "code point", but(5, "InvalidNameCharacter", [3, 0xE9], 0), "é is two bytes"),
    Wrong("ex08.a", "counted from 1", but(1, "InvalidNameCharacter", [1, 0x44], 0), "from 0"),
    Wrong("ex08.a", "product first", but(6, "ShapeProductOverflow", [2**63] * 2, 0), "The sum of"),
    Wrong("ex08.a", "refusals cost", but(1, "InvalidNameCharacter", [0, 68], 4), "takes none"),
    Wrong("ex08.a", "zeros cost", but(8, "accepted", [], 2), "zeros take none"),
    Wrong("ex08.a", "a draw a row", but(7, "accepted", [], 4), "One draw a sampled weight"),
    Wrong("ex08.a", "fields of success", but(7, "accepted", [4, 2], 8), "write []"),
    Wrong("ex08.a", "a row left out", TRUE[1:], "There are 7 elements where 8 are asked for"),
    Wrong("ex08.b", "the first with a double", by_outer_loop, "which comes first?"),
    Wrong("ex08.b", "from 1", lambda n: [n[1], 2, 3], "Positions are counted from 0"),
    Wrong("ex08.b", "later first", lambda n: [n[1], 2, 1], "First the earlier position"),
    Wrong("ex08.b", "the last double", overwriting, "which comes first?"),
    Wrong("ex08.b", "sorted", sorted_first, "Work on a copy"),
    Wrong("ex08.b", "no double named", lambda n: ["c", 1, 2], "This name does not come twice"),
    Wrong("ex08.b", "for [a, b, b, a] only", lambda n: ["b", 1, 2], "further right"),
    Wrong("ex08.b", "never nothing", never_nothing, "Return [] after the loop."),
    Wrong("ex08.b", "an answer, no function", ["b", 1, 2], "Hand over the function itself"),
    Wrong(
        "ex08.c",
        "a fan of 0",
        CAUGHT | {"draws_first": [xavier_uniform, "query", 0, 2]},
        "It reads the name after it has drawn",
    ),
    Wrong(
        "ex08.c",
        "a bad name",
        CAUGHT | {"rehearses": [xavier_uniform, "Query", 2, 2]},
        "What comes after the second call?",
    ),
    Wrong(
        "ex08.c",
        "one draw an element",
        CAUGHT | {"counts_elements": [he_normal, "query", 2, 3]},
        "Which initializer takes more, or none?",
    ),
    Wrong(
        "ex08.c",
        "draws that vary",
        CAUGHT | {"counts_elements": [varying(), "query", 2, 2]},
        "no sampler could keep count",
    ),
    Wrong(
        "ex08.c",
        "a name for the initializer",
        CAUGHT | {"rehearses": ["xavier_uniform", "query", 2, 2]},
        "Hand over the function itself",
    ),
    Wrong("ex08.c", "no name", CAUGHT | {"rehearses": [ends_in_nan, 2, 2]}, "There are 3 elements"),
    Wrong("ex08.d", "draws first", draws_first, "refused before anything is drawn"),
    Wrong("ex08.d", "counts elements", counts_elements, "Two faults: the name's is told first."),
    Wrong("ex08.d", "rehearses", rehearses, "The leaf is refused after the draws"),
    Wrong("ex08.d", "rehearses all of it", rehearses_all, "a second call may fail"),
    Wrong("ex08.d", "a draw an element", name_then_elements, "Count the draws by the two states"),
    Wrong("ex08.d", "undoes what the course raises", undoing(CourseError), "Any error may come"),
    Wrong("ex08.d", "undoes every Exception", undoing(Exception), "An interrupt is no Exception"),
    Wrong("ex08.d", "name at the end", name_at_the_end, "the name's is told first"),
    Wrong("ex08.d", "never commits", on_a_clone_for_ever, "rng itself has to move"),
    Wrong("ex08.d", "an array", bare, "NamedParameter.from_array makes one"),
    Wrong("ex08.d", "swallows the refusal", swallowing, "refused before anything"),
    Wrong("ex08.d", "its own initializer", always_xavier, "come from the initializer"),
    Wrong("ex08.d", "a longer name", renaming, "The name is the second argument"),
    Wrong("ex08.d", "back to the start", back_to_the_start(), "What do you keep between calls?"),
    Wrong("ex08.d", "another class of error", wrapped_error, "refused before anything is drawn"),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


def test_the_notebook_shows_the_samplers_that_the_check_catches():
    shown = "\n".join(
        "".join(cell["source"])
        for cell in cells(notebook_of("exercises", "ex08"))
        if cell["cell_type"] == "code"
    )
    for name in CARELESS:
        (there,) = [
            one
            for one in ast.parse(shown).body
            if isinstance(one, ast.FunctionDef) and one.name == name
        ]
        (here,) = ast.parse(inspect.getsource(getattr(careless, name))).body
        assert isinstance(here, ast.FunctionDef)
        assert [ast.dump(line) for line in there.body] == [ast.dump(line) for line in here.body]
        assert [one.arg for one in there.args.args] == [one.arg for one in here.args.args]
    assert f"INVERSE = 0x{INVERSE:X}" in shown


@pytest.mark.parametrize(
    ("initializer", "error"),
    [(fails_midway, RuntimeError), (is_interrupted, KeyboardInterrupt), (ends_in_nan, CourseError)],
)
def test_the_layers_of_the_course_are_as_careful_as_the_exercise_asks(initializer, error):
    rng = SplitMix64(17)
    with pytest.raises(error):
        Linear("query", 2, 2, rng, weight=initializer)
    assert rng.state == 17
