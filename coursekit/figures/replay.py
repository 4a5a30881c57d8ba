"""Pictures of chapter 6: which parameter owns which draw of the stream, and what that does."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from coursekit.figures.style import COLOURS, colour, expected, measured, new_figure

FloatArray = NDArray[np.float64]
# Owners in the order in which a program declares them: parameter → how many draws it takes.
Owners = Sequence[tuple[str, int]]

LOOKS = {"query": "sky", "table": "orange"}  # every other parameter is a guest
GUEST = "purple"
DARK = COLOURS["black"]


def stream_owners(programs: Mapping[str, Owners]) -> Figure:
    """Draw one line of cells for each program: cell j is draw j, its colour the owner.

    Args:
        programs: what the program does → its parameters, in declaration order.
    """
    figure, axes = new_figure(height=0.75 + 0.5 * len(programs))
    owner_rows(axes, programs)
    return figure


def owner_rows(axes: Axes, programs: Mapping[str, Owners]) -> None:
    """Draw the lines of `stream_owners` on axes that are there already, the first one on top."""
    longest = 0
    for row, owners in enumerate(programs.values()):
        first = 1
        for name, draws in owners:
            if not draws:
                continue
            axes.barh(
                row,
                draws,
                left=first - 0.5,
                height=0.7,
                color=colour(LOOKS.get(name, GUEST)),
                label=name,
            )
            centre = first + (draws - 1) / 2
            axes.text(centre, row, name, ha="center", va="center", color=DARK, fontweight="bold")
            first += draws
        longest = max(longest, first - 1)
    borders = np.arange(longest) + 0.5
    axes.vlines(borders, -0.5, len(programs) - 0.5, color="white", linewidth=0.8, label="borders")
    axes.set_yticks(range(len(programs)), list(programs))
    axes.set_ylim(len(programs) - 0.5, -0.5)
    axes.set_xlim(0.4, longest + 0.6)
    axes.xaxis.set_major_locator(MultipleLocator(2, offset=1))
    axes.set_xlabel("draw of the stream")
    axes.grid(visible=False)
    axes.tick_params(left=False)


def slid_table(axes: Axes, now: FloatArray, foretold: FloatArray) -> None:
    """Draw the table's weights as they are drawn now, and the old ones where they should be.

    Args:
        now: the weights, row-major.
        foretold: the old weights that are expected at the first places; perhaps fewer.
    """
    places = np.arange(1, now.size + 1)
    measured(axes, places, now, "orange", width=0.7, label="table as drawn")
    expected(axes, places[: foretold.size], foretold, label="old weight, expected here")
    axes.axhline(0.0, color="#555555", linewidth=0.8, label="zero")
    axes.set_title("the table now (bars), its old weights where expected (dots)", fontsize=10)
    axes.set_xticks(places)
    axes.set_ylim(-1.15, 1.15)
    axes.set_xlabel("place in the table, row-major")
    axes.set_ylabel("weight")
