"""Exercise 3, derive the zero gradient."""

import math

import numpy as np
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.autodiff import constant, parameter
from coursekit.checks.misconceptions import OUTPUT_FIRST, ZERO_MEANS_ZERO

HALF = np.array([[0.5, 0.5], [-0.5, -0.5]])


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def with_slope(slope):
    """Return a gradient whose activation has this slope."""
    return lambda x, W, v: np.outer(x, v * slope(x @ W))


def slope(z):
    return sigmoid(z) * (1 + z * (1 - sigmoid(z)))


def by_tape(x, W, v):
    weights = parameter(W)
    ((constant(x[None, :]) @ weights).silu() @ constant(v[:, None])).sum().backward()
    return weights.grad


def by_loops(x, W, v):
    rows = []
    for i in range(len(x)):
        rows.append([])
        for j in range(len(v)):
            z = sum(x[k] * W[k, j] for k in range(len(x)))
            e = math.exp(z)
            rows[i].append(x[i] * v[j] * e * (1 + z + e) / (1 + e) ** 2)
    return rows


def in_place(x, v):
    x *= 0.5
    return np.outer(x, v)


def by_differences(x, W, v):
    result, step = np.zeros(W.shape), 1e-5
    for place in np.ndindex(W.shape):
        up, down = W.copy(), W.copy()
        up[place] += step
        down[place] -= step
        values = [float((x @ M * sigmoid(x @ M)) @ v) for M in (up, down)]
        result[place] = (values[0] - values[1]) / (2 * step)
    return result


RIGHT = [
    Right("ex03.a", "an array", HALF),
    Right("ex03.a", "from the tape", by_tape(np.array([1.0, -1.0]), np.zeros((2, 2)), np.ones(2))),
    Right("ex03.b", "by broadcasting", lambda x, v: x[:, None] / 2 * v),
    Right("ex03.b", "lists in lists", lambda x, v: [[a * b / 2 for b in v] for a in x]),
    Right("ex03.b", "by part c", lambda x, v: by_tape(x, np.zeros((len(x), len(v))), v)),
    Right("ex03.c", "the tape itself", by_tape),
    Right("ex03.c", "loops and another form of the slope", by_loops),
    Right("ex03.c", "s + z s'", with_slope(lambda z: sigmoid(z) + z * sigmoid(z) * sigmoid(-z))),
    Right("ex03.d", "differences of 3", (np.array([[4.0, 5.0], [1.0, 2.0]]), np.array([2.0, 1.0]))),
    Right("ex03.d", "slopes of 1 far out", [[[40, 41], [0, 0]], [0.01, 1]]),
    Right("ex03.d", "seen by one input alone", [[[0, 7], [0, 7]], [0, 1]]),
]

WRONG = [
    Wrong("ex03.a", "zero weights, zero gradient", np.zeros((2, 2)), ZERO_MEANS_ZERO),
    Wrong("ex03.a", "no signs", [[0.5, 0.5], [0.5, 0.5]], "The inputs differ in sign"),
    Wrong("ex03.a", "[unit, input]", [[0.5, -0.5], [0.5, -0.5]], OUTPUT_FIRST),
    Wrong("ex03.a", "slope 1", [[1, 1], [-1, -1]], "The slope of SiLU at 0 is not 1"),
    Wrong("ex03.a", "the sigmoid's slope", HALF / 2, "1/4 is the slope of the sigmoid"),
    Wrong("ex03.a", "opposite units", [[0.5, -0.5], [-0.5, 0.5]], "Both output weights are 1"),
    Wrong("ex03.a", "descent", -HALF, "Only the sign is wrong."),
    Wrong("ex03.a", "one column", [0.5, -0.5], "Its shape is (2,)."),
    Wrong("ex03.b", "zeros", lambda x, v: np.zeros((len(x), len(v))), ZERO_MEANS_ZERO),
    Wrong("ex03.b", "v left out", lambda x, v: np.outer(x, np.ones_like(v)) / 2, "its own v_j"),
    Wrong("ex03.b", "x left out", lambda x, v: np.outer(np.ones_like(x), v) / 2, "its own input"),
    Wrong("ex03.b", "the answer to part a", lambda x, v: HALF, "Its shape is (2, 2)."),
    Wrong("ex03.b", "[units, inputs]", lambda x, v: np.outer(v, x) / 2, OUTPUT_FIRST),
    Wrong("ex03.b", "slope 1", np.outer, "is 1/2, not 1"),
    Wrong("ex03.b", "absolute values", lambda x, v: abs(np.outer(x, v)) / 2, "differ in sign"),
    Wrong("ex03.b", "an inner product", lambda x, v: x @ v / 2, "traceback"),
    Wrong("ex03.b", "the caller's array halved", in_place, "Work on a copy"),
    Wrong("ex03.c", "part b", lambda x, W, v: np.outer(x, v) / 2, "only where z is 0"),
    Wrong("ex03.c", "sigmoid", with_slope(lambda z: sigmoid(z) * sigmoid(-z)), "of the sigmoid s;"),
    Wrong("ex03.c", "s alone", with_slope(sigmoid), "z · s′ is missing"),
    Wrong(
        "ex03.c", "z s' alone", with_slope(lambda z: z * sigmoid(z) * sigmoid(-z)), "s itself is"
    ),
    Wrong("ex03.c", "the value", with_slope(lambda z: z * sigmoid(z)), "not its slope"),
    Wrong("ex03.c", "no slope", lambda x, W, v: np.outer(x, v), "has a slope too"),
    Wrong("ex03.c", "no v", lambda x, W, v: np.outer(x, slope(x @ W)), "its own output weight"),
    Wrong("ex03.c", "W @ x", lambda x, W, v: np.outer(x, v * slope(W @ x)), OUTPUT_FIRST),
    Wrong("ex03.c", "transposed", lambda x, W, v: np.outer(v * slope(x @ W), x), OUTPUT_FIRST),
    Wrong("ex03.c", "finite differences", by_differences, "take no differences"),
    Wrong("ex03.d", "equal columns", [[[1, 1], [2, 2]], [1, 1]], "Equal columns are equal units"),
    Wrong("ex03.d", "zero weights", [[[0, 0], [0, 0]], [1, 1]], "Equal columns are equal units"),
    Wrong("ex03.d", "mirrored columns", [[[1, -1], [0, 0]], [1, 1]], "z is 1 for one unit, -1"),
    Wrong("ex03.d", "equal sums", [[[1, 0], [0, 1]], [1, -1]], "knows a column only by its z"),
    Wrong("ex03.d", "a multiple of x", [[[1, 0], [0, -1]], [2, -2]], "no multiple of [1, −1]"),
    Wrong("ex03.d", "a zero input", [[[1, 0], [0, -1]], [0, 0]], "A zero input gives"),
    Wrong("ex03.d", "the matrix alone", [[1, 0], [0, -1]], "Its shape is (2,)."),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)
