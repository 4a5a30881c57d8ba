"""Pictures of chapter 11: loss over time and gradients over depth, one line a start."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coursekit.figures.style import COLOURS, colour, measured_line, new_figure

LOOKS = {
    "zero": "zero",
    "small": "sky",
    "xavier": "scaled",
    "he": "green",
    "oversized": "oversized",
}
GUESSING = float(np.log(10.0))  # loss of ten equally likely classes, nats


def loss_curves(steps: Sequence[int], losses: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the loss of each start at the steps at which it was recorded, in nats."""
    figure, axes = new_figure()
    for start, values in losses.items():
        measured_line(axes, steps, values, LOOKS[start], label=start)
    axes.axhline(GUESSING, color=COLOURS["black"], linewidth=0.8, linestyle=":", label="guessing")
    axes.set_xlabel("training step")
    axes.set_ylabel("cross-entropy in nats")
    axes.legend(ncols=3, fontsize=9)
    return figure


def gradient_profile(norms: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the length of the first gradient of each weight matrix, from entry to exit."""
    figure, axes = new_figure()
    for start, values in norms.items():
        if any(values):
            measured_line(axes, np.arange(len(values)), values, LOOKS[start], label=start)
    axes.set_yscale("log")
    axes.set_xlabel("weight matrix, from entry (0) to exit")
    axes.set_ylabel("length of the gradient")
    axes.legend(ncols=2, fontsize=9)
    return figure


def seed_bands(
    axes: Axes, steps: Sequence[int], curves: Mapping[str, Sequence[Sequence[float]]]
) -> None:
    """Draw for each start the median loss over its seeds, and the range as a band.

    Args:
        steps: at which losses were recorded.
        curves: start → one curve a seed; a curve that broke off is filled up with the worst shown.
    """
    for start, runs in curves.items():
        values = np.clip(np.array(runs), 1e-3, 1e2)
        low, high = values.min(axis=0), values.max(axis=0)
        axes.fill_between(steps, low, high, color=colour(LOOKS[start]), alpha=0.18, linewidth=0)
        measured_line(axes, steps, np.median(values, axis=0), LOOKS[start], label=start)
    axes.axhline(GUESSING, color=COLOURS["black"], linewidth=0.8, linestyle=":", label="guessing")
    axes.set_yscale("log")
    axes.set_ylim(2e-3, 1e2)
    axes.set_xlabel("training step")
    axes.set_ylabel("cross-entropy in nats")
    axes.legend(ncols=3, fontsize=8)
