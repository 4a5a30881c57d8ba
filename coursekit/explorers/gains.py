"""Explorer of chapter 5: fit a gain to one size of signal, and send another size through."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coursekit import autodiff
from coursekit.autodiff import Tensor, constant
from coursekit.explorers.core import Drawing, Explorer, choice, explore, explorer, ladder
from coursekit.figures import Figure, panels
from coursekit.figures.he import FittedGain, fitted_gain
from coursekit.gains import second_moment, second_moment_gain

FloatArray = NDArray[np.float64]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": autodiff.silu,
    "gelu": autodiff.gelu,
    "relu": autodiff.relu,
    "leaky relu, slope 0.1": lambda z: autodiff.leaky_relu(z, 0.1),
    "tanh": autodiff.tanh,
}
SIZES = [("1/16", 1 / 16), ("1/4", 1 / 4), ("4/5", 0.8), ("1", 1.0), ("5/4", 1.25), ("4", 4.0)]
SIZES += [("16", 16.0)]
DEPTH = 20
GRID = 4.0 ** np.linspace(-2.0, 2.0, 17)


def compute(activation: str, fitted: float, arriving: float) -> FittedGain:
    """Follow q → gain²·E[f(z)²] through the layers, with the gain that keeps `fitted`."""

    def f(z: FloatArray) -> FloatArray:
        return ACTIVATIONS[activation](constant(z)).value

    gain = second_moment_gain(f, fitted)
    moments = [arriving]
    for _ in range(DEPTH):
        moments.append(gain * gain * second_moment(f, moments[-1]))
    kept = np.array([second_moment(f, q) / q for q in GRID])
    return FittedGain(activation, fitted, arriving, GRID, kept, tuple(moments))


def draw(figure: Figure, result: FittedGain) -> Drawing:
    """Draw both panels and say what becomes of the signal."""
    fitted_gain(result, panels(figure, 1, 2))
    last = result.moments[-1]
    if abs(last / result.arriving - 1.0) < 1e-6:
        finding = "what arrives is kept"
    else:
        finding = f"{result.arriving:.4g} becomes {last:.3g} after {DEPTH} layers"
    flat = bool(np.ptp(result.kept) < 1e-9)
    kind = "flat: one gain serves every size" if flat else "not flat: every size has its own gain"
    return Drawing(
        f"{result.activation}, gain fitted at q = {result.fitted:.4g}: {finding}. "
        f"The curve is {kind}.",
        f"Left, the share of the second moment that {result.activation} keeps, from "
        f"{result.kept[0]:.3f} for small signals to {result.kept[-1]:.3f} for large ones. "
        f"Right, open dots over {DEPTH} layers, from {result.arriving:.4g} to {last:.3g}.",
    )


@explorer
def gain_explorer() -> Explorer:
    """Choose an activation, the size its gain is fitted at, and the size that arrives."""
    return explore(
        "Does a gain that fits one size of signal fit the others?",
        compute,
        draw,
        digits=4,
        activation=choice("activation", list(ACTIVATIONS)),
        fitted=ladder("gain fitted at q", SIZES, 1.0),
        arriving=ladder("q that arrives", SIZES, 0.8),
    )
