"""Exercise 2, scale a wide input."""

import math
from fractions import Fraction

import numpy as np
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.checks import ex02
from coursekit.checks.misconceptions import (
    ARITHMETIC_MEAN,
    BOUND_FOR_DEVIATION,
    FRESH_SEED_EACH_LAYER,
    LECUN_FOR_XAVIER,
    MEAN_OF_DEVIATIONS,
)
from coursekit.rng import SplitMix64

THIRD, ROOT = 1 / 3, math.sqrt(1 / 3)


def measuring(**changed):
    """Return a measurement of which some steps are done in another way."""
    steps = {
        "inputs": lambda rng, shape: rng.standard_normal(shape),
        "weights": lambda rng, limit, shape: rng.symmetric(limit, shape),
        "products": lambda x, W: (x[:, :, None] * W).sum(axis=1),
        "result": lambda y: np.mean(y**2),
    } | changed

    def measure(fan_in, fan_out, limit, rng):
        x = steps["inputs"](rng, (10_000, fan_in))
        W = steps["weights"](rng, limit, (10_000, fan_in, fan_out))
        return steps["result"](steps["products"](x, W))

    return measure


def by_a_loop(fan_in, fan_out, limit, rng):
    x = rng.standard_normal((10_000, fan_in))
    W = rng.uniform(-limit, limit, (10_000, fan_in, fan_out))
    total = sum(float(np.sum((x[k] @ W[k]) ** 2)) for k in range(10_000))
    return total / (10_000 * fan_out)


def by_one_matrix(fan_in, fan_out, limit, rng):
    x, W = rng.standard_normal((10_000, fan_in)), rng.symmetric(limit, (fan_in, fan_out))
    return np.mean((x @ W) ** 2)


def by_a_seed_of_its_own(fan_in, fan_out, limit, rng):
    return measuring()(fan_in, fan_out, limit, SplitMix64(17))


def backwards(fan_in, fan_out, limit, rng):
    return measuring()(fan_out, fan_in, limit, rng)


def by_few_examples(fan_in, fan_out, limit, rng):
    x, W = rng.standard_normal((100, fan_in, 1)), rng.symmetric(limit, (100, fan_in, fan_out))
    return np.mean((x * W).sum(axis=1) ** 2)


RIGHT = [
    Right("ex02.a", "an array", np.array([THIRD, ROOT, 1.0])),
    Right("ex02.a", "fractions and roots", (Fraction(1, 3), 3**-0.5, 1)),
    Right("ex02.b", "an array", np.outer([1 / 2, 1 / 3], [4, 2])),
    Right("ex02.b", "a tuple of tuples", ((2, 1), (8 / 6, 1 / 1.5))),
    Right("ex02.c", "einsum", measuring(products=lambda x, W: np.einsum("ei,eio->eo", x, W))),
    Right(
        "ex02.c", "normal weights", measuring(weights=lambda r, a, s: r.normal(0, a / 3**0.5, s))
    ),
    Right("ex02.c", "about the mean", measuring(result=np.var)),
    Right("ex02.c", "one example after the other", by_a_loop),
    Right("ex02.d", "typed", 152),
    Right("ex02.d", "a NumPy integer", np.int64(152)),
]

WRONG = [
    Wrong("ex02.a", "1/fan_in", [0.25, 0.5, math.sqrt(0.75)], LECUN_FOR_XAVIER),
    Wrong("ex02.a", "arithmetic mean", [3 / 8, 0.61, 1.06], ARITHMETIC_MEAN),
    Wrong("ex02.a", "mean of roots", [(2 / (2 + 2**0.5)) ** 2, 0.58, 1.01], MEAN_OF_DEVIATIONS),
    Wrong("ex02.a", "still that of [2, 2]", [0.5, 0.5**0.5, 1.5**0.5], "1/fan_out keeps"),
    Wrong("ex02.a", "limit = deviation", [THIRD, ROOT, ROOT], BOUND_FOR_DEVIATION),
    Wrong("ex02.a", "typed from the screen", [0.333333, 0.57735, 1.0], "Rounded too early"),
    Wrong("ex02.b", "directions exchanged", [[1, 2], [2 / 3, 4 / 3]], "backwards two outputs"),
    Wrong("ex02.b", "a row a direction", [[2, 4 / 3], [1, 2 / 3]], "A row belongs to a scale"),
    Wrong("ex02.b", "own scale first", [[4 / 3, 2 / 3], [2, 1]], "The first row is for"),
    Wrong("ex02.b", "deviations", np.sqrt(ex02.FACTORS), "these are their roots"),
    Wrong("ex02.b", "Xavier keeps both", [[2, 1], [1, 1]], "only if the fans are equal"),
    Wrong(
        "ex02.b",
        "the old layer's factors",
        [[1, 1], [4 / 3, 2 / 3]],
        "four terms, whatever the scale",
    ),
    Wrong("ex02.b", "two decimals", [[2, 1], [1.33, 0.67]], "leave every division to Python"),
    Wrong("ex02.b", "one scale only", [[2, 1]], "Its shape is (1, 2)."),
    Wrong("ex02.c", "one matrix for all", by_one_matrix, "a matrix of its own"),
    Wrong("ex02.c", "a hundred examples", by_few_examples, "10,000 examples"),
    Wrong(
        "ex02.c",
        "outputs added up",
        measuring(result=lambda y: np.mean(np.sum(y**2, axis=1))),
        "adds the outputs up",
    ),
    Wrong("ex02.c", "fans exchanged", backwards, "An output sums fan_in products"),
    Wrong("ex02.c", "deviation", measuring(result=np.std), "hand over the mean square itself"),
    Wrong(
        "ex02.c", "weights alone", measuring(products=lambda x, W: W), "the spread of the weights"
    ),
    Wrong(
        "ex02.c",
        "uniform inputs",
        measuring(inputs=lambda rng, shape: rng.symmetric(1.0, shape)),
        "Inputs of variance 1",
    ),
    Wrong(
        "ex02.c",
        "limit as deviation",
        measuring(weights=lambda rng, limit, shape: rng.normal(0.0, limit, shape)),
        "it is not their deviation",
    ),
    Wrong(
        "ex02.c",
        "half the interval",
        measuring(weights=lambda rng, limit, shape: rng.uniform(-limit / 2, limit / 2, shape)),
        "twice the limit long",
    ),
    Wrong("ex02.c", "seeded inside", by_a_seed_of_its_own, FRESH_SEED_EACH_LAYER),
    Wrong("ex02.d", "the ratio", 38, "least ratio of the widths"),
    Wrong("ex02.d", "the first matrix alone", 77, "the second is nearly 2"),
    Wrong("ex02.d", "one too few", 151, "At n = 151 the share is 0.1006"),
    Wrong("ex02.d", "one too many", 153, "At n = 152 the share is 0.0999"),
    Wrong("ex02.d", "large enough", 1000, "below a tenth too"),
    Wrong("ex02.d", "a deviation", 1592, "the variance does so earlier"),
    Wrong("ex02.d", "the root of the inequality", 151.894664, "It has to be whole"),
    Wrong("ex02.d", "no layer", 0, "at least one unit"),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


def test_the_standard_error_is_that_of_repeated_measurements():
    fans, limit = (4, 2), 1.0
    found = [measuring()(*fans, limit, SplitMix64(seed)) for seed in range(60)]
    # The standard deviation of 60 numbers is itself known within 1/√120, 9 %, and 4 times that.
    assert np.isclose(np.std(found), ex02._standard_error(*fans, limit), rtol=0.36)
    assert abs(np.mean(found) - 4 / 3) < 4 * ex02._standard_error(*fans, limit) / math.sqrt(60)
