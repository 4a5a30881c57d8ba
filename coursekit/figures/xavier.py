"""Pictures of chapter 4: what fans count, what a compromise costs, what a drawn matrix has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.figures.style import colour, expected, label, measured, measured_line, new_figure
from coursekit.figures.style import target as target_mark
from coursekit.measure.sample import Comparison, Histogram

FloatArray = NDArray[np.float64]
FAINT = "#bdbdbd"


def connections(fan_in: int, fan_out: int) -> Figure:
    """Draw one matrix as its connections: those into output 1, and those out of input 1."""
    figure, axes = new_figure(1, 2, height=2.9)
    _bundle(axes[0], fan_in, fan_out, [(i, 0) for i in range(fan_in)], "into output 1")
    _bundle(axes[1], fan_in, fan_out, [(0, j) for j in range(fan_out)], "out of input 1")
    axes[0].set_title(f"fan-in {fan_in}: one column", fontsize=10)
    axes[1].set_title(f"fan-out {fan_out}: one row", fontsize=10)
    return figure


def _bundle(
    axes: Axes, fan_in: int, fan_out: int, chosen: Sequence[tuple[int, int]], name: str
) -> None:
    left, right = _spread(fan_in), _spread(fan_out)
    pairs = [(i, j) for i in range(fan_in) for j in range(fan_out)]
    for kept, ink, width, told in (
        ([pair for pair in pairs if pair not in chosen], FAINT, 1.0, "the other connections"),
        (list(chosen), colour("blue"), 2.4, f"connections {name}"),
    ):
        segments = [[(0.0, left[i]), (1.0, right[j])] for i, j in kept]
        axes.add_collection(
            LineCollection(segments, colors=ink, linewidths=width, label=told, zorder=1)
        )
    for x, heights, letter in ((0.0, left, "x"), (1.0, right, "y")):
        for place, y in enumerate(heights, start=1):
            axes.text(
                x,
                y,
                f"{letter}{place}",
                ha="center",
                va="center",
                bbox={"boxstyle": "circle,pad=0.35", "facecolor": "white", "edgecolor": "#555555"},
                zorder=3,
            )
    axes.set(xlim=(-0.25, 1.25), ylim=(-0.6, max(fan_in, fan_out) - 0.4))
    axes.set_axis_off()


def _spread(count: int, most: int = 4) -> list[float]:
    """Heights of `count` nodes, the first one on top, centred in the room that `most` take."""
    middle = (most - 1) / 2
    return [middle + (count - 1) / 2 - place for place in range(count)]


def through_widths(
    measured_shares: Mapping[str, FloatArray],
    expected_shares: Mapping[str, Sequence[float]],
    looks: Mapping[str, str],
) -> Figure:
    """Draw what is left of a signal's variance after each layer, one line for each rule.

    Args:
        measured_shares: name of the rule → share of the input variance, from layer 0 on.
        expected_shares: the same, calculated; drawn after every second layer.
        looks: name → `scaled` or a colour.
    """
    figure, axes = new_figure()
    for name, shares in measured_shares.items():
        layers = np.arange(len(shares))
        line = measured_line(axes, layers, shares, looks[name], label=f"{name}, measured")
        line.set_marker("none")
        dots = np.asarray(expected_shares[name])[::2]
        expected(axes, layers[::2], dots, looks[name], label=f"{name}, expected")
        label(axes, name, (float(layers[-1]) + 0.3, float(shares[-1])), looks[name])
    axes.set_yscale("log")
    axes.set(xlabel="layer", ylabel="signal variance / input variance", xlim=(-0.4, 25.5))
    axes.set_xticks(range(0, 21, 4))
    axes.axhline(1.0, color=colour("black"), linestyle="--", linewidth=1.4, label="target")
    axes.text(25.3, 0.85, "target", ha="right", va="top")
    return figure


# --- one drawn matrix -----------------------------------------------------------------------------


@dataclass(frozen=True)
class DrawnMatrix:
    """One matrix: how its weights lie between the limits, and its variance beside the target."""

    fan_in: int
    fan_out: int
    counts: Histogram
    variance: Comparison


def drawn_matrix(drawn: DrawnMatrix, axes: Sequence[Axes]) -> None:
    """Draw the weights as a histogram, and their variance as one bar in the band of chance.

    Args:
        axes: two panels.
    """
    weights, spread = axes
    edges = np.array(drawn.counts.edges)
    centres, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    measured(weights, centres, drawn.counts.counts, width=width, label="weights in the bin")
    share = drawn.counts.total / len(centres)
    expected(weights, centres, np.full(len(centres), share))
    weights.set_xticks([edges[0], 0.0, edges[-1]], [f"−{edges[-1]:.3g}", "0", f"{edges[-1]:.3g}"])
    weights.set(xlabel="weight, from −limit to limit", ylabel="count")
    weights.set_title(f"weights of [{drawn.fan_in}, {drawn.fan_out}]", fontsize=10)

    chance = 2.0 * drawn.variance.standard_error
    low, high = drawn.variance.target - chance, drawn.variance.target + chance
    spread.axhspan(low, high, color="#dddddd", label="target ± 2 standard errors", zorder=0)
    measured(spread, [0], [drawn.variance.measured], width=0.5, label="measured variance")
    target_mark(spread, drawn.variance.target)
    expected(spread, [0], [drawn.variance.expected])
    top = 1.15 * max(high, drawn.variance.measured)
    spread.set(xlim=(-0.8, 0.8), ylim=(0.0, top), ylabel="variance")
    spread.set_xticks([])
    spread.set_xlabel("grey: target ± 2 standard errors")
    spread.set_title("their variance", fontsize=10)
