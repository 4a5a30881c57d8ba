"""Exercise 2, scale a wide input: what four terms do to a sum that two terms left alone."""

import math
from functools import partial

import numpy as np

from coursekit.checks.answers import Answer, FloatArray, Function
from coursekit.checks.misconceptions import FRESH_SEED_EACH_LAYER
from coursekit.checks.mistakes import Mistake, Wrong
from coursekit.checks.parts import part
from coursekit.checks.spread import expect_scale
from coursekit.checks.tolerances import rounding, sampling
from coursekit.rng import SplitMix64

EXAMPLES = 10_000  # as the notebook asks
OLD, OWN = (4, 2, math.sqrt(1.5)), (4, 2, 1.0)  # [4, 2] with the limit of [2, 2], and its own
LAYERS = [(5, 2, 0.5), OLD, OWN, (2, 6, 1.0), (9, 1, 2.0)]


@part("ex02.a", "the three numbers for a [4, 2] matrix")
def wide(answer: Answer) -> str:
    expect_scale(answer, 4, 2)
    return "2/(4 + 2) is 1/3, its root 0.5774, and the limit is 1."


# Rows: the scale of [2, 2], the scale of [4, 2]. Columns: the signal, the gradient.
FACTORS = np.array([[4 / 2, 2 / 2], [4 / 3, 2 / 3]])


@part("ex02.b", "what two scales do to signal and gradient")
def factors(answer: Answer) -> str:
    answer.expect(
        FACTORS,
        rounding(4),
        "Forwards a sum has fan_in terms, backwards fan_out: count them, multiply by the variance, "
        "and leave every division to Python.",
        [
            Mistake(FACTORS[:, ::-1], "Forwards four inputs are added up, backwards two outputs."),
            Mistake(FACTORS.T, "A row belongs to a scale, a column to a direction."),
            Mistake(FACTORS[::-1], "The first row is for the scale of [2, 2], the variance 1/2."),
            Mistake(np.sqrt(FACTORS), "Variances were asked for; these are their roots."),
            Mistake(
                np.array([[1, 1], FACTORS[1]]),
                "An output of [4, 2] has four terms, whatever the scale.",
            ),
            Mistake(_promises_one, "F and B are both 1 only if the fans are equal: B/F is 2/4."),
        ],
        form="a table [[F, B], [F, B]]",
    )
    return "The old scale doubles the signal; the new one misses both requests by a third."


def _promises_one(given: FloatArray) -> bool:
    return bool((given[1] == 1).all())


@part("ex02.c", "the factor of a layer, measured")
def measured(answer: Answer) -> str:
    measure = answer.function("fan_in, fan_out, limit, rng")
    _require_steady(answer, measure)
    found = {}
    for fan_in, fan_out, limit in LAYERS:
        result = measure(fan_in, fan_out, limit, SplitMix64(17))
        result.expect(
            fan_in * limit**2 / 3,
            sampling(_standard_error(fan_in, fan_out, limit)),
            f"Inputs of mean square 1, uniform weights, {EXAMPLES:,} examples, and the mean of y².",
            _mistakes(fan_in, fan_out, limit),
            form="a mean square",
        )
        found[fan_in, fan_out, limit] = result.number()
    return f"[4, 2] shows {found[OLD]:.2f} with the limit of [2, 2], {found[OWN]:.2f} with its own."


def _require_steady(answer: Answer, measure: Function) -> None:
    """Raise `Wrong` if calls with several seeds agree to the bit, or scatter far too much."""
    fan_in, fan_out, limit = LAYERS[0]
    found = [measure(fan_in, fan_out, limit, SplitMix64(seed)).number() for seed in range(17, 21)]
    if len(set(found)) == 1:
        answer.reject("draws from the generator that is passed in", FRESH_SEED_EACH_LAYER)
    expected = _standard_error(fan_in, fan_out, limit) / (fan_in * limit**2 / 3)
    scatter = float(np.std(found) / np.mean(np.abs(found)))
    # Four right numbers never scatter so; with one matrix for all it is over 20 times.
    if scatter > 4 * expected:
        raise Wrong(
            f"results that scatter by {scatter:.1%} from seed to seed",
            f"a scatter of about {expected:.1%}",
            f"Give each of the {EXAMPLES:,} examples a matrix of its own; one has its own factor.",
        )


def _standard_error(fan_in: int, fan_out: int, limit: float) -> float:
    """Of the mean square of the outputs, for normal inputs and uniform weights of variance s².

    E[y⁴] sums the fourth moments of fan_in products, 3 · 9/5 · s⁴ each, and 3 s⁴ for each of their
    fan_in (fan_in − 1) pairs. Outputs of one example share its inputs: covariance 2 fan_in s⁴.
    """
    fourth = (limit**2 / 3) ** 2
    of_one = (2 * fan_in**2 + 2.4 * fan_in) * fourth
    shared = 2 * fan_in * fourth
    return math.sqrt((of_one + (fan_out - 1) * shared) / (fan_out * EXAMPLES))


def _mistakes(fan_in: int, fan_out: int, limit: float) -> list[Mistake]:
    factor = fan_in * limit**2 / 3
    hints = {
        factor * fan_out: "That adds the outputs up: take the mean over all of them.",
        factor * fan_out / fan_in: "An output sums fan_in products, one for each input.",
        math.sqrt(factor): "That is a root: hand over the mean square itself.",
        factor / fan_in: "That is the spread of the weights; send inputs through them.",
        factor / 3: "Inputs of variance 1 are asked for: rng.standard_normal.",
        factor * 3: "The weights are uniform up to the limit; it is not their deviation.",
        factor / 4: "The interval is [−limit, limit), twice the limit long.",
    }
    return [Mistake(partial(_near, value), hint) for value, hint in hints.items()]


def _near(value: float, given: float) -> bool:
    """Whether a measurement that may scatter as much as a right one lies around `value`."""
    return math.isclose(given, value, rel_tol=0.06)


WIDTH, LEFT = 4, 0.1  # the outer width, the share that is left


@part("ex02.d", "the smallest detour that loses nine tenths")
def detour(answer: Answer) -> str:
    width = answer.integer("the smallest width n, an integer")
    if width < 1:
        answer.reject("the smallest width n, an integer", "A layer has at least one unit.")
    share = 4 * WIDTH * width / (WIDTH + width) ** 2
    smaller = 4 * WIDTH * (width - 1) / (WIDTH + width - 1) ** 2
    if share < LEFT <= smaller:
        return f"Of the variance {share:.4f} is left, and both matrices have their right scale."
    hint = f"At n = {width} the share is {share:.4f}; multiply the factors of both matrices."
    if share < LEFT:
        hint = f"At n = {width - 1} the share is {smaller:.6f}, below a tenth too."
    hint = {
        38: "38 is the least ratio of the widths, n/4.",
        77: "77 makes the first factor fall below a tenth; the second is nearly 2.",
        1592: "From 1592 on the deviation falls below a tenth; the variance does so earlier.",
    }.get(width, hint)
    answer.reject("the smallest n whose two factors multiply to less than 0.1", hint)
