"""Explorer of chapter 8: one real network, forward and backward, beside what is expected."""

import math
from functools import lru_cache

from coursekit.explorers.core import Drawing, Explorer, choice, explore, explorer, ladder
from coursekit.figures import Figure, label, panels
from coursekit.figures.depth import Passes, both_ways
from coursekit.initializers import xavier_uniform
from coursekit.measure import (
    draw_network,
    expected_gradients,
    expected_moments,
    measure_depth,
)
from coursekit.rng import SplitMix64

ROWS = 32
GAINS = [("1", 1.0), ("√2", math.sqrt(2.0)), ("5/3", 5.0 / 3.0), ("2", 2.0)]


@lru_cache(maxsize=256)
def calculated(
    activation: str, residual: bool, gain: float, depth: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return expected signals and gradients; with Var(w) = gain²/n no width n enters."""
    widths, variances = [1] * (depth + 1), [gain**2] * depth
    return (
        expected_moments(activation, widths, variances, residual=residual),
        expected_gradients(activation, widths, variances, residual=residual),
    )


def compute(
    activation: str, residual: bool, gain: float, width: int, depth: int, seed: int
) -> Passes:
    """Draw one network and run it both ways on normal inputs and normal output gradients."""
    rng = SplitMix64(seed)
    inputs, arriving = rng.standard_normal((ROWS, width)), rng.standard_normal((ROWS, width))
    weights = draw_network(
        [width] * (depth + 1), lambda n, m, draws: xavier_uniform(n, m, draws, gain), rng
    )
    run = measure_depth(weights, inputs, activation, residual, arriving)
    return Passes(run, *calculated(activation, residual, gain, depth))


def draw(figure: Figure, passes: Passes) -> Drawing:
    """Draw both passes and say how far this network is from the expectation."""
    axes = panels(figure)
    both_ways(axes, passes)
    depth = len(passes.signals) - 1
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -1.5), max(high, 1.5))
    axes.set_xlim(-0.03 * depth, 1.03 * depth)
    axes.set_xlabel("layer")
    axes.set_ylabel("second moment, as a power of ten")
    out, back = passes.run.signals[-1].second_moment, passes.run.gradients[0].second_moment
    kind = f"{'residual ' if passes.run.residual else ''}{passes.run.activation}"
    axes.set_title(f"{depth} {kind} layers", fontsize=10)
    middle = depth // 2
    shift = 0.04 * (axes.get_ylim()[1] - axes.get_ylim()[0])
    for name, ink, place in (
        ("signal →", "blue", passes.run.signals[middle]),
        ("← gradient", "purple", passes.run.gradients[middle]),
    ):
        away = shift if ink == "blue" else -3.0 * shift
        label(axes, name, (middle, math.log10(max(place.second_moment, 1e-300)) + away), ink)
    caption = (
        f"The signal ends at {out:.3g} (expected {passes.signals[-1]:.3g}); "
        f"the gradient arrives at the input with {back:.3g} (expected {passes.gradients[0]:.3g})."
    )
    alt = "Two lines over the layers, signal and gradient, with open dots where each is expected."
    return Drawing(caption, alt)


@explorer
def depth_explorer() -> Explorer:
    """Choose a network; its weights and data follow the seed."""
    return explore(
        "How near does one network come to its expectation?",
        compute,
        draw,
        digits=3,
        activation=choice("activation", ["linear", "tanh", "relu", "silu"], "tanh"),
        residual=choice("connection", [("plain", False), ("residual", True)], False),
        gain=ladder("gain on Xavier", GAINS, 1.0),
        width=ladder("features in each layer", [16, 64, 256], 64),
        depth=ladder("layers", [2, 5, 10, 20], 20),
        seed=ladder("seed", [17, 18, 19, 20, 21], 17),
    )
