"""Pictures of chapter 8: populations in shared bins, real passes, and two hundred networks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.figures.style import (
    colour,
    expected,
    label,
    measured,
    measured_line,
    new_figure,
    target,
)
from coursekit.measure import DepthRun, Histogram

FloatArray = NDArray[np.float64]
DOTS = 5  # about so many expected dots on a line
TINY = 1e-300  # stands for a second moment of 0 on a scale of powers


def populations(
    counted: Mapping[str, Histogram],
    expected_shares: Mapping[str, Sequence[float]],
    variances: Mapping[str, float],
) -> Figure:
    """Draw histograms with shared bins and axes, one panel each: bars measured, dots expected.

    Args:
        counted: start (`zero`, `oversized`, `scaled`) → histogram; all with the same edges.
        expected_shares: start → percentages that its distribution gives each bin.
        variances: start → measured variance, written above the bars.
    """
    figure, drawn = new_figure(1, len(counted), share_x=True, share_y=True)
    axes = np.atleast_1d(drawn)
    for panel, (start, one) in zip(axes, counted.items(), strict=True):
        edges = np.array(one.edges)
        centres = np.round((edges[:-1] + edges[1:]) / 2.0, 9)
        measured(panel, centres, one.percentages, start, width=0.09, label=start)
        expected(panel, centres, expected_shares[start])
        name = "xavier" if start == "scaled" else start
        panel.set_title(f"{name}\nvariance {variances[start]:.4f}", fontsize=9, color=colour(start))
        panel.set_xticks([-0.4, -0.2, 0.0, 0.2, 0.4])
        panel.tick_params(axis="x", labelsize=8)
        panel.set_xlabel("weight")
    axes[0].set_ylabel("share of the weights, %")
    return figure


class Passes(NamedTuple):
    """One network run forward and backward, and the second moments expected at each place."""

    run: DepthRun
    signals: Sequence[float]
    gradients: Sequence[float]


def passes(networks: Mapping[str, Passes]) -> Figure:
    """Draw signals and gradients of several networks, one panel each, on one scale of powers.

    Args:
        networks: title → passes, a number divisible by three.
    """
    rows = len(networks) // 3
    figure, drawn = new_figure(rows, 3, height=2.3 * rows, share_x=True, share_y=True)
    axes = np.atleast_2d(drawn)
    for panel, (title, one) in zip(axes.flat, networks.items(), strict=True):
        both_ways(panel, one)
        panel.set_title(title, fontsize=10)
    for panel in axes[-1]:
        panel.set_xlabel("layer")
    for panel in axes[:, 0]:
        panel.set_ylabel("second moment,\nas a power of ten")
    first = axes[0, 0]
    label(first, "signal →", (0, 1.6), "blue")
    label(first, "← gradient", (len(one.signals) - 1, -3.2), "purple", align="right")
    return figure


def both_ways(axes: Axes, one: Passes) -> None:
    """Draw the two passes of one network: lines measured, dots expected, both as powers of ten."""
    ways = (
        ("signal", "blue", one.run.signals, one.signals),
        ("gradient", "purple", one.run.gradients, one.gradients),
    )
    target(axes, 0.0, label="")
    for name, ink, found, calculated in ways:
        layers = np.arange(len(found))
        step = max(1, len(layers) // DOTS)
        moments = [max(place.second_moment, TINY) for place in found]
        line = measured_line(axes, layers, np.log10(moments), ink, label=name)
        line.set(marker="", linewidth=2.0)
        expected(axes, layers[::step], np.round(np.log10(calculated), 9)[::step], ink)
    depth = len(one.signals) - 1
    axes.set_xticks(range(0, depth + 1, -(-depth // DOTS)))


def many_networks(moments: FloatArray, width: int) -> Figure:
    """Draw mean, median and the middle 80% of many linear networks, on a scale of powers of ten.

    Args:
        moments: second moments relative to the input, shape [networks, layers + 1].
        width: features in each layer, for the expected median e^(−L/n).
    """
    figure, axes = new_figure()
    layers = np.arange(moments.shape[1])
    low, median, high = np.log10(np.quantile(moments, [0.1, 0.5, 0.9], axis=0))
    axes.fill_between(layers, low, high, color="#d9d9d9", label="middle 80%")
    target(axes, 0.0, label="")
    measured_line(axes, layers, np.log10(moments.mean(axis=0)), "blue", label="mean")
    measured_line(axes, layers, median, "vermillion", label="median")
    some = layers[:: len(layers) // DOTS]
    expected(axes, some, np.zeros(len(some)), "blue", label="expected mean")
    fallen = np.log10(np.exp(-some / width))
    expected(axes, some, fallen, "vermillion", label="expected median")
    end = layers[-1]
    for name, at, ink in (
        ("mean of all", float(np.log10(moments[:, -1].mean())), "blue"),
        ("median", float(median[-1]), "vermillion"),
        ("one in ten lies below", float(low[-1]), "black"),
        ("one in ten lies above", float(high[-1]), "black"),
    ):
        label(axes, name, (float(end), at), ink)
    axes.set_xlim(0, 1.45 * end)
    axes.set_xticks(range(0, end + 1, max(1, end // DOTS)))
    axes.set_xlabel("linear layers passed")
    axes.set_ylabel("kept of the signal,\nas a power of ten")
    return figure
