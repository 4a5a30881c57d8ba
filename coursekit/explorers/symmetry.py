"""Explorer of chapter 1: set two columns and two output weights, see the gradient columns."""

import numpy as np
from numpy.typing import NDArray

from coursekit.autodiff import constant, parameter
from coursekit.explorers.core import Drawing, Explorer, explore, explorer, slider
from coursekit.figures import Figure, panels
from coursekit.figures.symmetry import gradient_columns

FloatArray = NDArray[np.float64]
INPUT = np.array([[1.0, -1.0]])


def compute(w11: float, w21: float, w12: float, w22: float, v1: float, v2: float) -> FloatArray:
    """Return ∂y/∂W of y = silu(xW)·v at x = [1, −1]; wij leads from input i to unit j."""
    W = parameter([[w11, w12], [w21, w22]])
    y = (constant(INPUT) @ W).silu() @ constant([[v1], [v2]])
    y.backward(np.ones((1, 1)))
    gradient = W.grad
    return np.zeros((2, 2)) if gradient is None else gradient


def draw(figure: Figure, gradient: FloatArray) -> Drawing:
    """Draw both columns on one scale and say whether they agree."""
    gradient_columns(gradient, panels(figure, 1, 2, share_y=True))
    first, second = gradient[:, 0], gradient[:, 1]
    if np.allclose(first, second, rtol=0, atol=1e-12):
        finding = "The columns agree: one step keeps equal units equal."
    elif np.allclose(first, -second, rtol=0, atol=1e-12):
        finding = "The columns mirror each other."
    else:
        finding = "The columns differ: one step takes the units to different places."
    rows = (", ".join(f"{value:.4g}" for value in column) for column in (first, second))
    one, two = rows
    return Drawing(finding, f"Two bar charts: column of unit 1 is {one}; of unit 2, {two}.")


@explorer
def gradient_explorer() -> Explorer:
    """Move the weights of two units away from equality, one at a time."""

    def knob(description: str, value: float) -> object:
        return slider(description, -2.0, 2.0, 0.25, value)

    return explore(
        "Which settings give two units the same gradient column?",
        compute,
        draw,
        w11=knob("unit 1, from input 1", 0.0),
        w21=knob("unit 1, from input 2", 0.0),
        w12=knob("unit 2, from input 1", 0.0),
        w22=knob("unit 2, from input 2", 0.0),
        v1=knob("output weight of unit 1", 1.0),
        v2=knob("output weight of unit 2", 1.0),
    )
