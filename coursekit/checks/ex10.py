"""Exercise 10, break the assumptions: one at a time, measured, and what is then left."""

import math
from typing import NamedTuple

import numpy as np

from coursekit.checks.answers import Answer, FloatArray
from coursekit.checks.misconceptions import EVERY_NETWORK, SCALE_FREE_SILU, VARIANCE_FOR_MOMENT
from coursekit.checks.mistakes import Hint, Mistake
from coursekit.checks.parts import part
from coursekit.checks.tolerances import rounding, sampling
from coursekit.checks.wording import call_as
from coursekit.rng import SplitMix64

# --- a: means that are not 0 ----------------------------------------------------------------------


@part("ex10.a", "the mean square of an output, when the means are not 0")
def with_means(answer: Answer) -> str:
    mean_square = answer.function("n, m, mu")
    for n, m, mu in (
        (5, 0.3, 2.0),
        (50, 0.2, 0.0),
        (50, 0.0, 1.0),
        (1, 0.7, -1.5),
        (64, -0.1, 0.5),
    ):
        squares = n * (1 / n + m * m) * (1 + mu * mu)
        cross = m * m * mu * mu
        right = squares + n * (n - 1) * cross
        mean_square(n, m, mu).expect(
            right,
            rounding(16),  # two moments, two products and their sum, in any order
            "E[w²] is Var(w) + m²; then n equal terms and n(n − 1) unequal ones.",
            [
                Mistake(
                    squares, "The terms of unequal indices are missing; they no longer vanish."
                ),
                Mistake(
                    squares + n * n * cross, "A pair of unequal indices leaves n − 1 partners."
                ),
                Mistake(
                    right - (n * m * mu) ** 2,
                    "That is the variance: the mean square has n·m·μ too.",
                ),
                Mistake(1.0, "So it is for means of 0: which terms survive here?"),
                Mistake(1 + n * m * m * mu * mu, "E[w²] is Var(w) + m², and E[x²] is 1 + μ²."),
                Mistake(
                    n * (1 + m * m) * (1 + mu * mu) + n * (n - 1) * cross, "Var(w) is 1/n, not 1."
                ),
                Mistake(
                    squares + n * (n - 1) / 2 * cross,
                    "Each pair occurs twice: as i, k and as k, i.",
                ),
                Mistake(squares + n * (n - 1) * m * mu, "E[wᵢwₖ] is m·m, and E[xᵢxₖ] is μ·μ."),
            ],
            form=f"E[y²] for n = {n}, m = {m}, μ = {mu}",
        )
    return "One mean alone does little harm; two of them together grow with n."


# --- b: activations that are not linear -----------------------------------------------------------

SHARES = np.array([[1.0, 0.0], [0.5, 0.5], [0.25, 0.5]])
MEASURED = sampling(math.sqrt(2 / 50_000))  # of the mean square of so many normal draws


@part("ex10.b", "what tanh, ReLU and SiLU leave of small and of large signals")
def activations(answer: Answer) -> str:
    form = "3 rows, for tanh, relu and silu, with small and large signals"
    if answer.array(None, None, expected=form).shape == (2, 3):
        answer.reject(form, "Give each activation a row of its own.")
    answer.expect(
        SHARES,
        MEASURED,
        "Draw z, apply f, and divide the mean of f(z)² by that of z².",
        [
            Mistake(SHARES[:, ::-1], "Small signals stand on the left, large ones on the right."),
            Mistake(lambda v: _near(v[1], 0.3408), VARIANCE_FOR_MOMENT),
            Mistake(lambda v: _near(v[1], math.sqrt(0.5)), "Divide mean squares, not their roots."),
            Mistake(
                lambda v: _near(v[2], 0.5), "Near 0, silu(z) is z times sigmoid(0). Square it."
            ),
            Mistake(lambda v: _near(v[2], 0.3558), SCALE_FREE_SILU),
            Mistake(
                lambda v: _near(v[0], 0.3943), "That is q = 1. How large is z at 10⁻⁴, and at 10⁴?"
            ),
            Mistake(lambda v: _near(v[0], 1.0), "tanh never exceeds 1: divide 1 by a large q."),
            Mistake(lambda v: _near(v[:, 0], 1.0), "A slope at 0 need not be 1: look at each."),
            Mistake(np.array([[1, 0], [1, 1], [0.25, 0.5]]), "ReLU drops half of all signals."),
        ],
        form=form,
    )
    return "Only tanh is linear with slope 1, and only where signals are small."


def _near(given: FloatArray, value: float) -> bool:
    return bool((np.abs(given - value) <= MEASURED.absolute).all())


# --- c: weights and inputs that know of each other ------------------------------------------------

TRIALS = 4000
STRAY = 5.0  # standard errors; the largest of 2·64 columns is seldom beyond 4
SKEWED = 0.25  # of the variance, as rare large numbers make the error itself uncertain


@part("ex10.c", "weights and inputs that look right one by one and break the rule")
def dependence(answer: Answer) -> str:
    offend = answer.function("rng, trials, n")
    found = 0.0
    for seed, n in ((17, 16), (18, 64)):
        given = call_as(f"rng, {TRIALS}, {n}", offend, SplitMix64(seed), TRIALS, n)
        w, x = (one.array(TRIALS, n) for one in given.items(2, "a list of 2 arrays: w, x"))
        _check_columns(given, "w", w, 1 / n)
        _check_columns(given, "x", x, 1.0)
        found = float(np.mean((w * x).sum(axis=1) ** 2))
        if found < n / 2:
            given.reject(
                f"E[y²] of at least {n // 2}; it is {found:.3g}", _why_not_broken(w, x, found)
            )
    return f"E[y²] is {found:.0f} in place of 1, and no column shows why."


def _check_columns(given: Answer, name: str, columns: FloatArray, target: float) -> None:
    """Raise `Wrong` unless every column has mean 0 and this mean square, as far as draws tell."""
    squares = columns**2
    error = columns.std(axis=0) / math.sqrt(TRIALS)
    error_of_square = squares.std(axis=0) / math.sqrt(TRIALS)
    expected = f"{name} of mean 0 and variance {target:g} in every column"
    if (np.abs(columns.mean(axis=0)) > STRAY * error + 1e-9).any():
        given.reject(expected, f"A mean of {name} is not 0: break independence alone.")
    if (np.abs(squares.mean(axis=0) - target) > STRAY * error_of_square + SKEWED * target).any():
        hint = f"The variance of {name} is another; scale it."
        if name == "w" and _near(squares.mean(axis=0), 1.0):
            hint = "w has variance 1: divide by √n."
        given.reject(expected, hint)


def _why_not_broken(w: FloatArray, x: FloatArray, found: float) -> str:
    alike = [bool((one == one[:, :1]).all()) for one in (w, x)]
    if any(alike) and not all(alike):
        other = "x" if alike[0] else "w"
        return f"A cross term is E[wᵢwₖ]·E[xᵢxₖ], and the half of {other} is still 0."
    if found < 2:
        return "The rule still holds: let weights know their inputs, or break both halves."
    return "It breaks, but not by much: how many of the n terms may point the same way?"


# --- d: what is left ------------------------------------------------------------------------------

LEFT = ("both", "mean square", "average", "neither")


class Verdict(NamedTuple):
    """What is left in one row, and hints for those who see more or less."""

    left: str
    hint: Hint
    hints: dict[str, Hint]


_ONE_LAYER = "One layer of 64 features strays little; it is depth that parts mean and median."
VERDICTS = {
    "A": Verdict("both", "Which step of the proof asked for a shape?", {"average": _ONE_LAYER}),
    "B": Verdict(
        "both",
        "The cross terms have a half from the weights, and that is still 0.",
        {"average": _ONE_LAYER},
    ),
    "C": Verdict(
        "mean square",
        "Part a with m = 0: E[y²] is E[x²]. Is that the variance of x?",
        {"both": "Var(y) becomes E[x²] = 2, and Var(x) is 1."},
    ),
    "D": Verdict("neither", "Part a with μ = 0: E[y²] is 1 + n·m².", {}),
    "E": Verdict(
        "neither",
        "Part b: what does ReLU leave of a mean square?",
        {"mean square": "ReLU halves it, and only He's factor 2 would give it back."},
    ),
    "F": Verdict("both", "Part b: how far from 1 is the share of tanh at 10⁻⁴?", {}),
    "G": Verdict("neither", "Near 0 SiLU is linear, but with which slope?", {}),
    "H": Verdict(
        "average",
        "Chapter 8: the mean of 200 such networks, and their median.",
        {"both": EVERY_NETWORK, "mean square": EVERY_NETWORK},
    ),
    "I": Verdict(
        "neither", "Trained weights have seen their inputs: what is left of independence?", {}
    ),
    "J": Verdict("neither", "A sum over branches adds mean squares (chapter 12).", {}),
}


@part("ex10.d", "what is left of the guarantee in ten cases")
def decision(answer: Answer) -> str:
    rows = answer.entries(tuple(VERDICTS), f"a dict with the rows {', '.join(VERDICTS)}")
    for letter, verdict in VERDICTS.items():
        rows[letter].label = letter
        told = rows[letter].choice(LEFT)
        if told != verdict.left:
            rows[letter].reject("another verdict", verdict.hints.get(told, verdict.hint))
    return "A target belongs to a distribution; what a signal does has to be asked case by case."
