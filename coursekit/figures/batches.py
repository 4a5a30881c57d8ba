"""Pictures of chapter 10: how batches guess, what a running average remembers, who sees whom.

BatchNorm is orange; LayerNorm and RMSNorm keep the green and purple of chapter 9.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.figures.style import expected, measured, measured_line, new_figure, target

FloatArray = NDArray[np.float64]


def spread_of_statistics(
    sizes: Sequence[int],
    spreads: Mapping[str, Sequence[float]],
    rules: Mapping[str, Sequence[float]],
) -> Figure:
    """Draw for each statistic of a batch how far it strays, against the size of the batch.

    Args:
        sizes: values in a batch.
        spreads: statistic → measured standard deviation over many batches, for each size.
        rules: statistic → expected standard deviation, for each size.
    """
    figure, axes = new_figure(1, len(spreads), share_y=True)
    places = np.arange(len(sizes))
    for panel, (name, spread) in zip(axes, spreads.items(), strict=True):
        measured(panel, places, spread, "orange", width=0.7, label=f"{name}, measured")
        expected(panel, places, rules[name])
        panel.set_title(name, fontsize=10)
        panel.set_xticks(places, [str(size) for size in sizes])
        panel.set_xlabel("values in the batch, n")
    axes[0].set_ylabel("standard deviation over batches")
    return figure


def who_sees_whom(maps: Mapping[str, FloatArray]) -> Figure:
    """Draw for each norm how strongly the output of a token depends on the input of another.

    Args:
        maps: norm → size of the derivative, shape [output token, input token].
    """
    figure, axes = new_figure(1, len(maps), height=2.2)
    for panel, (name, sizes) in zip(axes, maps.items(), strict=True):
        panel.imshow(sizes, cmap="Greys", vmin=0.0, vmax=max(one.max() for one in maps.values()))
        tokens = np.arange(len(sizes))
        panel.set_xticks(tokens, [str(token + 1) for token in tokens])
        panel.set_yticks(tokens, [str(token + 1) for token in tokens])
        panel.grid(visible=False)
        ahead = int(np.count_nonzero(np.triu(sizes, 1) > 1e-9))
        panel.set_title(name, fontsize=9)
        panel.set_xlabel(f"input of token\n{ahead} look ahead", fontsize=9)
    axes[0].set_ylabel("output of token")
    return figure


def running_averages(
    running: Mapping[str, FloatArray],
    rules: Mapping[str, FloatArray],
    targets: Mapping[str, float],
    axes: Sequence[Axes],
) -> None:
    """Draw running statistics over the batches, with what is expected of them and their target.

    Args:
        running: statistic → value before the first batch and after each.
        rules: statistic → expected value at the same places; about ten are drawn.
        targets: statistic → what the average should come to.
        axes: one panel for each statistic.
    """
    for panel, (name, values) in zip(axes, running.items(), strict=True):
        places = np.arange(len(values))
        every = max(1, len(values) // 10)
        measured_line(panel, places, values, "orange", label=name)
        expected(panel, places[::every], rules[name][::every])
        target(panel, targets[name])
        panel.set_ylim(0.0, 3.0 * targets[name])
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("batches taken in")
