"""Pictures of chapter 12: what a policy of starting values does to a decoder's signals."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from coursekit.figures.style import (
    expected,
    label,
    measured,
    measured_line,
    new_figure,
    target,
)

FloatArray = NDArray[np.float64]


def stream_growth(runs: Mapping[str, FloatArray], looks: Mapping[str, str], start: float) -> Figure:
    """Draw the mean square of the residual stream after each block, one line for each start.

    Args:
        runs: name of the start → mean squares, shape [networks, blocks + 1].
        looks: name of the start → `zero`, `oversized`, `scaled` or a colour.
        start: what would stay if every block preserved the mean square.
    """
    figure, axes = new_figure()
    for name, moments in runs.items():
        average = moments.mean(axis=0)
        blocks = np.arange(len(average))
        measured_line(axes, blocks, average, looks[name], label=name)
        label(axes, name, (float(blocks[-1]), float(average[-1])), looks[name], align="right")
    target(axes, start, label="preserved: the table's mean square")
    axes.set_yscale("log")
    axes.set_ylim(start / 3, 30)
    axes.set_xlabel("blocks passed")
    axes.set_ylabel("mean square of the stream")
    return figure


def row_moments(axes: Axes, moments: FloatArray, foretold: FloatArray) -> None:
    """Draw the mean square of looked-up rows, then scaled, then normalized.

    Args:
        moments, foretold: three numbers each, measured and expected.
    """
    names = ["row as looked up", "after forward scaling", "after RMSNorm"]
    measured(axes, [1, 2, 3], moments, ["sky", "sky", "scaled"], width=0.6, label="measured")
    expected(axes, [1, 2, 3], foretold)
    target(axes, 1.0)
    axes.set_xticks([1, 2, 3], names)
    axes.set_yscale("log")
    axes.yaxis.set_minor_locator(NullLocator())  # they cost half of a redraw
    axes.set_ylim(1e-4, 1e3)
    axes.set_ylabel("mean square")
