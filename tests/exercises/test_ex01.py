"""Exercise 1, scale a square matrix."""

import math
from fractions import Fraction

import numpy as np
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.checks.misconceptions import (
    ARITHMETIC_MEAN,
    BOUND_FOR_DEVIATION,
    DEVIATION_FOR_VARIANCE,
    LECUN_FOR_XAVIER,
    MEAN_OF_DEVIATIONS,
    UNIFORM_BY_FAN_IN,
)
from coursekit.initializers import xavier_scale

HALF, ROOT, LIMIT = 0.5, math.sqrt(0.5), math.sqrt(1.5)


def scale_of(variance):
    """Return a function that derives deviation and limit from this rule for the variance."""
    return lambda n, m: (variance(n, m), math.sqrt(variance(n, m)), math.sqrt(3 * variance(n, m)))


def from_coursekit(fan_in, fan_out):
    scale = xavier_scale(fan_in, fan_out)
    return [scale.target_variance, scale.standard_deviation, scale.uniform_limit]


def harmonic(fan_in, fan_out):
    variance = Fraction(1, 2) * (fan_in + fan_out)
    deviation = np.sqrt(float(1 / variance))
    return np.array([1 / float(variance), deviation, 3**0.5 * deviation])


def limit_by_fan_in(fan_in, fan_out):
    variance, deviation, _ = from_coursekit(fan_in, fan_out)
    return [variance, deviation, 1 / math.sqrt(fan_in)]


RIGHT = [
    Right("ex01.a", "an array", np.array([HALF, ROOT, LIMIT])),
    Right("ex01.a", "a fraction and other roots", (Fraction(1, 2), 2**-0.5, 3**0.5 * 2**-0.5)),
    Right("ex01.b", "the package's own", from_coursekit),
    Right("ex01.b", "by way of the harmonic mean", harmonic),
    Right("ex01.b", "one line", scale_of(lambda n, m: 2 / (n + m))),
    Right("ex01.c", "the other way round", (1, 2)),
    Right("ex01.c", "wide and odd", np.array([768, 3073])),
    Right("ex01.c", "beyond what a float counts", [2**60, 1]),
]

WRONG = [
    Wrong("ex01.a", "limit = deviation", [HALF, ROOT, ROOT], BOUND_FOR_DEVIATION),
    Wrong("ex01.a", "deviation = variance", [HALF, HALF, LIMIT], DEVIATION_FOR_VARIANCE),
    Wrong("ex01.a", "the deviation first", [ROOT, HALF, LIMIT], DEVIATION_FOR_VARIANCE),
    Wrong("ex01.a", "deviation and limit exchanged", [HALF, LIMIT, ROOT], BOUND_FOR_DEVIATION),
    Wrong("ex01.a", "one over the sum", [0.25, 0.5, 0.866], "2 stands on top"),
    Wrong("ex01.a", "He's factor", [1.0, 1.0, 3**0.5], "He's rule, for a rectifier"),
    Wrong("ex01.a", "a² for a", [HALF, ROOT, 1.5], "That is a²: the limit a is its root."),
    Wrong(
        "ex01.a", "√3 times the variance", [HALF, ROOT, 3**0.5 / 2], "√3 multiplies the standard"
    ),
    Wrong("ex01.a", "the whole interval", [HALF, ROOT, 2 * LIMIT], "a is half of it"),
    Wrong("ex01.a", "a normal's reach, 2σ", [HALF, ROOT, 2 * ROOT], "variance a²/3: solve for a"),
    Wrong("ex01.a", "rounded by hand", [0.5, 0.707, 1.225], "Rounded too early"),
    Wrong("ex01.a", "one number only", 0.5, "in square brackets"),
    Wrong("ex01.b", "1/fan_in", scale_of(lambda n, m: 1 / n), LECUN_FOR_XAVIER),
    Wrong("ex01.b", "1/fan_out", scale_of(lambda n, m: 1 / m), "keeps the gradient alone"),
    Wrong("ex01.b", "arithmetic", scale_of(lambda n, m: (1 / n + 1 / m) / 2), ARITHMETIC_MEAN),
    Wrong("ex01.b", "geometric", scale_of(lambda n, m: (n * m) ** -0.5), "geometric mean"),
    Wrong(
        "ex01.b",
        "harmonic, of the deviations",
        scale_of(lambda n, m: (2 / (n**0.5 + m**0.5)) ** 2),
        MEAN_OF_DEVIATIONS,
    ),
    Wrong("ex01.b", "fans multiplied", scale_of(lambda n, m: 2 / (n * m)), "added, not multiplied"),
    Wrong("ex01.b", "whole division", scale_of(lambda n, m: 1 / ((n + m) // 2)), "drops the half"),
    Wrong("ex01.b", "the numbers of part a", lambda n, m: [HALF, ROOT, LIMIT], "Each fan asks for"),
    Wrong("ex01.b", "1/√fan_in as limit", limit_by_fan_in, UNIFORM_BY_FAN_IN),
    Wrong("ex01.b", "called at once", from_coursekit(2, 2), "Hand over the function itself"),
    Wrong("ex01.b", "of the matrix, not its fans", lambda shape: shape, "cannot be called with"),
    Wrong("ex01.c", "the worked square", (2, 2), "Ada, Ben, Cleo, Dan still agree"),
    Wrong("ex01.c", "another square", (3, 3), "equal fans make both requests one number"),
    Wrong("ex01.c", "the worked wide one", (4, 2), "Only Dan is left"),
    Wrong("ex01.c", "both odd", (3, 1), "for which sums do // and / differ?"),
    Wrong("ex01.c", "no output", (1, 0), "at least one row and one column"),
    Wrong("ex01.c", "half a unit", (2.5, 2), "It has to be whole"),
    Wrong("ex01.c", "one fan", (3,), "There are 1 elements where 2 are asked for."),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)
