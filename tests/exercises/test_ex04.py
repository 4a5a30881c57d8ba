"""Exercise 4, replay a draw."""

import math

import numpy as np
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.checks.ex04 import DRAWS, pair, query
from coursekit.checks.misconceptions import DECIMALS_ARE_BITS, SEED_IS_ENOUGH
from coursekit.rng import INCREMENT, SplitMix64

BEFORE = 6653367501949350325
AFTER = SplitMix64(BEFORE).advance(4).state


def by_steps():
    """Count the steps one by one."""
    counts = []
    for w, v in zip(*(matrix.ravel().tolist() for matrix in pair()), strict=True):
        counts.append(0)
        while w != v:
            w = math.nextafter(w, v)
            counts[-1] += 1
    return counts


def by_views(A, B):
    return A.shape == B.shape and np.array_equal(A.view(np.uint64), B.view(np.uint64))


def by_hex(A, B):
    texts = [[float(one).hex() for one in matrix.ravel()] for matrix in (A, B)]
    return (np.shape(A), texts[0]) == (np.shape(B), texts[1])


def rounded(A, B):
    return A.round(12).tolist() == B.round(12).tolist()


RIGHT = [
    Right("ex04.a", "step by step", by_steps()),
    Right("ex04.a", "an array with signs", np.array([-30, 1, 0, 0])),
    Right("ex04.b", "integers in the place of floats", by_views),
    Right("ex04.b", "hexadecimal texts", by_hex),
    Right("ex04.c", "by the increment", (20, (17 + 20 * INCREMENT) % 2**64)),
    Right("ex04.c", "an array", np.array([20, BEFORE], dtype=np.uint64)),
    Right("ex04.d", "a set of small letters", {"g", "f", "d", "c", "a"}),
]

WRONG = [
    Wrong("ex04.a", "read off the decimals", [0, 0, 0, 0], DECIMALS_ARE_BITS),
    Wrong("ex04.a", "equal or not", [1, 1, 0, 0], "count the steps"),
    Wrong("ex04.a", "the differences", (pair()[0] - pair()[1]).ravel(), "It has to be whole"),
    Wrong("ex04.a", "equal counted as one", [0, 0, 1, 1], "as an integer"),
    Wrong("ex04.a", "in steps at 1", [0, 1, 0, 0], "neighbours in float64"),
    Wrong("ex04.a", "how many differ", 2, "in square brackets"),
    Wrong("ex04.b", "near enough", np.allclose, DECIMALS_ARE_BITS),
    Wrong("ex04.b", "twelve decimals", rounded, DECIMALS_ARE_BITS),
    Wrong("ex04.b", "printed", lambda A, B: str(A) == str(B), DECIMALS_ARE_BITS),
    Wrong("ex04.b", "the numbers", np.array_equal, "the sign bits differ"),
    Wrong("ex04.b", "lists", lambda A, B: A.tolist() == B.tolist(), "the sign bits differ"),
    Wrong("ex04.b", "all of ==", lambda A, B: A.size == B.size and (A == B).all(), "traceback"),
    Wrong("ex04.b", "stretched", lambda A, B: bool(np.all(np.equal(A[:1], B[:1]))), "last bit"),
    Wrong("ex04.b", "bytes alone", lambda A, B: A.tobytes() == B.tobytes(), "in another shape"),
    Wrong("ex04.b", "the same object", lambda A, B: A is B, "Two places in memory"),
    Wrong("ex04.b", "element by element", lambda A, B: A == B, "sum it up in one"),
    Wrong("ex04.c", "the seed", (0, 17), SEED_IS_ENOUGH),
    Wrong("ex04.c", "the state afterwards", (DRAWS, AFTER), "the state after the matrix"),
    Wrong("ex04.c", "the matrix counted in", (DRAWS + 4, AFTER), "the four draws of the matrix"),
    Wrong("ex04.c", "matrices", (5, BEFORE), "a draw is one number"),
    Wrong("ex04.c", "a step of 1", (20, 37), "adds the increment G"),
    Wrong("ex04.c", "not wrapped", (20, 17 + 20 * INCREMENT), "modulo 2**64"),
    Wrong("ex04.c", "without the seed", (20, 20 * INCREMENT % 2**64), "The draws are right."),
    Wrong("ex04.c", "the state in hexadecimal", (20, "0x5c55827df1d1b1b5"), "quotation marks"),
    Wrong("ex04.d", "zeros take draws", list("CDFG"), "A belongs to the list: zeros"),
    Wrong("ex04.d", "a draw that is not used", list("ABCDFG"), "B does not belong to the list"),
    Wrong("ex04.d", "a refusal moves", list("ADFG"), "C belongs to the list: a refused"),
    Wrong("ex04.d", "a clone moves its origin", list("ACFG"), "D belongs to the list: a clone"),
    Wrong("ex04.d", "the seed is enough", list("ACDEFG"), "the table takes 8 draws"),
    Wrong("ex04.d", "later draws reach back", list("ACDG"), "F belongs to the list: what is drawn"),
    Wrong("ex04.d", "advance drifts", list("ACDF"), "G belongs to the list: advance is exact"),
    Wrong("ex04.d", "draws are weights", list("ACDFGH"), "their limit is another"),
    Wrong("ex04.d", "nobody", [], "A belongs to the list"),
    Wrong("ex04.d", "one word", "ACDFG", "in square brackets"),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


def test_the_pair_agrees_in_twelve_decimals_and_the_log_is_what_the_state_gives():
    W, V = pair()
    assert [f"{w:.12f}" for w in W.ravel()] == [f"{v:.12f}" for v in V.ravel()]
    assert W.tobytes() == query(SplitMix64(17)).tobytes() != V.tobytes()
    logged = [[0.5157956666737785, -0.9303511213388719], [-0.384338006289631, 0.9239849074193581]]
    assert query(SplitMix64(BEFORE)).tolist() == logged
