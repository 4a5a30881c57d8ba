"""Picture of exercise 6: what the variance of four weights can be."""

import numpy as np
from matplotlib.figure import Figure

from coursekit.figures.style import colour, label, measured, new_figure, target
from coursekit.measure.sample import Histogram


def sampling_distribution(counted: Histogram, target_variance: float, observed: float) -> Figure:
    """Draw how often each variance occurs, with the target and the variance of one matrix.

    Args:
        counted: variances of many matrices in equal bins.
        target_variance: of the rule that drew them.
        observed: that of the matrix to be marked.
    """
    figure, axes = new_figure()
    edges = np.array(counted.edges)
    width = float(edges[1] - edges[0])
    measured(
        axes,
        (edges[1:] + edges[:-1]) / 2,
        counted.percentages,
        width=width,
        label="share of the matrices in the bin",
    )
    target(axes, target_variance, axis="x")
    top = 1.3 * max(counted.percentages)
    axes.axvline(observed, color=colour("orange"), linewidth=2.0, label="seed 17")
    label(axes, "seed 17", (observed, 0.9 * top), "orange")
    axes.set(xlabel="variance of the four weights", ylabel="% of the matrices", ylim=(0.0, top))
    return figure
