"""Every typed rejection: its family, its fields, its sentence, and its way through copies."""

import copy
import math
import pickle
from dataclasses import fields

import pytest

from coursekit import errors

# One of each, with the words and numbers that the sentence must show.
EXAMPLES = [
    (errors.WrongType("count", "an integer", True), ["count", "an integer", "bool True"]),
    (
        errors.UnknownChoice("mode", "fan", ("fan_in", "fan_out")),
        ["mode", "fan_in, fan_out", "'fan'"],
    ),
    (errors.OutOfRange("gain", "above 0", -1.0), ["gain", "above 0", "-1.0"]),
    (errors.SeedError("seed", 2**64), ["seed", "below 2**64", str(2**64)]),
    (errors.EmptyName(), ["parameter name", "at least one segment", "empty string"]),
    (errors.EmptyNameSegment(3), ["parameter name", "every dot-separated segment", "byte 3"]),
    (errors.InvalidNameCharacter(1, 0x41), ["parameter name", "a-z, 0-9", "0x41 at byte 1"]),
    (errors.ZeroFanIn(), ["fan-in", "at least one", "got 0"]),
    (errors.ZeroFanOut(-2), ["fan-out", "at least one", "got -2"]),
    (errors.FanSumOverflow(2**63, 2**63), ["fan-in + fan-out", "below 2**64", str(2**63)]),
    (errors.ShapeProductOverflow(2**32, 2**33), ["element count", "below 2**64", str(2**33)]),
    (errors.AllocationFailed(2**61), ["storage", "memory", f"{2**61} elements"]),
    (
        errors.NotBlockwise("orthogonal", (4, 2), (1, 2)),
        ["block", "draw of its own", "(1, 2) of an orthogonal matrix (4, 2)"],
    ),
    (errors.NonFiniteValue("value", 2, math.inf), ["value", "finite", "inf at flat index 2"]),
    (
        errors.DuplicateName("a.b", 1, 4),
        ["parameter names", "differ", "'a.b' at index 1", "index 4"],
    ),
    (errors.DamagedFile("start", "cut"), ["file", "`save` wrote", "start: cut"]),
    (
        errors.CourseNotFound("notebooks", "here", "there"),
        ["course", "notebooks", "here nor there"],
    ),
    (errors.PackageMissing("jupyterlab"), ["package jupyterlab", "pip install"]),
    (errors.PackageMissing("dask", "install it"), ["package dask", "install it"]),
    (errors.NonFiniteLeaf(0, math.nan), ["leaf values", "finite", "nan at flat index 0"]),
    (
        errors.NonFiniteForward("exp", 1, math.inf),
        ["result of exp", "finite", "inf at flat index 1"],
    ),
    (errors.NonFiniteVjp("div", 0, 1, math.inf), ["gradient of div", "operand 0", "index 1"]),
    (errors.NonFinitePassAdjoint("mul", 1, math.inf), ["sum of the gradients", "mul", "index 1"]),
    (errors.NonFiniteSeed(1, math.nan), ["backward seed", "finite", "nan at flat index 1"]),
    (errors.NonFiniteAccumulatedGradient(1, math.inf), ["stored gradient", "finite", "index 1"]),
    (errors.SeedShapeMismatch((2,), (3,)), ["backward seed", "(2,)", "got (3,)"]),
    (errors.SeedShapeMismatch((2,), None), ["backward seed", "(2,)", "no seed"]),
    (errors.UntrackedOutput("constant"), ["backward", "depends on a parameter", "constant"]),
    (errors.GraphReleased("sum"), ["backward", "retain_graph=True", "sum"]),
    (errors.ReleasedOperand("add", 1), ["operands of add", "released", "operand 1"]),
    (
        errors.StaleOperandValue("mul", 0),
        ["backward", "values that forward used", "operand 0 of mul"],
    ),
    (errors.NotAParameter("assign", "add"), ["assign", "needs a parameter", "add"]),
    (
        errors.ShapeMismatch("matmul", "equal inner widths", ((2, 3), (2, 3))),
        ["matmul", "inner", "(2, 3) and (2, 3)"],
    ),
    (errors.InvalidEpsilon(-1.0), ["epsilon", "at least 0", "-1.0"]),
    (errors.EmptyFeatureWidth((3, 0)), ["at least one feature", "(3, 0)"]),
    (errors.WidthMismatch("gamma", 4, (3,)), ["gamma", "(4,)", "(3,)"]),
    (errors.ZeroEnergyRow(2), ["epsilon 0", "spread", "row 2"]),
    (errors.BatchTooSmall(1), ["training batch", "at least 2", "got 1"]),
]
FAMILIES = (errors.InitializationError, errors.AutodiffError, errors.NormalizationError)
IDS = [type(example).__name__ for example, _ in EXAMPLES]


def leaves(base=errors.CourseError):
    for child in base.__subclasses__():
        if child.__module__ == "coursekit.errors":
            yield from leaves(child) if child.__subclasses__() or child in FAMILIES else [child]


@pytest.mark.parametrize(("error", "words"), EXAMPLES, ids=IDS)
def test_a_sentence_names_subject_rule_and_what_was_given(error, words):
    sentence = str(error)
    assert [word for word in words if word not in sentence] == []
    assert "\n" not in sentence
    assert not sentence.endswith(".")


@pytest.mark.parametrize(("error", "words"), EXAMPLES, ids=IDS)
def test_copies_and_pickles_keep_type_fields_and_sentence(error, words):
    for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert len(twin.args) == len(fields(error))


@pytest.mark.parametrize(("error", "words"), EXAMPLES, ids=IDS)
def test_every_error_is_caught_by_its_family_and_by_python(error, words):
    assert isinstance(error, errors.CourseError)
    assert isinstance(error, (ValueError, TypeError, LookupError))


def test_wrong_types_are_type_errors_and_wrong_values_are_not():
    assert issubclass(errors.WrongType, TypeError)
    assert not issubclass(errors.SeedError, TypeError)
    for family in FAMILIES:
        assert issubclass(family, ValueError)


def test_every_error_says_when_it_happens():
    for leaf in leaves():
        assert leaf.__doc__
        assert not leaf.__doc__.startswith(f"{leaf.__name__}(")  # not the one dataclass makes


def test_a_huge_value_is_shortened():
    sentence = str(errors.WrongType("name", "text", list(range(1000))))
    assert len(sentence) < 160
    assert sentence.endswith("…")


@pytest.mark.parametrize(
    ("error", "got"),
    [
        (errors.WrongType("name", "text", 10**5000), "got int int of 16610 bits, too long"),
        (errors.SeedError("seed", -(10**5000)), "got int of 16610 bits, too long to print"),
        (errors.OutOfRange("size", "at least 0", (10**5000, 1)), "got tuple, too long to print"),
        (errors.UnknownChoice("mode", 10**5000, ("a",)), "got int of 16610 bits"),
        (errors.ZeroFanIn(-(10**5000)), "got int of 16610 bits"),
        (errors.ZeroFanOut(-(10**5000)), "got int of 16610 bits"),
        (errors.FanSumOverflow(1, 10**5000), "got 1 + int of 16610 bits"),
        (errors.ShapeProductOverflow(2, 10**5000), "got 2 × int of 16610 bits"),
        (errors.AllocationFailed(10**5000), "got int of 16610 bits"),
        (errors.ShapeMismatch("reshape", "a rule", ((1,), (10**5000,))), "got (1,) and tuple, too"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_integer_that_python_will_not_write_out_has_a_message_too(error, got):
    assert got in str(error)


def test_an_error_can_be_told_from_its_fields():
    first = errors.DuplicateName("b", 1, 2)
    assert (first.name, first.first, first.repeated) == ("b", 1, 2)
    assert first.args == ("b", 1, 2)
