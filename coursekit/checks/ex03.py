"""Exercise 3, derive the zero gradient: columns that know a unit only through z and v."""

from functools import partial

import numpy as np

from coursekit.checks.answers import Answer, FloatArray
from coursekit.checks.misconceptions import OUTPUT_FIRST, ZERO_MEANS_ZERO
from coursekit.checks.mistakes import Mistake
from coursekit.checks.parts import part
from coursekit.checks.tolerances import Tolerance, rounding
from coursekit.worked import symmetry_probe

X, V = np.array([1.0, -1.0]), np.array([1.0, 1.0])  # as the notebook says
HALF = np.array([[0.5, 0.5], [-0.5, -0.5]])
NO_SIGNS = "The inputs differ in sign: what does a weight multiply?"


@part("ex03.a", "both gradient columns at zero weights")
def two_columns(answer: Answer) -> str:
    answer.expect(
        HALF,
        rounding(3),
        "Each element is x_i · silu′(0) · v_j: three factors.",
        [
            Mistake(np.zeros((2, 2)), ZERO_MEANS_ZERO),
            Mistake(HALF.T, OUTPUT_FIRST),
            Mistake(abs(HALF), NO_SIGNS),
            Mistake(2 * HALF, "The slope of SiLU at 0 is not 1: near 0 its denominator is 2."),
            Mistake(HALF / 2, "1/4 is the slope of the sigmoid at 0; SiLU is z times the sigmoid."),
            Mistake(np.array([[0.5, -0.5], [-0.5, 0.5]]), "Both output weights are 1, not 1, −1."),
        ],
        form="the gradient [[∂y/∂W11, ∂y/∂W12], [∂y/∂W21, ∂y/∂W22]]",
    )
    return "No element is 0, and the two columns are one and the same."


@part("ex03.b", "the zero gradient for any input and output weights")
def at_zero(answer: Answer) -> str:
    gradient = answer.function("x, v")
    for x, v in (
        ([3.0, -2.0], [4.0, 0.5, -1.0]),
        ([1.0, -1.0], [1.0, 1.0]),
        ([0.0, 7.0, 0.25], [-2.0, 0.0]),
        ([5.0], [1.0]),
    ):
        row, weights = np.array(x), np.array(v)
        right = np.outer(row, weights) / 2
        gradient(row.copy(), weights.copy()).expect(
            right,
            rounding(3),
            "Row i holds x_i, column j holds v_j, and the slope at 0 is 1/2.",
            [
                Mistake(np.zeros_like(right), ZERO_MEANS_ZERO),
                Mistake(np.outer(row, np.ones(len(v))) / 2, "Each unit has its own v_j."),
                Mistake(np.outer(np.ones(len(x)), weights) / 2, "Each weight has its own input."),
                Mistake(abs(right), NO_SIGNS),
                Mistake(2 * right, "The slope of SiLU at 0 is 1/2, not 1."),
            ],
            form=f"an array [inputs, units], here {right.shape}",
        )
    return "Whatever v is, every column is a multiple of x: the first step can go nowhere else."


@part("ex03.c", "the gradient for any weights")
def anywhere(answer: Answer) -> str:
    gradient = answer.function("x, W, v")
    for x, W, v in (
        ([1.0, -1.0], [[0.25, 1.5], [-0.75, 2.0]], [1.0, -2.0]),
        ([1.0, -1.0], [[0.0, 0.0], [0.0, 0.0]], [1.0, 1.0]),
        ([2.0, 0.5, -1.0], [[1.0, -3.0], [0.5, 0.0], [2.0, 4.0]], [0.5, 3.0]),
        ([1.0], [[-1.2784645427610738, 2.3993572805154, 30.0, -30.0]], [1.0, 1.0, 1.0, 1.0]),
    ):
        row, weights, out = np.array(x), np.array(W), np.array(v)
        gradient(row.copy(), weights.copy(), out.copy()).expect(
            _gradient(row, weights, out),
            _as_exact(row, out),
            "Each element is x_i · silu′(z_j) · v_j with z = x @ W.",
            _of_another_slope(row, weights, out),
            form=f"an array [inputs, units], here {weights.shape}",
        )
    return "It agrees with the tape, also where the slope is 0 and far out where it is 1 or 0."


def _gradient(x: FloatArray, W: FloatArray, v: FloatArray) -> FloatArray:
    return symmetry_probe(W, v[:, None], x[None, :]).gradient


_DIFFERENCES = "Near, but further off than rounding: derive the slope, take no differences."


def _nearly(right: FloatArray, given: FloatArray) -> bool:
    return bool(np.allclose(given, right, rtol=1e-3, atol=1e-3))


def _as_exact(x: FloatArray, v: FloatArray) -> Tolerance:
    """For an exp, a sum and a few products; the two terms of the slope may cancel."""
    return rounding(20, scale=float(np.abs(x).max() * np.abs(v).max()))


def _of_another_slope(x: FloatArray, W: FloatArray, v: FloatArray) -> list[Mistake]:
    z = x @ W
    s = 1 / (1 + np.exp(-z))
    slopes = {
        "The slope is 1/2 only where z is 0.": np.full_like(z, 0.5),
        "s(1 − s) is the slope of the sigmoid s; SiLU is the product z · s.": s * (1 - s),
        "The product rule gives z · s two terms; z · s′ is missing.": s,
        "The product rule gives z · s two terms; s itself is missing.": z * s * (1 - s),
        "That is the value silu(z), not its slope.": z * s,
        "The activation has a slope too, silu′(z_j).": np.ones_like(z),
    }
    made = [Mistake(np.outer(x, v * slope), hint) for hint, slope in slopes.items()]
    right = s * (1 + z * (1 - s))
    made.append(Mistake(np.outer(x, right), "Each unit passes through its own output weight v_j."))
    made.append(Mistake(partial(_nearly, _gradient(x, W, v)), _DIFFERENCES))
    if W.shape[0] == W.shape[1]:
        made.append(Mistake(_gradient(x, W.T, v), OUTPUT_FIRST))
        made.append(Mistake(_gradient(x, W, v).T, OUTPUT_FIRST))
    return made


@part("ex03.d", "different units that one input cannot part")
def hidden_difference(answer: Answer) -> str:
    first, second = answer.items(2, "a list of 2: the matrix W and the second input")
    W, x = first.array(2, 2), second.array(2)
    if (W[:, 0] == W[:, 1]).all():
        first.reject(
            "a matrix with two different columns",
            "Equal columns are equal units, for every input. What else can hide a difference?",
        )
    at_first, at_second = _gradient(X, W, V), _gradient(x, W, V)
    if not _as_exact(X, V).holds(at_first[:, 0], at_first[:, 1]):
        z = X @ W
        first.reject(
            "equal gradient columns for x = [1, −1]",
            f"Here z is {z[0]:g} for one unit, {z[1]:g} for the other: "
            "the gradient knows a column only by its z.",
        )
    if not x.any():
        second.reject(
            "an input that parts the units", "A zero input gives every weight gradient 0."
        )
    if _as_exact(x, V).holds(at_second[:, 0], at_second[:, 1]):
        second.reject(
            "an input that parts the units",
            "The columns of the gradient are equal for this input too: try one that is no "
            "multiple of [1, −1].",
        )
    return "One input sees a column only by its z; it takes a second one to part these units."
