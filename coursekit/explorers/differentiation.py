"""Explorers of chapter 7: what flows back through a graph, and the best step of a difference."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.autodiff import Step, parameter
from coursekit.explorers.core import Drawing, Explorer, choice, explore, explorer, slider
from coursekit.figures import Figure, panels
from coursekit.figures.differentiation import Node, decimals, draw_graph, draw_quotient_decimals

FloatArray = NDArray[np.float64]
Function = Callable[[FloatArray], FloatArray]

UNIT_ROUNDOFF = 2.0**-53
STEPS = np.ldexp(1.0, -np.arange(1, 53))  # powers of two: x ± h and the division lose nothing


# --- adjoints -----------------------------------------------------------------------------------


class Pass(NamedTuple):
    """A graph, its backward pass and the two gradients."""

    nodes: Sequence[Node]
    steps: Sequence[Step]
    along_a: float
    along_b: float


def run_graph(a: float, b: float, seed: float) -> Pass:
    """Return the backward pass of y = p·q with p = a·b and q = p + a."""
    first, second = parameter(float(a)), parameter(float(b))
    p = first * second
    q = p + first
    y = p * q
    steps = y.backward(seed=float(seed), trace=True)
    nodes = [
        Node("a", first, (0, 1)),
        Node("b", second, (0, -0.9)),
        Node("p = a·b", p, (1.3, -0.4)),
        Node("q = p + a", q, (2.3, 0.75)),
        Node("y = p·q", y, (3.4, 0)),
    ]
    along_a, along_b = (float(np.asarray(leaf.grad)) for leaf in (first, second))
    return Pass(nodes, steps, along_a, along_b)


def show_graph(figure: Figure, run: Pass) -> Drawing:
    """Draw values, adjoints and contributions; say what the routes add up to."""
    axes = panels(figure)
    draw_graph(axes, run.nodes, run.steps)
    axes.set_position((0.01, 0.01, 0.98, 0.98))
    seed = float(run.steps[0].adjoint)
    if seed == 0:
        finding = "A seed of 0 asks for nothing: every adjoint is 0."
    elif run.along_a == run.along_b == 0:
        finding = "Here y stands still along a and along b."
    elif run.along_a == 0:
        finding = "The routes from a cancel: what they carry adds up to 0."
    else:
        finding = f"Seed times slope: {run.along_a:g} along a, {run.along_b:g} along b."
    alt = (
        "Graph of five boxes, a and b at the left, then p, q and y. Below each value stands its "
        f"adjoint: {run.along_a:g} at a, {run.along_b:g} at b, {seed:g} at y."
    )
    return Drawing(finding, alt)


@explorer
def adjoint_explorer() -> Explorer:
    """Move both inputs and the seed of a small graph."""
    return explore(
        "When do the routes from a to y cancel?",
        run_graph,
        show_graph,
        a=slider("a", -4, 4, value=3),
        b=slider("b", -4, 4, value=2),
        seed=slider("seed", -2, 2, value=1),
    )


# --- steps --------------------------------------------------------------------------------------


class Curve(NamedTuple):
    """A function with the derivatives that decide the error of its central difference."""

    value: Function
    slope: Function
    third: Function
    rounding: float  # error of a computed value, in units of |value| · 2⁻⁵³


def _logistic(x: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _silu_slope(x: FloatArray) -> FloatArray:
    s = _logistic(x)
    return np.asarray(s * (1.0 + x * (1.0 - s)))


def _silu_third(x: FloatArray) -> FloatArray:
    s = _logistic(x)
    d = s * (1.0 - s)
    return np.asarray(3.0 * d * (1.0 - 2.0 * s) + x * d * (1.0 - 6.0 * d))


def _tanh_third(x: FloatArray) -> FloatArray:
    square = np.tanh(x) ** 2
    return np.asarray((1.0 - square) * (6.0 * square - 2.0))


CURVES = {
    "x/√(1+x²)": Curve(
        lambda x: x / np.sqrt(1.0 + x * x),
        lambda x: 1.0 / ((1.0 + x * x) * np.sqrt(1.0 + x * x)),
        lambda x: (12.0 * x * x - 3.0) * (1.0 + x * x) ** -3.5,
        3.0,
    ),
    "SiLU": Curve(lambda x: x * _logistic(x), _silu_slope, _silu_third, 4.0),
    "tanh": Curve(np.tanh, lambda x: 1.0 - np.tanh(x) ** 2, _tanh_third, 2.0),
    "ReLU": Curve(
        lambda x: np.maximum(x, 0.0), lambda x: np.asarray(1.0 * (x > 0)), np.zeros_like, 0.0
    ),
}


def quotient_errors(function: str, x: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return over `STEPS` the error: measured, from the third derivative, from rounding."""
    curve, at = CURVES[function], np.asarray(float(x))
    difference = curve.value(at + STEPS) - curve.value(at - STEPS)
    error = np.abs(difference / (2.0 * STEPS) - curve.slope(at))
    truncation = STEPS**2 / 6.0 * np.abs(curve.third(at))
    rounding = curve.rounding * UNIT_ROUNDOFF * np.abs(curve.value(at)) / STEPS
    return error, truncation, rounding


def show_errors(figure: Figure, errors: tuple[FloatArray, FloatArray, FloatArray]) -> Drawing:
    """Draw the right decimals over the step and name the best step."""
    draw_quotient_decimals(panels(figure), *errors)
    error = errors[0]
    best = int(np.argmin(error))
    at = f"k = {best + 1}, h = {STEPS[best]:.1e}"
    right = decimals(error).round(1) + 0.0  # no −0.0
    if error.max() < 1e-15:
        finding = "The quotient is right at every step."
    elif error[best] == 0:
        finding = f"The quotient is exactly right at {at}, and not at every step."
    elif error[best] > 0.1:
        finding = f"No step helps: every quotient is off by {error[best]:.2g} or more."
    else:
        finding = f"{right[best]:.1f} decimals at best, at {at}; smaller steps lose them again."
    alt = (
        "Right decimals of the central difference against halvings of its step: "
        f"{right[0]:.1f} at k = 1, {right[best]:.1f} at {at}, {right[-1]:.1f} at k = {len(right)}."
    )
    return Drawing(finding, alt)


@explorer
def step_explorer() -> Explorer:
    """Choose a function and a point, see which step its central difference likes best."""
    return explore(
        "Which step gives the best difference quotient?",
        quotient_errors,
        show_errors,
        digits=3,
        function=choice("function", list(CURVES)),
        x=slider("point x", -3.0, 3.0, 0.25, 1.0),
    )
