"""Exercise 4, replay a draw: bits instead of decimals, a state instead of a seed."""

import contextlib
import math
from collections.abc import Callable

import numpy as np

from coursekit.checks.answers import Answer, FloatArray
from coursekit.checks.misconceptions import DECIMALS_ARE_BITS, SEED_IS_ENOUGH
from coursekit.checks.parts import part
from coursekit.errors import CourseError
from coursekit.initializers import xavier_uniform, zeros
from coursekit.rng import SplitMix64

SEED = 17


def query(rng: SplitMix64) -> FloatArray:
    """Draw the matrix that the exercise replays."""
    return xavier_uniform(2, 2, rng)


def pair() -> tuple[FloatArray, FloatArray]:
    """Return the seed-17 weights by two forms of one formula: a(2u − 1) and −a + 2au."""
    limit, u = math.sqrt(6 / (2 + 2)), SplitMix64(SEED).random((2, 2))
    return limit * (2 * u - 1), -limit + 2 * limit * u


@part("ex04.a", "how far apart equal decimals are stored")
def steps_apart(answer: Answer) -> str:
    expected = "a list of 4 integers: the float64 steps between the two forms of each weight"
    given = [abs(steps) for steps in answer.integers(4, expected)]
    W, V = pair()
    right = [abs(int(steps)) for steps in (W.view(np.int64) - V.view(np.int64)).ravel()]
    if given == right:
        return "Two weights agree; one is off by a step, one by 30, and no decimal shows it."
    if not any(given):
        answer.reject(expected, DECIMALS_ARE_BITS)
    if [min(steps, 1) for steps in given] == [min(steps, 1) for steps in right]:
        answer.reject(expected, "The right two differ. Now count the steps, do not only tell them.")
    answer.reject(
        expected,
        "Read the 64 bits of a weight as an integer: neighbours in float64 are neighbours there.",
    )


_ONE = np.array([[0.5, -0.25], [0.125, 1.0]])
_LAST = np.array([[0.5, -0.25], [0.125, np.nextafter(1.0, 2.0)]])
_WIDE = np.arange(8.0).reshape(4, 2)
_COMPARISONS: list[tuple[FloatArray, FloatArray, bool, str]] = [
    (np.array([0.5]), np.array([0.5]), True, "Two places in memory can hold the same bits."),
    (*pair(), False, f"{DECIMALS_ARE_BITS.hint} These are W and V of part a."),
    (_ONE, _LAST, False, "They differ in the last bit of the last weight."),
    (_WIDE, _WIDE.reshape(2, 4), False, "The same eight numbers in another shape: no replay."),
    (np.full((2, 2), 0.5), np.array([[0.5]]), False, "NumPy stretched the smaller to compare."),
    (_WIDE.T, _WIDE.T.copy(), True, "The same matrix, stored row by row or column by column."),
    (
        np.array([0.0]),
        np.array([-0.0]),
        False,
        "0.0 == −0.0 is True, and yet the sign bits differ.",
    ),
    (np.array([np.nan]), np.array([np.nan]), True, "NaN == NaN is False, and yet the bits agree."),
]


@part("ex04.b", "a comparison of stored bits")
def same_bits(answer: Answer) -> str:
    compare = answer.function("A, B")
    for A, B, right, hint in _COMPARISONS:
        found = compare(A.copy(order="K"), B.copy(order="K"))
        if found.truth() is not right:
            found.reject(f"{right}", hint)
    return "Shape and bits: it tells 0 from −0, and a step in the last digit."


DRAWS = 20  # made before the matrix of the log


@part("ex04.c", "the state behind a matrix that the seed alone does not give")
def state_of_the_log(answer: Answer) -> str:
    expected = "a list of 2 integers: draws made before, state before"
    draws, state = answer.integers(2, expected)
    right = SplitMix64(SEED).advance(DRAWS)
    if (draws, state) == (DRAWS, right.state):
        return "A generator seeded with this state gives the matrix at once, without any history."
    if draws == DRAWS + 4:
        answer.reject(expected, "That counts the four draws of the matrix itself.")
    if draws == DRAWS // 4:
        answer.reject(expected, "That counts matrices of four; a draw is one number.")
    if draws != DRAWS:
        answer.reject(
            expected,
            f"{SEED_IS_ENOUGH.hint} Try one number of draws after the other, and compare bits.",
        )
    if state == right.advance(4).state:
        answer.reject(expected, "That is the state after the matrix; replay starts before it.")
    if state == SEED + DRAWS:
        answer.reject(expected, "A draw adds the increment G to the state, not 1.")
    if not 0 <= state < 2**64:
        answer.reject(expected, "A state has 64 bits: take it modulo 2**64.")
    answer.reject(expected, "The draws are right. The state is that of seed 17 after them.")


# --- what leaves the matrix alone ---------------------------------------------------------------


def _after_a_zero_bias(rng: SplitMix64) -> FloatArray:
    zeros((2,))
    return query(rng)


def _after_one_draw(rng: SplitMix64) -> FloatArray:
    rng.next_unit_f64()
    return query(rng)


def _after_a_refusal(rng: SplitMix64) -> FloatArray:
    with contextlib.suppress(CourseError):
        xavier_uniform(0, 2, rng)
    return query(rng)


def _after_a_clone_drew(rng: SplitMix64) -> FloatArray:
    xavier_uniform(4, 2, rng.clone())
    return query(rng)


def _after_the_table(rng: SplitMix64) -> FloatArray:
    xavier_uniform(4, 2, rng)
    return query(rng)


def _before_the_table(rng: SplitMix64) -> FloatArray:
    matrix = query(rng)
    xavier_uniform(4, 2, rng)
    return matrix


def _there_and_back(rng: SplitMix64) -> FloatArray:
    return query(rng.advance(10**9).advance(-(10**9)))


def _by_other_fans(rng: SplitMix64) -> FloatArray:
    return rng.symmetric(math.sqrt(6 / (4 + 2)), (2, 2))


CHANGES: dict[str, tuple[Callable[[SplitMix64], FloatArray], str]] = {
    "A": (_after_a_zero_bias, "zeros are no random numbers and take no draws."),
    "B": (_after_one_draw, f"one draw moves every later one. {SEED_IS_ENOUGH.hint}"),
    "C": (_after_a_refusal, "a refused request leaves the generator where it was."),
    "D": (_after_a_clone_drew, "a clone moves on its own; the generator stays."),
    "E": (_after_the_table, f"order counts: the table takes 8 draws. {SEED_IS_ENOUGH.hint}"),
    "F": (_before_the_table, "what is drawn later cannot change what is there."),
    "G": (_there_and_back, "advance is exact in both directions: the state is back."),
    "H": (_by_other_fans, "the draws are the same four, their limit is another."),
}


@part("ex04.d", "which changes leave the bits alone")
def changes(answer: Answer) -> str:
    chosen = answer.choices(list(CHANGES))
    original = query(SplitMix64(SEED)).tobytes()
    for letter, (change, reason) in CHANGES.items():
        unharmed = change(SplitMix64(SEED)).tobytes() == original
        if unharmed is not (letter in chosen):
            verdict = "belongs to the list" if unharmed else "does not belong to the list"
            answer.reject(
                "the letters of all changes that leave every bit of W alone",
                f"{letter} {verdict}: {reason}",
            )
    return "What counts is the state at which W begins, its shape, its limit and its formula."
