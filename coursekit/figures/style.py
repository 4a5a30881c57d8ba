"""One palette, one size, and three kinds of number that no picture confuses.

A measured number is a filled bar or a solid line. A target is a dashed line. An expected value,
which a formula gives and a sample only approaches, is an open dot. Chapters draw these through
`measured`, `measured_line`, `target`, `target_line` and `expected`, so that the convention has
one home.

Colours keep their meaning across the course: a zero start is grey, an oversized start
vermillion, a scaled start blue. Each start also has its own hatch and marker, so that a picture
printed in grey, or seen by eyes that merge red and green, still tells them apart.
Source of the colours: Okabe and Ito (2008), https://jfly.uni-koeln.de/color/; the grey is ours,
dark enough for a contrast of 3:1 on white.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike

from coursekit.errors import UnknownChoice

__all__ = [
    "COLOURS",
    "HEIGHT",
    "MEANING",
    "STYLE",
    "WIDTH",
    "Axes",
    "CourseAxes",
    "Figure",
    "blank_figure",
    "colour",
    "expected",
    "label",
    "measured",
    "measured_line",
    "new_figure",
    "panels",
    "target",
    "target_line",
]

WIDTH, HEIGHT = 6.0, 3.2  # inches

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "black": "#000000",
        "grey": "#8c8c8c",
        "orange": "#e69f00",
        "sky": "#56b4e9",
        "green": "#009e73",
        "yellow": "#f0e442",
        "blue": "#0072b2",
        "vermillion": "#d55e00",
        "purple": "#cc79a7",
    }
)
INK = "#1b1b1b"
_FINDING: Any = {"fontsize": 11, "fontweight": "bold"}
_HALO: Any = [withStroke(linewidth=3, foreground="white")]  # keeps a name readable on a bar


class Look(NamedTuple):
    """How one start is drawn: by colour, and twice more for those who do not see it."""

    colour: str
    hatch: str
    marker: str


MEANING: Mapping[str, Look] = MappingProxyType(
    {
        "zero": Look("grey", "", "s"),
        "oversized": Look("vermillion", "///", "^"),
        "scaled": Look("blue", "", "o"),
    }
)

STYLE: Any = {  # passed to rc_context, never written into the global settings
    "figure.facecolor": "white",
    "figure.figsize": (WIDTH, HEIGHT),
    "font.size": 10.0,
    "text.color": INK,
    "axes.facecolor": "white",
    "axes.edgecolor": "#555555",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.prop_cycle": cycler(color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"]),
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.8,
}


def colour(name: str) -> str:
    """Return the hex value of a palette colour, or of the start that owns it.

    Raises:
        UnknownChoice: the name is neither a colour of the palette nor a start.

    >>> colour("scaled") == colour("blue")
    True
    """
    if name in MEANING:
        return COLOURS[MEANING[name].colour]
    if name not in COLOURS:
        raise UnknownChoice("colour", name, (*MEANING, *COLOURS))
    return COLOURS[name]


class CourseAxes(Axes):
    """Axes whose title is the finding: bold, at the left; and whose legend has no frame.

    matplotlib looks these two up in its global settings when they are written, which the
    course leaves alone.
    """

    def set_title(self, *text: Any, **look: Any) -> Text:
        return super().set_title(*text, **{"loc": "left", **_FINDING, **look})

    def legend(self, *entries: Any, **look: Any) -> Legend:
        return super().legend(*entries, **{"frameon": False, **look})


def new_figure(
    rows: int = 1,
    columns: int = 1,
    *,
    height: float = HEIGHT,
    width: float = WIDTH,
    share_x: bool = False,
    share_y: bool = False,
) -> tuple[Figure, Any]:
    """Return a figure in the style of the course, and its axes (an array when more than one).

    Args:
        rows, columns: panels of the grid.
        height, width: inches; 6 × 3.2 unless the picture has several rows.
        share_x, share_y: give all panels one axis, as every comparison needs.

    >>> figure, axes = new_figure(1, 2, share_y=True)
    >>> len(axes)
    2
    """
    figure = blank_figure(width, height)
    figure.set_layout_engine("constrained")
    return figure, panels(figure, rows, columns, share_x=share_x, share_y=share_y)


def blank_figure(width: float = WIDTH, height: float = HEIGHT) -> Figure:
    """Return a white figure with nothing on it, in inches, that belongs to no pyplot window."""
    return Figure(figsize=(width, height), facecolor="white")


def panels(
    figure: Figure, rows: int = 1, columns: int = 1, *, share_x: bool = False, share_y: bool = False
) -> Any:
    """Add axes in the style of the course to a figure that is there already, as explorers do."""
    with mpl.rc_context(STYLE):
        return figure.subplots(
            rows, columns, sharex=share_x, sharey=share_y, subplot_kw={"axes_class": CourseAxes}
        )


def measured(
    axes: Axes,
    positions: ArrayLike,
    heights: ArrayLike,
    start: str | Sequence[str] = "scaled",
    *,
    width: float = 0.8,
    label: str | None = None,
) -> BarContainer:
    """Draw measured numbers as filled bars in the colour and hatch of their start.

    Args:
        positions: bar centres, numbers or names.
        heights: what was measured.
        start: `zero`, `oversized`, `scaled`, or a colour of the palette for anything else;
            a sequence gives each bar its own.
        width: of one bar, in units of the positions.
        label: name of the series in the text twin and in a legend.
    """
    starts = [start] if isinstance(start, str) else list(start)
    hatches = [MEANING[name].hatch if name in MEANING else "" for name in starts]
    return axes.bar(
        positions,
        heights,
        width=width,
        color=[colour(name) for name in starts],
        hatch=hatches,
        edgecolor="white",
        label=label,
    )


def measured_line(
    axes: Axes, x: ArrayLike, y: ArrayLike, start: str = "scaled", *, label: str | None = None
) -> Line2D:
    """Draw measured numbers that follow one another as a solid line; few ones get markers."""
    marker = MEANING[start].marker if start in MEANING else "o"
    (line,) = axes.plot(x, y, color=colour(start), linestyle="-", label=label)
    if np.size(line.get_xdata()) <= 20:
        line.set(marker=marker, markersize=5)
    return line


def target(
    axes: Axes, value: float, *, axis: Literal["x", "y"] = "y", label: str = "target"
) -> Line2D:
    """Draw one target across the whole axes as a dashed line, with its name beside it."""
    look: Any = {"color": COLOURS["black"], "linestyle": "--", "linewidth": 1.4, "label": label}
    place: Any
    if axis == "y":
        line = axes.axhline(value, **look)
        place = {"xy": (1, value), "xycoords": ("axes fraction", "data"), "xytext": (0, 3)}
        place["ha"] = "right"
    else:
        line = axes.axvline(value, **look)
        place = {"xy": (value, 1), "xycoords": ("data", "axes fraction"), "xytext": (4, -10)}
    axes.annotate(label, textcoords="offset points", path_effects=_HALO, **place)
    return line


def target_line(axes: Axes, x: ArrayLike, y: ArrayLike, *, label: str = "target") -> Line2D:
    """Draw a target that changes along the axis as a dashed line."""
    (line,) = axes.plot(
        x, y, color=COLOURS["black"], linestyle="--", linewidth=1.4, label=label, zorder=3
    )
    return line


def expected(
    axes: Axes, x: ArrayLike, y: ArrayLike, start: str = "black", *, label: str = "expected"
) -> Line2D:
    """Draw expected values as open dots, which stay visible on a bar of any colour."""
    (dots,) = axes.plot(
        x,
        y,
        linestyle="none",
        marker="o",
        markersize=7,
        markerfacecolor="none",
        markeredgecolor=colour(start),
        markeredgewidth=1.6,
        label=label,
        zorder=4,
        clip_on=False,  # a dot on the edge stays whole
    )
    return dots


def label(
    axes: Axes, text: str, at: tuple[float, float], start: str = "black", *, align: Any = "left"
) -> Annotation:
    """Write a name beside what it names, in its colour, instead of a legend entry."""
    return axes.annotate(
        text,
        at,
        xytext=(4 if align == "left" else 0, 3),
        textcoords="offset points",
        color=colour(start),
        ha=align,
        fontweight="bold",
        path_effects=_HALO,
    )
