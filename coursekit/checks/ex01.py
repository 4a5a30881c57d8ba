"""Exercise 1, scale a square matrix: three numbers, a function, and a test worth its name."""

from collections.abc import Callable
from fractions import Fraction

from coursekit.checks.answers import Answer
from coursekit.checks.parts import part
from coursekit.checks.spread import expect_scale


@part("ex01.a", "the three numbers for a [2, 2] matrix")
def square(answer: Answer) -> str:
    expect_scale(answer, 2, 2)
    return "2/(2 + 2) is 1/2, its root 0.7071, and √3 times that is 1.2247."


@part("ex01.b", "the three numbers for any fans")
def any_fans(answer: Answer) -> str:
    scale = answer.function("fan_in, fan_out")
    for fans in ((7, 4), (4, 7), (2, 2), (1, 1), (1, 4096), (768, 3072), (10**9, 8)):
        expect_scale(scale(*fans), *fans)
    return "It holds for wide, narrow and square matrices."


# The rules that the notebook shows, in exact arithmetic.
RULES: dict[str, Callable[[int, int], Fraction]] = {
    "Ada": lambda n, m: Fraction(1, n),
    "Ben": lambda n, m: Fraction(2, n * m),
    "Cleo": lambda n, m: (Fraction(1, n) + Fraction(1, m)) / 2,
    "Dan": lambda n, m: Fraction(1, (n + m) // 2),
}


@part("ex01.c", "one pair of fans that exposes four wrong rules")
def exposing_pair(answer: Answer) -> str:
    expected = "two fans, at least 1 each, on which all four rules differ from Xavier's"
    fan_in, fan_out = answer.integers(2, expected)
    if min(fan_in, fan_out) < 1:
        answer.reject(expected, "A matrix has at least one row and one column.")
    xavier = Fraction(2, fan_in + fan_out)
    left = [name for name, rule in RULES.items() if rule(fan_in, fan_out) == xavier]
    if left == ["Dan"]:
        answer.reject(expected, "Only Dan is left: for which sums do // and / differ?")
    if left:
        why = "equal fans make both requests one number, and every mean of them too."
        answer.reject(expected, f"{', '.join(left)} still agree with Xavier: {why}")
    return f"All four fail on it, and it takes a matrix of {fan_in * fan_out} weights."
