"""The three numbers of a Xavier scale, and the mistakes that other numbers betray.

Exercises 1 and 2 ask for them (chapter 4): variance, standard deviation and limit for two fans.
"""

import math

from coursekit.checks.answers import Answer
from coursekit.checks.misconceptions import (
    ARITHMETIC_MEAN,
    BOUND_FOR_DEVIATION,
    DEVIATION_FOR_VARIANCE,
    LECUN_FOR_XAVIER,
    MEAN_OF_DEVIATIONS,
    UNIFORM_BY_FAN_IN,
)
from coursekit.checks.mistakes import Mistake
from coursekit.checks.tolerances import rounding

THREE = "a list of 3: variance, standard deviation, limit"
# A sum, a quotient, a product and two roots: the longest of the usual formulas.
FIVE_STEPS = rounding(5)


def expect_scale(answer: Answer, fan_in: int, fan_out: int) -> None:
    """Raise `Wrong` unless these are the three numbers of Xavier's rule, in their order."""
    target = 2 / (fan_in + fan_out)
    variance, deviation, limit = answer.items(3, THREE)
    variance.expect(
        target,
        FIVE_STEPS,
        "Each fan asks for one over itself; what lies between them is 2/(fan_in + fan_out).",
        [
            Mistake(math.sqrt(target), DEVIATION_FOR_VARIANCE),
            *_of_other_rules(fan_in, fan_out),
        ],
        form=f"the variance for {fan_in, fan_out}",
    )
    deviation.expect(
        math.sqrt(target),
        FIVE_STEPS,
        "It is the root of the variance.",
        [
            Mistake(target, DEVIATION_FOR_VARIANCE),
            Mistake(math.sqrt(3 * target), BOUND_FOR_DEVIATION),
        ],
        form=f"the standard deviation for {fan_in, fan_out}",
    )
    limit.expect(
        math.sqrt(3 * target),
        FIVE_STEPS,
        "A uniform distribution on [−a, a) has variance a²/3: solve for a.",
        [
            Mistake(math.sqrt(target), BOUND_FOR_DEVIATION),
            Mistake(1 / math.sqrt(fan_in), UNIFORM_BY_FAN_IN),
            Mistake(math.sqrt(3 / fan_in), LECUN_FOR_XAVIER),
            Mistake(3 * target, "That is a²: the limit a is its root."),
            Mistake(math.sqrt(3) * target, "√3 multiplies the standard deviation."),
            Mistake(
                math.sqrt(12 * target), "That is the whole interval, from −a to a: a is half of it."
            ),
        ],
        form=f"the limit for {fan_in, fan_out}",
    )


def _of_other_rules(fan_in: int, fan_out: int) -> list[Mistake]:
    """The variances that other rules ask of the same fans."""
    forward, backward = 1 / fan_in, 1 / fan_out
    deviations = (2 / (math.sqrt(fan_in) + math.sqrt(fan_out))) ** 2
    return [
        Mistake(forward, LECUN_FOR_XAVIER),
        Mistake(backward, "1/fan_out keeps the gradient alone; the signal has a request too."),
        Mistake((forward + backward) / 2, ARITHMETIC_MEAN),
        Mistake(deviations, MEAN_OF_DEVIATIONS),
        Mistake(math.sqrt(forward * backward), "That is the geometric mean of the two requests."),
        Mistake(1 / (fan_in + fan_out), "Two requests share the sum of the fans: 2 stands on top."),
        Mistake(2 / fan_in, "2/fan_in is He's rule, for a rectifier; Xavier counts both fans."),
        Mistake(2 / (fan_in * fan_out), "The fans are added, not multiplied: they count terms."),
        Mistake(1 / ((fan_in + fan_out) // 2), "// drops the half of an odd sum: divide by /."),
    ]
