"""Pictures of chapter 9: what a norm erases, where its gradient points, what rounding destroys.

LayerNorm is green and RMSNorm purple here and in chapter 10; the colours of the three starts stay
with the starts.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from coursekit.figures.style import (
    colour,
    expected,
    label,
    measured,
    measured_line,
    new_figure,
    target,
)

FloatArray = NDArray[np.float64]

NORM_COLOURS = {"LayerNorm": "green", "RMSNorm": "purple"}


def shift_and_scale(
    shifts: FloatArray,
    shifted: Mapping[str, FloatArray],
    factors: FloatArray,
    mean_squares: Mapping[str, FloatArray],
    rules: Mapping[str, FloatArray],
) -> Figure:
    """Draw the outputs of a row under a shift, and their mean square under a factor.

    Args:
        shifts: what is added to every feature.
        shifted: norm → outputs, shape [shifts, features]; first and last feature are drawn.
        factors: what every feature is multiplied by, above 0.
        mean_squares: norm → mean square of the outputs, one for each factor.
        rules: norm → expected mean squares for the same factors; every fifth is drawn.
    """
    figure, (left, right) = new_figure(1, 2)
    for norm, outputs in shifted.items():
        for feature, name in ((0, "first"), (-1, "last")):
            measured_line(
                left, shifts, outputs[:, feature], NORM_COLOURS[norm], label=f"{norm}, {name}"
            )
    label(left, "LayerNorm", (shifts[-1], shifted["LayerNorm"][-1, 0]), "green", align="right")
    label(left, "RMSNorm", (shifts[-1], 0.45), "purple", align="right")
    left.set(xlabel="shift c added to all features", ylabel="first and last output")
    left.set_title("A shift", fontsize=10)

    for norm, values in mean_squares.items():
        ink = NORM_COLOURS[norm]
        measured_line(right, factors, values, ink, label=norm)
        expected(right, factors[::5], rules[norm][::5], ink, label=f"{norm}, expected")
    target(right, 1.0)
    label(right, "RMSNorm", (5e-6, 0.74), "purple")
    label(right, "LayerNorm", (6e-3, 0.42), "green")
    right.set(xscale="log", xlabel="factor α on all features", ylabel="mean square of the output")
    right.set_ylim(0.0, 1.19)
    right.set_title("A factor", fontsize=10)
    return figure


def turning_gradients(
    rows: Sequence[FloatArray],
    output: FloatArray,
    arriving: FloatArray,
    gradients: Sequence[FloatArray],
) -> Figure:
    """Draw rows of three features in the plane where their mean is 0, with their gradients.

    Args:
        rows: centred rows, shape [3], all with the same normalized row.
        output: that normalized row, on the circle of radius √3.
        arriving: gradient h at the output.
        gradients: what reaches each row.
    """
    figure, axes = new_figure()
    angles = np.linspace(0.0, 2.0 * np.pi, 181)
    radius = np.sqrt(3.0)
    axes.plot(
        *(radius * np.array([np.cos(angles), np.sin(angles)])),
        color="#777777",
        linewidth=1.2,
        label="circle of all outputs",
    )
    start, end = in_plane(output), in_plane(output + arriving)
    _arrow(axes, start, end, "orange", "h, arriving at the output")
    label(axes, "h", (end[0] + 0.05, end[1] - 0.1), "orange")
    axes.plot(*start, marker="o", color=colour("orange"), markersize=6, label="output")
    for number, (row, gradient) in enumerate(zip(rows, gradients, strict=True), start=1):
        foot, tip = in_plane(row), in_plane(row + gradient)
        name = f"row {number}"
        _arrow(axes, foot, tip, "blue", f"gradient at {name}")
        axes.plot(*foot, marker="s", color=colour("black"), markersize=5, zorder=5, label=name)
        label(axes, name, (foot[0] - 0.05, foot[1] - 0.5))
    axes.plot(0.0, 0.0, marker="+", color=colour("black"), label="constant rows")
    label(axes, "constant rows", (-0.05, -0.5), align="center")
    axes.set_aspect("equal")
    axes.set(xlim=(-2.3, 6.0), ylim=(-2.0, 2.2))
    axes.set(xlabel="(x₁ − x₂)/√2", ylabel="(x₁ + x₂ − 2x₃)/√6")
    axes.set_title("The gradient turns a row and never stretches it")
    return figure


def in_plane(row: ArrayLike) -> FloatArray:
    """Return the two coordinates of a row of three features in the plane of mean 0.

    >>> in_plane([1.0, -1.0, 0.0]).round(6).tolist()
    [1.414214, 0.0]
    """
    first, second = np.array([1.0, -1.0, 0.0]), np.array([1.0, 1.0, -2.0])
    row = np.asarray(row, dtype=np.float64)
    return np.array([row @ first / np.sqrt(2.0), row @ second / np.sqrt(6.0)])


def _arrow(axes: Axes, start: FloatArray, end: FloatArray, ink: str, name: str) -> None:
    axes.plot(*zip(start, end, strict=True), color=colour(ink), linewidth=1.8, label=name)
    look = {"arrowstyle": "-|>", "color": colour(ink), "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(end), tuple(start), arrowprops=look)


def shortcut_errors(
    means: FloatArray, errors: Mapping[str, FloatArray], rules: Mapping[str, FloatArray]
) -> Figure:
    """Draw the relative error of a computed variance against the mean, both axes logarithmic.

    Args:
        means: of the row, in units of its standard deviation.
        errors: name of a way to compute → relative error for each mean, above 0.
        rules: name → expected size of the error, for the same means.
    """
    figure, axes = new_figure()
    inks = dict(zip(errors, ("vermillion", "orange", "green"), strict=True))
    for name, values in errors.items():
        measured_line(axes, means, values, inks[name], label=name)
    for name, values in rules.items():
        expected(axes, means[::4], values[::4], inks[name], label=f"{name}, rule")
    target(axes, 1.0, label="100 %")
    axes.set(xscale="log", yscale="log", ylim=(1e-17, 1e6))
    axes.set(xlabel="mean, in standard deviations", ylabel="relative error of the variance")
    place = len(means) * 5 // 8
    for name, values in errors.items():
        below = 1e-3 if name == "shortcut, float64" else 4.0  # where no other line runs
        align = "left" if below < 1.0 else "right"
        label(axes, name, (means[place], values[place] * below), inks[name], align=align)
    return figure


def row_and_norms(row: FloatArray, outputs: Mapping[str, FloatArray], axes: Sequence[Axes]) -> None:
    """Draw a row and what each norm makes of it: three panels of bars, the norms on one scale.

    Args:
        row: the features.
        outputs: norm → normalized row.
        axes: one panel for the row, one for each norm.
    """
    places = np.arange(1, len(row) + 1)
    names = {"the row": row, **outputs}
    for panel, (name, values) in zip(axes, names.items(), strict=True):
        measured(panel, places, values, NORM_COLOURS.get(name, "grey"), width=0.7, label=name)
        panel.axhline(0.0, color="#555555", linewidth=0.8, label="zero")
        panel.set_title(name, fontsize=10)
        panel.set_xticks(places)
        panel.set_xlabel("feature")
    reach = max(1.0, 1.1 * float(np.abs(row).max()))
    axes[0].set_ylim(-reach, reach)
    for panel in axes[1:]:
        panel.set_ylim(-2.2, 2.2)
