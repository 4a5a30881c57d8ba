"""Exercise 6, measure four weights."""

import math
import statistics
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.checks.ex06 import weights_of
from coursekit.checks.misconceptions import SAMPLE_VARIANCE, TARGET_IS_MEASURED
from coursekit.rng import SplitMix64

W = weights_of(17)
FOUR = W.ravel().tolist()


def exact_variance():
    fractions = [Fraction(w) for w in FOUR]
    mean = sum(fractions) / 4
    return sum((w - mean) ** 2 for w in fractions) / 4


def all_terms(n, target):
    """Return the error with the terms in 1/n² that the leading order leaves out."""
    share = 1.8 - 3 + 2 * n / (n - 1)
    return np.array([target * (n - 1) / n, (n - 1) / n * target * math.sqrt(share / n)])


def with_error(error):
    return lambda n, target: [(1 - 1 / n) * target, error(n, target)]


def fourth_for(squares):
    """Return a solver for four weights whose squared deviations add up to `squares`."""

    def fourth(a, b, c):
        s, q = a + b + c, a * a + b * b + c * c
        under_root = s * s - 3 * q + 3 * squares
        if under_root < 0:
            return []
        return [(s + sign * 2 * math.sqrt(under_root)) / 3 for sign in (1, -1)]

    return fourth


def fourth_by_roots(a, b, c):
    s, q = a + b + c, a * a + b * b + c * c
    roots = np.roots([3, -2 * s, 4 * q - s * s - 8])
    return roots.real if np.isreal(roots).all() else np.array([])


def fourth_by_search(a, b, c):
    """Return the places where the variance passes 1/2, by halving intervals."""
    grid = np.linspace(-10.0, 10.0, 2001)

    def excess(x):
        return np.var([a, b, c, x]) - 0.5

    found = []
    for low, high in pairwise(grid):
        if excess(low) * excess(high) < 0:
            for _ in range(50):
                middle = (low + high) / 2
                same = excess(low) * excess(middle) > 0
                low, high = (middle, high) if same else (low, middle)
            found.append(low)
    return tuple(found)


def about_zero(a, b, c):
    root = math.sqrt(max(0.0, 2 - a * a - b * b - c * c))
    return [-root, root]


def without_a_look(a, b, c):
    s, q = a + b + c, a * a + b * b + c * c
    root = 2 * math.sqrt(s * s - 3 * q + 6)
    return [(s - root) / 3, (s + root) / 3]


def roots_of_nothing(a, b, c):
    with np.errstate(invalid="ignore"):
        root = 2 * np.sqrt((a + b + c) ** 2 - 3 * (a * a + b * b + c * c) + 6)
    return [(a + b + c - root) / 3, (a + b + c + root) / 3]


RIGHT = [
    Right("ex06.a", "NumPy's own", W.var()),
    Right("ex06.a", "in fractions", exact_variance()),
    Right("ex06.a", "the statistics module", statistics.pvariance(FOUR)),
    Right("ex06.a", "mean square less squared mean", np.mean(W**2) - np.mean(W) ** 2),
    Right("ex06.b", "all terms", all_terms),
    Right("ex06.b", "leading order", with_error(lambda n, target: target * (0.8 / n) ** 0.5)),
    Right("ex06.b", "as a tuple", lambda n, t: (t - t / n, math.sqrt(4 * t * t / (5 * n)))),
    Right("ex06.c", "others", (150, 8)),
    Right("ex06.c", "in an array", np.array([62, 20])),
    Right("ex06.d", "by np.roots", fourth_by_roots),
    Right("ex06.d", "by search", fourth_by_search),
    Right("ex06.d", "larger first", fourth_for(2)),
]

WRONG = [
    Wrong("ex06.a", "n − 1", W.var(ddof=1), SAMPLE_VARIANCE),
    Wrong("ex06.a", "the target", 0.5, TARGET_IS_MEASURED),
    Wrong("ex06.a", "the expected value", 0.375, "these four have their own"),
    Wrong("ex06.a", "the mean square", np.mean(W**2), "first subtract their mean"),
    Wrong("ex06.a", "the deviation", W.std(), "a square is missing"),
    Wrong("ex06.a", "not divided", 4 * W.var(), "divide it by 4"),
    Wrong("ex06.a", "from the printed digits", 0.06101591, "what is printed has been rounded"),
    Wrong("ex06.a", "one for each column", W.var(axis=0), "Hand over the number itself"),
    Wrong("ex06.b", "the target expected", lambda n, t: [t, 0.0], TARGET_IS_MEASURED),
    Wrong("ex06.b", "Bessel", lambda n, t: [t * n / (n - 1), 0.0], "n/(n − 1) undoes the loss"),
    Wrong("ex06.b", "what is lost", lambda n, t: [t / n, 0.0], "the variance of the mean"),
    Wrong("ex06.b", "relative", with_error(lambda n, t: (0.8 / n) ** 0.5), "multiply by it"),
    Wrong("ex06.b", "normal weights", with_error(lambda n, t: t * (2 / n) ** 0.5), "0.8"),
    Wrong("ex06.b", "no root", with_error(lambda n, t: t * 0.8 / n), "A root is missing"),
    Wrong("ex06.b", "of the mean", with_error(lambda n, t: (t / n) ** 0.5), "the mean of the wei"),
    Wrong("ex06.b", "n outside", with_error(lambda n, t: t * 0.8**0.5 / n), "not a root"),
    Wrong("ex06.b", "of one weight", with_error(lambda n, t: t * 0.8**0.5), "you average n"),
    Wrong("ex06.b", "for n = 4 only", lambda n, t: [0.375, 0.22360679774997896], "amid them"),
    Wrong("ex06.c", "exchanged", (2, 62), "the other order"),
    Wrong("ex06.c", "n − 1", (0, 2), SAMPLE_VARIANCE),
    Wrong("ex06.c", "the mean square", (61, 2), "the variance is taken about the mean"),
    Wrong("ex06.c", "17 again", (62, 17), "17 you have already"),
    Wrong("ex06.c", "the first seeds there are", (1, 2), "let a loop look"),
    Wrong("ex06.c", "not far enough", (62, 3), "11 % below 0.1"),
    Wrong("ex06.c", "variances for seeds", (0.9635, 0.0405), "as a count or a seed is"),
    Wrong("ex06.c", "below 0", (62, -1), "The generator refuses it"),
    Wrong("ex06.d", "one root", lambda *w: fourth_for(2)(*w)[:1], "has two roots"),
    Wrong("ex06.d", "n − 1", fourth_for(1.5), SAMPLE_VARIANCE),
    Wrong("ex06.d", "sum for mean", fourth_for(0.5), "a variance is their mean"),
    Wrong("ex06.d", "about 0", about_zero, "about the mean of the four, which is not 0"),
    Wrong("ex06.d", "the sum is 0", lambda *w: [-sum(w)], "Nothing forces the sum to be 0"),
    Wrong("ex06.d", "the remembered one", lambda *w: [FOUR[3]], "with the unknown fourth in both"),
    Wrong("ex06.d", "always two", lambda *w: fourth_for(2)(*w) or [0.0], "root positive here?"),
    Wrong("ex06.d", "no look under the root", without_a_look, "is negative here"),
    Wrong("ex06.d", "NaN for none", roots_of_nothing, "NaN is no number that a weight"),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


def test_the_shares_that_a_hint_names_are_those_of_the_distribution():
    variances = SplitMix64(2).symmetric(math.sqrt(1.5), (100_000, 4)).var(axis=1)
    assert np.mean(variances > 0.9) == pytest.approx(0.0164, abs=4 * math.sqrt(0.0164 / 1e5))
    assert np.mean(variances < 0.1) == pytest.approx(0.108, abs=4 * math.sqrt(0.108 / 1e5))
