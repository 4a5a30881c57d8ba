"""Picture of chapter 0: measured variance against its target as a matrix grows."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from coursekit.figures.style import expected, measured, new_figure, target
from coursekit.measure import Comparison


def measured_over_target(sides: Sequence[int], results: Sequence[Comparison]) -> Figure:
    """Draw measured and expected variance over target, one bar and one dot a matrix.

    Args:
        sides: rows (and columns) of each square matrix.
        results: its variance, compared.
    """
    figure, axes = new_figure()
    places = list(range(len(sides)))
    measured(axes, places, [r.measured / r.target for r in results], label="measured")
    expected(axes, places, [r.expected / r.target for r in results])
    target(axes, 1.0)
    axes.set_xticks(places, [f"{side} × {side}" for side in sides])
    axes.set_xlabel("matrix (all drawn from seed 17)")
    axes.set_ylabel("variance / target")
    axes.set_ylim(0.0, 1.35)
    axes.set_title("the larger the sample, the closer to its target")
    return figure
