"""Exercise 10, break the assumptions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.checks.ex10 import SHARES
from coursekit.checks.misconceptions import EVERY_NETWORK, SCALE_FREE_SILU, VARIANCE_FOR_MOMENT
from coursekit.initializers import second_moment, xavier_uniform
from coursekit.measure import expected_moments, measure_networks
from coursekit.rng import SplitMix64

# --- a --------------------------------------------------------------------------------------------


def equal_terms(n, m, mu):
    return n * (1 / n + m**2) * (1 + mu**2)


def from_the_variance(n, m, mu):
    """Add the variance of y, term by term independent, to its squared mean."""
    of_one = (1 / n + m**2) * (1 + mu**2) - m**2 * mu**2
    return n * of_one + (n * m * mu) ** 2


def in_fractions(n, m, mu):
    m, mu = Fraction(m), Fraction(mu)
    return n * (Fraction(1, n) + m**2) * (1 + mu**2) + n * (n - 1) * m**2 * mu**2


# --- b --------------------------------------------------------------------------------------------


def silu(z):
    return z / (1 + np.exp(-z))


def relu(z):
    return np.maximum(z, 0.0)


def by_quadrature():
    with np.errstate(over="ignore"):
        return [[second_moment(f, q) / q for q in (1e-4, 1e4)] for f in (np.tanh, relu, silu)]


def drawn(seed):
    z = SplitMix64(seed).standard_normal(50_000)
    rows = []
    with np.errstate(over="ignore"):
        for f in (np.tanh, relu, silu):
            rows.append([np.mean(f(k * z) ** 2) / k**2 for k in (1e-2, 1e2)])
    return tuple(rows)


def row(place, *values):
    shares = SHARES.copy()
    shares[place] = values
    return shares


# --- c --------------------------------------------------------------------------------------------


def normals(rng, trials, n):
    return rng.standard_normal((trials, n)) / math.sqrt(n), rng.standard_normal((trials, n))


def repeated(in_w, in_x):
    def offend(rng, trials, n):
        w, x = normals(rng, trials, n)
        return (
            np.repeat(w[:, :1], n, axis=1) if in_w else w,
            np.repeat(x[:, :1], n, axis=1) if in_x else x,
        )

    return offend


def proportional(rng, trials, n):
    _, x = normals(rng, trials, n)
    return [x / math.sqrt(n), x]


def bursts(rng, trials, n):
    """Let one coin, tossed for a whole trial, decide the size of weights and inputs together."""
    w, x = normals(rng, trials, n)
    on = rng.random((trials, 1)) < 1 / n
    return w * on * math.sqrt(n), x * on * math.sqrt(n)


def signs(scale):
    def offend(rng, trials, n):
        _, x = normals(rng, trials, n)
        return np.sign(x) / scale(n), x

    return offend


def with_means(rng, trials, n):
    w, x = normals(rng, trials, n)
    return w + 1.0, x + 1.0


def half_of_them(rng, trials, n):
    _, x = normals(rng, trials, n)
    w = np.sign(x) / math.sqrt(n)
    w[:, n // 2 :] = rng.standard_normal((trials, n - n // 2)) / math.sqrt(n)
    return w, x


# --- d --------------------------------------------------------------------------------------------

LEFT = {
    "A": "both",
    "B": "both",
    "C": "mean square",
    "D": "neither",
    "E": "neither",
    "F": "both",
    "G": "neither",
    "H": "average",
    "I": "neither",
    "J": "neither",
}

RIGHT = [
    Right("ex10.a", "by way of the variance", from_the_variance),
    Right("ex10.a", "in fractions", in_fractions),
    Right("ex10.b", "by quadrature", by_quadrature()),
    Right("ex10.b", "by other draws", drawn(99)),
    Right("ex10.b", "on paper", [[1, 0], [0.5, 0.5], [Fraction(1, 4).__float__(), 0.5]]),
    Right("ex10.c", "both repeated", repeated(True, True)),
    Right("ex10.c", "proportional", proportional),
    Right("ex10.c", "bursts", bursts),
    Right("ex10.d", "in capitals", {row: left.upper() for row, left in LEFT.items()}),
]

WRONG = [
    Wrong("ex10.a", "no cross terms", equal_terms, "The terms of unequal indices are missing"),
    Wrong(
        "ex10.a",
        "n² of them",
        lambda n, m, mu: equal_terms(n, m, mu) + n * n * m**2 * mu**2,
        "leaves n − 1 partners",
    ),
    Wrong(
        "ex10.a",
        "each pair once",
        lambda n, m, mu: equal_terms(n, m, mu) + n * (n - 1) / 2 * m**2 * mu**2,
        "Each pair occurs twice",
    ),
    Wrong(
        "ex10.a",
        "the variance",
        lambda n, m, mu: from_the_variance(n, m, mu) - (n * m * mu) ** 2,
        "That is the variance",
    ),
    Wrong("ex10.a", "the rule", lambda n, m, mu: 1.0, "So it is for means of 0"),
    Wrong(
        "ex10.a",
        "Var(w) = 1",
        lambda n, m, mu: n * (1 + m**2) * (1 + mu**2) + n * (n - 1) * m**2 * mu**2,
        "Var(w) is 1/n, not 1",
    ),
    Wrong(
        "ex10.a",
        "means not squared",
        lambda n, m, mu: equal_terms(n, m, mu) + n * (n - 1) * m * mu,
        "E[wᵢwₖ] is m·m",
    ),
    Wrong("ex10.a", "the four lines", lambda n, m, mu: 104.0, "n equal terms and n(n − 1)"),
    Wrong("ex10.b", "columns exchanged", SHARES[:, ::-1], "Small signals stand on the left"),
    Wrong("ex10.b", "variance of ReLU", row(1, 0.3408, 0.3408), VARIANCE_FOR_MOMENT),
    Wrong("ex10.b", "roots", np.sqrt(SHARES), "not their roots"),
    Wrong("ex10.b", "a smooth ReLU", row(2, 0.5, 0.5), "z times sigmoid(0)"),
    Wrong("ex10.b", "one share for SiLU", row(2, 0.3558, 0.3558), SCALE_FREE_SILU),
    Wrong("ex10.b", "tanh at 1", row(0, 0.394, 0.394), "That is q = 1"),
    Wrong("ex10.b", "tanh for linear", row(0, 1.0, 1.0), "tanh never exceeds 1"),
    Wrong("ex10.b", "all slopes 1", [[1, 0], [1, 0.5], [1, 0.5]], "A slope at 0 need not be 1"),
    Wrong("ex10.b", "ReLU keeps all", row(1, 1.0, 1.0), "ReLU drops half of all signals"),
    Wrong("ex10.b", "activations in columns", SHARES.T, "a row of its own"),
    Wrong("ex10.c", "nothing broken", normals, "The rule still holds"),
    Wrong("ex10.c", "weights alone", repeated(True, False), "the half of x is still 0"),
    Wrong("ex10.c", "inputs alone", repeated(False, True), "the half of w is still 0"),
    Wrong("ex10.c", "means", with_means, "A mean of w is not 0"),
    Wrong("ex10.c", "variance 1", signs(lambda n: 1.0), "divide by √n"),
    Wrong("ex10.c", "variance 1/n²", signs(lambda n: n), "The variance of w is another"),
    Wrong("ex10.c", "half of them", half_of_them, "It breaks, but not by much"),
    Wrong("ex10.c", "one trial", lambda r, t, n: normals(r, 1, n), "Its shape is (1, 16)"),
    Wrong("ex10.c", "an output", lambda r, t, n: np.zeros(t), "There are 4000 elements where 2"),
    Wrong("ex10.d", "A by shape", LEFT | {"A": "neither"}, "asked for a shape"),
    Wrong("ex10.d", "B by the inputs", LEFT | {"B": "neither"}, "a half from the weights"),
    Wrong("ex10.d", "C as it was", LEFT | {"C": "both"}, "Var(y) becomes E[x²] = 2"),
    Wrong("ex10.d", "C without rescue", LEFT | {"C": "neither"}, "Part a with m = 0"),
    Wrong("ex10.d", "D by second moments", LEFT | {"D": "mean square"}, "1 + n·m²"),
    Wrong("ex10.d", "E by He", LEFT | {"E": "mean square"}, "only He's factor 2"),
    Wrong("ex10.d", "F bends", LEFT | {"F": "neither"}, "the share of tanh at 10⁻⁴"),
    Wrong("ex10.d", "G near-linear", LEFT | {"G": "both"}, "but with which slope?"),
    Wrong("ex10.d", "H for every network", LEFT | {"H": "both"}, EVERY_NETWORK),
    Wrong("ex10.d", "H has nothing", LEFT | {"H": "neither"}, "and their median"),
    Wrong("ex10.d", "I for ever", LEFT | {"I": "both"}, "Trained weights have seen"),
    Wrong("ex10.d", "J is a sum", LEFT | {"J": "both"}, "A sum over branches adds"),
    Wrong("ex10.d", "in other words", LEFT | {"A": "yes"}, "Choose one of these"),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


# --- the verdicts of part d, measured -------------------------------------------------------------


def moments(w, x, f=lambda z: z):
    """Return variance and mean square of the output, each over those of the input."""
    y = f((w * x).sum(axis=1))
    return y.var() / x.var(), np.mean(y**2) / np.mean(x**2)


def one_layer(row):
    rng = SplitMix64(5)
    w, x = normals(rng, 20_000, 64)
    match row:
        case "A":
            return moments(rng.symmetric(math.sqrt(3 / 64), w.shape), x)
        case "B":
            return moments(w, np.repeat(x[:, :1], 64, axis=1))
        case "C":
            return moments(w, x + 1.0)
        case "D":
            return moments(w + 0.1, x)
        case "E":
            return moments(w, x, relu)
        case "F":
            return moments(w, 0.01 * x, np.tanh)
        case "G":
            return moments(w, 0.01 * x, silu)
    y = x[:, 0] + (w * x).sum(axis=1)
    return y.var(), np.mean(y**2)


@pytest.mark.parametrize("row", "ABCDEFGJ")
def test_the_verdicts_on_one_layer_are_what_is_measured(row):
    kept = [abs(share - 1) < 6 * math.sqrt(8 / 20_000) for share in one_layer(row)]
    assert (
        kept
        == {
            "both": [True, True],
            "mean square": [False, True],
            "neither": [False, False],
        }[LEFT[row]]
    )


def test_the_verdict_on_a_stack_is_what_is_measured():
    rng = SplitMix64(5)
    found = measure_networks(60, [64] * 101, xavier_uniform, rng, rng.standard_normal((1, 64)))
    kept = found[:, -1] / found[:, 0]
    assert np.median(kept) < 0.5
    assert abs(kept.mean() - 1) < 4 * kept.std() / math.sqrt(60)
    assert expected_moments("linear", [64] * 101, [1 / 64] * 100)[-1] == pytest.approx(1.0)
