"""Exercise 6, measure four weights: what they have, what one may expect, and two far seeds."""

import math

import numpy as np

from coursekit.checks.answers import Answer, FloatArray
from coursekit.checks.misconceptions import SAMPLE_VARIANCE, TARGET_IS_MEASURED
from coursekit.checks.mistakes import Mistake, Wrong
from coursekit.checks.parts import part
from coursekit.checks.tolerances import Tolerance, rounding
from coursekit.initializers import xavier_uniform
from coursekit.rng import SplitMix64

TARGET = 0.5
SEED = 17
LOW, HIGH = 0.1, 0.9
UNIFORM = 0.8  # kurtosis − 1: the variance of w² over the square of that of w


def weights_of(seed: int) -> FloatArray:
    """Return the four weights of [2, 2]."""
    return xavier_uniform(2, 2, SplitMix64(seed))


@part("ex06.a", "the variance that the four weights of seed 17 have")
def measured(answer: Answer) -> str:
    weights = weights_of(SEED)
    variance = float(weights.var())
    answer.expect(
        variance,
        rounding(16),  # two sums of four, four squares, two quotients
        "Subtract their mean from the four, square, and take the mean of the squares.",
        [
            Mistake(weights.var(ddof=1), SAMPLE_VARIANCE),
            Mistake(TARGET, TARGET_IS_MEASURED),
            Mistake((weights**2).mean(), "That is their mean square: first subtract their mean."),
            Mistake(0.75 * TARGET, "That is expected of any four; these four have their own."),
            Mistake(4 * variance, "That is the sum of the squares: divide it by 4."),
            Mistake(
                lambda given: abs(given - variance) < 1e-5,
                "Compute with `weights`: what is printed has been rounded.",
            ),
        ],
        form="the variance of the four",
    )
    return f"{variance:.4f} is an eighth of the target, and nothing is wrong with the sampler."


PAIR = "a list of 2: expected variance, standard error"


@part("ex06.b", "what to expect of n weights, and how far they stray")
def expectation(answer: Answer) -> str:
    expect = answer.function("n, target")
    for n, target in ((6, 0.3), (4, 0.5), (9, 1.0), (2, 1 / 3), (100, 0.02), (4096, 1 / 64)):
        expected, error = expect(n, target).items(2, PAIR)
        _check_expected(expected, n, target)
        _check_error(error, n, target)
    return "For four weights: 3/4 of the target, give or take 0.45 of it."


def _check_expected(expected: Answer, n: int, target: float) -> None:
    expected.expect(
        (1 - 1 / n) * target,
        rounding(4),
        "Their own mean lies amid them: are distances from it larger or smaller than those from 0?",
        [
            Mistake(target, TARGET_IS_MEASURED),
            Mistake(
                target * n / (n - 1), "n/(n − 1) undoes the loss: you divide by n, so it stays."
            ),
            Mistake(target / n, "That is what is lost, the variance of the mean. What is left?"),
        ],
        form=f"the mean variance over many sets of {n} weights",
    )


def _check_error(error: Answer, n: int, target: float) -> None:
    # The variance of a variance of n draws, all terms kept; √(0.8/n) leaves out those in 1/n².
    share = UNIFORM - 2 + 2 * n / (n - 1)
    exact = (1 - 1 / n) * target * math.sqrt(share / n)
    if rounding(8).holds(error.number(), exact):
        return
    error.expect(
        target * math.sqrt(UNIFORM / n),
        rounding(4),
        "One w² has variance 0.8·target². What has the mean of n of them, and what is its root?",
        [
            Mistake(math.sqrt(UNIFORM / n), "That is relative to the target: multiply by it."),
            Mistake(
                target * math.sqrt(2 / n), "2 holds for normal weights; uniform ones have 0.8."
            ),
            Mistake(target * UNIFORM / n, "A root is missing over 0.8/n."),
            Mistake(
                math.sqrt(target / n), "So far strays the mean of the weights, not the variance."
            ),
            Mistake(
                target * math.sqrt(UNIFORM) / n,
                "Averaging n values divides a variance by n, not a root.",
            ),
            Mistake(target * math.sqrt(UNIFORM), "So far strays one w²; you average n of them."),
        ],
        form=f"the standard error for {n} weights",
    )


SEEDS = f"a list of 2 seeds: variance above {HIGH}, variance below {LOW}"


@part("ex06.c", "two seeds, one far above the target and one far below")
def far_seeds(answer: Answer) -> str:
    above, below = answer.items(2, SEEDS)
    high, low = _variance(above), _variance(below)
    if below.value == SEED:
        below.reject(SEEDS, "17 you have already: find another.")
    if high < LOW and low > HIGH:
        answer.reject(SEEDS, "They are in the other order: first the one above 0.9.")
    for one, found, right in ((above, high, high > HIGH), (below, low, low < LOW)):
        if not right:
            one.reject(f"{SEEDS}; this one has {found:.4f}", _hint_for(one.integer()))
    return f"{high:.4f} and {low:.4f}, from one rule and one target: scatter is no fault."


def _variance(seed: Answer) -> float:
    number = seed.integer("a seed, which is an integer")
    if not 0 <= number < 2**64:
        seed.reject("a seed from 0 to 2⁶⁴ − 1", "The generator refuses it: look at 0, 1, 2, …")
    return float(weights_of(number).var())


def _hint_for(seed: int) -> str:
    weights = weights_of(seed)
    if weights.var(ddof=1) > HIGH:
        return SAMPLE_VARIANCE.hint
    if (weights**2).mean() > HIGH:
        return "Its mean square is above 0.9; the variance is taken about the mean of the four."
    if weights.std() > HIGH:
        return "You may have looked at the standard deviation."
    return "About 1.6 % of all seeds lie above 0.9 and 11 % below 0.1: let a loop look."


VALUES = "a list of all the values that the fourth can take"
NEAR = Tolerance(0.0, 1e-9, "within 1e-9, so that a search by numbers passes too")
TOO_FAR = (-2.0, 0.0, 2.0)


@part("ex06.d", "the fourth weight, when the variance is forced to be 1/2")
def fourth_weight(answer: Answer) -> str:
    fourth = answer.function("first, second, third")
    for seed in (15, 17, 37, 1, 62):
        weights = weights_of(seed).ravel()
        three = (weights * math.sqrt(TARGET / weights.var())).tolist()[:3]
        _check_values(fourth(*three), three)
    expected = "an empty list: these three alone stray too far"
    if isinstance(fourth.refusal(*TOO_FAR), ValueError):
        hint = "What stands under your root is negative here: ask that first."
        raise Wrong(f"{fourth.called_with(*TOO_FAR)} raising ValueError", expected, hint)
    none = fourth(*TOO_FAR)
    if _has_nan(none.value):
        none.reject(expected, "NaN is no number that a weight can have: leave it out.")
    if none.array(None, expected=expected).size:
        none.reject(expected, "Is what stands under your root positive here?")
    return "At most two candidates are left, so the four are not independent any more."


def _has_nan(value: object) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) and any(one != one for one in value)


def _values(three: list[float], squares: float) -> FloatArray | None:
    """Return the x for which the squared deviations of the three and x add up to `squares`."""
    total = sum(three)
    under_root = total**2 - 3 * sum(w * w for w in three) + 3 * squares
    if under_root < 0:
        return None
    root = 2 * math.sqrt(under_root)
    return np.array([total - root, total + root]) / 3


def _check_values(given: Answer, three: list[float]) -> None:
    right = _values(three, 4 * TARGET)
    assert right is not None  # the three come from a matrix that has a fourth
    expected = f"{VALUES}, {NEAR.said}"
    found = np.sort(given.array(None, expected=expected))
    if found.size == 2 and NEAR.holds(found, right):
        return
    if found.size == 1 and NEAR.holds(found[0], right[np.abs(right - found[0]).argmin()]):
        given.reject(expected, "That is one. A square has two roots: is the other one excluded?")
    given.reject(expected, _mistake_in(found, three))


def _mistake_in(found: FloatArray, three: list[float]) -> str:
    def is_near(other: FloatArray | None) -> bool:
        return other is not None and NEAR.holds(found, other)

    rest = 4 * TARGET - sum(w * w for w in three)
    if is_near(_values(three, 3 * TARGET)):
        return SAMPLE_VARIANCE.hint
    if is_near(_values(three, TARGET)):
        return "The squared deviations add up to 4 · ½: a variance is their mean."
    if rest >= 0 and is_near(np.array([-math.sqrt(rest), math.sqrt(rest)])):
        return "The variance is taken about the mean of the four, which is not 0."
    if is_near(np.array([-sum(three)])):
        return "Nothing forces the sum to be 0; only the squared deviations are given."
    return "Write Σw² − (Σw)²/4 = 2 with the unknown fourth in both sums, and solve for it."
