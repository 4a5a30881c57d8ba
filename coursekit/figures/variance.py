"""Pictures of chapter 3: a signal from layer to layer, the way back, and what breaks the rule."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from coursekit.figures.style import (
    colour,
    expected,
    label,
    measured,
    measured_line,
    new_figure,
    target,
)
from coursekit.measure import DepthRun, expected_backward, expected_forward

DOTS = 10  # at most so many steps between expected dots


class Trail(NamedTuple):
    """One quantity from layer to layer, as measured and as expected; index 0 is the input."""

    measured: Sequence[float]
    expected: Sequence[float]


def growth(paths: Mapping[str, Trail], starts: Mapping[str, str]) -> Figure:
    """Draw variances through depth on a scale of powers of ten, each path named at its end.

    Args:
        paths: name → path; every variance above 0.
        starts: name → `zero`, `oversized`, `scaled` or a colour.
    """
    figure, axes = new_figure()
    for name, path in paths.items():
        powers(axes, path, starts[name])
        depth = len(path.measured) - 1
        label(axes, name, (depth, np.log10(path.measured[-1])), starts[name])
    target(axes, 0.0, label="")
    axes.set_xlim(-1, 1.42 * depth)
    axes.set_xticks(range(0, depth + 1, -(-depth // 5)))
    axes.set_ylabel("variance, as a power of ten")
    return figure


def powers(axes: Axes, path: Trail, start: str) -> None:
    """Draw one path: measured as a line, expected as open dots, both as powers of ten."""
    layers = np.arange(len(path.measured))
    step = -(-(len(layers) - 1) // DOTS)  # rounded up
    measured_line(axes, layers, np.log10(path.measured), start, label="measured")
    exponents = np.round(np.log10(path.expected), 9)  # 0, not 4e-16, where the factor is 1
    expected(axes, layers[::step], exponents[::step])
    axes.set_xlabel("layers passed")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def there_and_back(
    panels: Mapping[str, tuple[DepthRun, Sequence[float]]], widths: Sequence[int]
) -> Figure:
    """Draw signals and gradients through linear layers of unequal widths, one panel for each rule.

    Args:
        panels: title → (a run with gradients, the target variance of each layer's weights).
        widths: features before, between and after the layers.
    """
    figure, axes = new_figure(1, len(panels), share_x=True, share_y=True)
    for panel, (title, (run, variances)) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        forward = [signal.variance for signal in run.signals]
        backward = [gradient.variance for gradient in run.gradients]
        _named(panel, "signal", "blue", Trail(forward, expected_forward(widths, variances)))
        _named(panel, "gradient", "purple", Trail(backward, expected_backward(widths, variances)))
        target(panel, 1.0, label="")
        panel.set_title(title, fontsize=10)
        panel.set_yscale("log", base=2)
        panel.set_xticks(range(len(widths)), [str(width) for width in widths])
        panel.set_xlabel("features at this place")
    np.atleast_1d(axes)[0].set_ylabel("variance")
    return figure


def _named(axes: Axes, name: str, ink: str, trail: Trail) -> None:
    """Draw one trail, its name at the end that lies away from 1."""
    places = range(len(trail.measured))
    measured_line(axes, places, trail.measured, ink, label=name)
    expected(axes, places, trail.expected)
    last = abs(np.log(trail.expected[-1])) > abs(np.log(trail.expected[0]))
    end, align = (len(places) - 1, "right") if last else (0, "left")
    label(axes, name, (end, trail.measured[end]), ink, align=align)


class Trial(NamedTuple):
    """An assumption broken on one side or on both: what was measured and what is expected."""

    measured: Sequence[float]
    expected: Sequence[float]


SIDES = (("w", "sky"), ("x", "green"), ("both", "vermillion"))


def broken_pairs(trials: Mapping[str, Trial]) -> Figure:
    """Draw how much too large the output is: bars for w, x and both, by assumption.

    Args:
        trials: assumption → trial of three factors each, in the order of `SIDES`.
    """
    figure, axes = new_figure()
    places = np.arange(len(trials))
    for side, (name, ink) in enumerate(SIDES):
        at = places + 0.27 * (side - 1)
        heights = [trial.measured[side] for trial in trials.values()]
        measured(axes, at, heights, ink, width=0.25, label=f"broken in {name}")
        expected(axes, at, [trial.expected[side] for trial in trials.values()])
        for place, height in zip(at, heights, strict=True):
            axes.text(place, 1.25 * max(height, 1.0), name, ha="center", color=colour("black"))
    target(axes, 1.0, label="")
    axes.set_yscale("log")
    axes.set_ylim(0.5, 400)
    axes.set_xticks(places, list(trials))
    axes.set_ylabel("mean square of y, rule = 1")
    return figure
