"""Pictures of chapter 1: do hidden units that begin equal ever part?"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.figures.style import measured, measured_line, new_figure

FloatArray = NDArray[np.float64]


def weight_paths(paths: Mapping[str, FloatArray], looks: Mapping[str, str]) -> Figure:
    """Draw each start as a panel: one line a unit, its first weight over the steps.

    Args:
        paths: title → weights after each step, shape [steps + 1, inputs, units].
        looks: title → `zero`, `oversized`, `scaled` or a colour.
    """
    figure, axes = new_figure(1, len(paths), share_x=True, share_y=True)
    for panel, (title, path) in zip(axes, paths.items(), strict=True):
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("training step")
        for unit in range(path.shape[2]):
            name = f"unit {unit + 1}"
            measured_line(panel, np.arange(len(path)), path[:, 0, unit], looks[title], label=name)
        finals = np.unique(np.round(path[-1, 0], 6))
        told = f"{len(finals)} value{'s' * (len(finals) > 1)} left"
        panel.text(0.97, 0.93, told, transform=panel.transAxes, ha="right")
    axes[0].set_ylabel("weight from input 1")
    return figure


def gradient_columns(gradient: FloatArray, axes: Sequence[Axes]) -> None:
    """Draw the two gradient columns of a two-unit layer side by side, as bars.

    Args:
        gradient: shape [2, 2], column = unit.
        axes: two panels that share their vertical axis.
    """
    for unit, panel in enumerate(axes):
        measured(panel, [1, 2], gradient[:, unit], width=0.6, label=f"unit {unit + 1}")
        panel.set_title(f"gradient column of unit {unit + 1}", fontsize=10)
        panel.set_xticks([1, 2], ["from input 1", "from input 2"])
        panel.axhline(0.0, color="#555555", linewidth=0.8, label="zero")
    reach = max(1.0, 1.15 * float(np.abs(gradient).max()))
    axes[0].set_ylim(-reach, reach)
    axes[0].set_ylabel("∂y/∂W")
