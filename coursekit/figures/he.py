"""Pictures of chapter 5: heights become normal numbers, and rectifiers halve a signal."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.figures.style import colour, expected, label, measured, measured_line, new_figure
from coursekit.figures.style import target as target_mark
from coursekit.normal import inverse_normal

FloatArray = NDArray[np.float64]
EDGE = 3.2  # standard deviations shown to either side


def inverse_sampling(share: float, cells: int = 16, drawn: Sequence[float] = ()) -> Figure:
    """Draw how equal cells of height become points of the normal curve, whole and cut.

    Args:
        share: the middle part of the height that the right panel keeps.
        cells: how many equal cells to follow, by their midpoints.
        drawn: heights that a generator gave, marked in the left panel.
    """
    figure, axes = new_figure(1, 2, share_x=True, share_y=True, height=3.4)
    for panel, kept, heights in ((axes[0], 1.0, drawn), (axes[1], share, ())):
        _falling(panel, [kept * ((k + 0.5) / cells - 0.5) for k in range(cells)], "sky", "cells")
        if heights:
            _falling(panel, [height - 0.5 for height in heights], "blue", "draws of seed 17")
        x = np.linspace(-EDGE, EDGE, 129)
        curve = [0.5 * math.erfc(-point / math.sqrt(2.0)) for point in x]
        panel.plot(x, curve, color=colour("black"), linewidth=1.6, label="Φ")
        panel.set(xlim=(-EDGE, EDGE), ylim=(0.0, 1.0), xlabel="x, in standard deviations")
        panel.grid(False)
    lost = (1.0 - share) / 2.0
    for low, high in ((0.0, lost), (1.0 - lost, 1.0)):
        axes[1].axhspan(low, high, color=colour("grey"), alpha=0.6, label="cut away")
    axes[0].set_ylabel("height u")
    axes[0].set_title(f"{cells} equal cells of the whole", fontsize=10)
    axes[1].set_title(f"… of the middle {100 * share:.2f} %", fontsize=10)
    return figure


def _falling(axes: Axes, centred: Sequence[float], ink: str, name: str) -> None:
    """From the height on the left to the curve, then down to the axis."""
    paths = [[(-EDGE, q + 0.5), (inverse_normal(q), q + 0.5)] for q in centred]
    paths += [[(inverse_normal(q), q + 0.5), (inverse_normal(q), 0.0)] for q in centred]
    width = 1.8 if ink == "blue" else 0.9
    axes.add_collection(LineCollection(paths, colors=colour(ink), linewidths=width, label=name))


def lineup(
    variances: Sequence[float], relative_error: float, targets: Mapping[str, float]
) -> Figure:
    """Draw the measured variance of nameless matrices as bars beside the targets of the rules.

    Args:
        variances: one for each matrix.
        relative_error: standard error as a share of the variance; whiskers are three of them long.
        targets: name of the rule → target variance.
    """
    figure, axes = new_figure()
    names = [f"matrix {letter}" for letter in "ABCDEF"[: len(variances)]]
    places = [float(place) for place in range(len(names))]
    measured(axes, places, variances, "green", width=0.5, label="measured variance")
    whiskers = [
        [(place, value * (1 - 3 * relative_error)), (place, value * (1 + 3 * relative_error))]
        for place, value in zip(places, variances, strict=True)
    ]
    axes.add_collection(
        LineCollection(whiskers, colors=colour("black"), linewidths=2, label="± 3 standard errors")
    )
    for name, value in targets.items():
        target_mark(axes, value, label=name)
    axes.set_xticks(places, names)
    axes.set(xlim=(-0.6, len(names) - 0.2), ylim=(0.0, 1.2 * max(targets.values())))
    axes.set_ylabel("variance of the weights")
    return figure


def through_rectifiers(
    measured_moments: Mapping[str, FloatArray],
    expected_moments: Mapping[str, Sequence[float]],
    looks: Mapping[str, str],
) -> Figure:
    """Draw the second moment after each ReLU layer on a logarithmic axis, one line a rule.

    Args:
        measured_moments: name of the rule → second moments from layer 0 on.
        expected_moments: the same, calculated; drawn after every fourth layer.
        looks: name → `oversized`, `scaled` or a colour.
    """
    figure, axes = new_figure()
    for name, moments in measured_moments.items():
        layers = np.arange(len(moments))
        line = measured_line(axes, layers, moments, looks[name], label=f"{name}, measured")
        line.set_marker("none")
        dots = np.asarray(expected_moments[name])[::4]
        expected(axes, layers[::4], dots, looks[name], label=f"{name}, expected")
        label(axes, name, (float(layers[-1]) + 0.3, float(dots[-1])), looks[name])
    axes.set_yscale("log")
    axes.axhline(1.0, color=colour("black"), linestyle="--", linewidth=1.4, label="target")
    axes.text(26.8, 0.6, "target", ha="right", va="top")
    axes.set(xlabel="layer", ylabel="second moment after ReLU", xlim=(-0.4, 27.0))
    axes.set_xticks(range(0, 21, 4))
    return figure


# --- a gain that fits one size of signal ----------------------------------------------------------


@dataclass(frozen=True)
class FittedGain:
    """What an activation keeps of a second moment, and what a gain fitted at one size then does."""

    activation: str
    fitted: float
    arriving: float
    sizes: FloatArray
    kept: FloatArray
    moments: tuple[float, ...]


def fitted_gain(result: FittedGain, axes: Sequence[Axes]) -> None:
    """Draw what is kept at each size, and the second moment through depth under one gain.

    Args:
        axes: two panels.
    """
    share, depth = axes
    share.plot(
        result.sizes, result.kept, color=colour("blue"), label=f"kept by {result.activation}"
    )
    at_fit = np.interp(np.log(result.fitted), np.log(result.sizes), result.kept)
    expected(share, [result.fitted], [at_fit], label="the gain is fitted here")
    share.axvline(result.arriving, color=colour("grey"), linestyle=":", label="what arrives")
    share.set_xscale("log", base=4)
    share.set_xticks([1 / 16, 1 / 4, 1, 4, 16], ["1/16", "1/4", "1", "4", "16"])
    share.set(ylim=(0.0, 1.05), xlabel="q (dot: fitted, dotted: arriving)", ylabel="E[f(z)²] / q")
    share.set_title("kept by the activation", fontsize=10)

    expected(depth, np.arange(len(result.moments))[::2], result.moments[::2])
    target_mark(depth, result.arriving)
    depth.set_yscale("log")
    depth.set(ylim=(1e-7, 1e7), xlabel="layer")
    depth.set_ylabel("q, expected", labelpad=-2)
    depth.set_title("through the layers", fontsize=10)
