"""Read a picture back as numbers: the text twin of a figure.

A notebook run compares text and skips pictures, so a wrong picture would pass. The twin closes
the gap: its numbers are taken from the artists that were drawn (bar heights, line data, dots,
image values, labels, limits), not from the arrays that were meant to be drawn. It also tells a
reader who does not see the picture what is in it.

Long series are told by count, range, mean and a few points: one changed value changes the mean.
Not promised: that text overlaps nothing, or that a colour map is well chosen. Pixel comparison in
the tests, and a look, are for that.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch, Rectangle, StepPatch
from matplotlib.table import Table
from matplotlib.text import Text

from coursekit.figures.style import COLOURS

WHOLE = 12  # up to so many points are written out
SAMPLES = 5  # of a longer series
NOISE = 1e-9  # of the largest magnitude in a series: below it, a value is told as 0
NUDGE = 1 + 1e-12  # lifts exact ties, so that a last bit never decides how a digit is rounded

_NAMES = {value: name for name, value in COLOURS.items()} | {"#ffffff": "white"}
_LINE = {"-": "line", "--": "dashed line", ":": "dotted line", "-.": "dash-dotted line"}


def numbers(figure: Figure, digits: int = 6) -> str:
    """Return what the artists of `figure` show, one line for each, in drawing order.

    Args:
        digits: significant digits of every number, at most 6.

    >>> from coursekit.figures import new_figure, measured, target
    >>> figure, axes = new_figure()
    >>> _ = measured(axes, ["a", "b"], [0.25, 0.5], label="variance"); _ = target(axes, 0.5)
    >>> print(numbers(figure))
    axes: x from -0.49 to 1.49, at a, b; y from 0 to 0.525
      bars "variance" (blue): 0.25, 0.5
      dashed line "target" (black): y = 0.5
      text: target
    """
    tell = _Teller(digits)
    lines = [f"text: {_flat(text.get_text())}" for text in figure.texts if text.get_text()]
    several = len(figure.axes) > 1
    for number, axes in enumerate(figure.axes, start=1):
        lines += tell.axes(axes, f"axes {number}" if several else "axes")
    return "\n".join(lines)


def number(value: float, digits: int = 6) -> str:
    """Write a number with at most `digits` significant digits, the same on every machine.

    >>> number(1 / 3), number(-0.0), number(2**40), number(float("nan"))
    ('0.333333', '0', '1.09951e+12', 'nan')
    """
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    return format(value * NUDGE if value else 0.0, f".{digits}g")


class _Teller:
    """Turns artists into lines of text, all with the same number of digits."""

    def __init__(self, digits: int) -> None:
        self.digits, self.noise = digits, NOISE

    # --- axes ---------------------------------------------------------------------------------

    def axes(self, axes: Any, name: str) -> Iterator[str]:
        if not axes.get_visible():
            return
        # A logarithmic axis shows what is a billionth of the largest value as plainly as any.
        self.noise = 0.0 if "log" in (axes.get_xscale(), axes.get_yscale()) else NOISE
        title = "".join(axes.get_title(loc) for loc in ("left", "center", "right"))
        yield name + (f' "{_flat(title)}"' if title else "") + self._frame(axes)
        bars = [c for c in axes.containers if isinstance(c, BarContainer)]
        told = {id(patch) for container in bars for patch in container}
        for container in bars:
            yield "  " + self._bars(container)
        for artist in axes.get_children():
            if id(artist) not in told and artist.get_visible() and artist is not axes.patch:
                yield from (f"  {line}" for line in self._artist(artist, axes))

    def _frame(self, axes: Axes) -> str:
        if not axes.axison:
            return ":"
        return f": {self._axis(axes, 'x')}; {self._axis(axes, 'y')}"

    def _axis(self, axes: Axes, which: str) -> str:
        axis = axes.xaxis if which == "x" else axes.yaxis
        low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
        text = f'{which} "{_flat(axis.get_label_text())}"' if axis.get_label_text() else which
        text += f" from {self.one(low)} to {self.one(high)}"
        if axis.get_scale() != "linear":
            text += f" ({axis.get_scale()})"
        if type(axis.get_major_formatter()).__name__ in ("FixedFormatter", "StrCategoryFormatter"):
            names = [_flat(tick.get_text()) for tick in axis.get_ticklabels() if tick.get_text()]
            text += f", at {', '.join(names)}" if names else ""
        return text

    # --- artists ------------------------------------------------------------------------------

    def _artist(self, artist: Any, axes: Axes) -> Iterator[str]:
        match artist:
            case Line2D():
                yield self._line(artist, axes)
            case PathCollection():
                yield self._named("dots", artist) + self._points(artist.get_offsets())
            case LineCollection():
                yield self._named("segments", artist) + self._points(
                    _stacked(artist.get_segments())
                )
            case QuadMesh():
                yield self._named("cells", artist) + self._grid(artist.get_array())
            case Collection():
                outlines = _stacked([path.vertices for path in artist.get_paths()])
                yield self._named("area", artist) + self._points(outlines)
            case AxesImage():
                yield self._named("image", artist) + self._grid(artist.get_array())
            case StepPatch():
                values, edges, _ = artist.get_data()
                steps = f"{self._series(values)}; edges {self._series(edges)}"
                yield self._named("steps", artist) + steps
            case FancyArrowPatch():
                yield "arrow"
            case Rectangle():
                corner = self._points([artist.get_xy()])
                size = f"{self.one(artist.get_width())} by {self.one(artist.get_height())}"
                yield self._named("rectangle", artist) + f"{size} at {corner}"
            case Patch() if artist not in axes.spines.values():
                vertices = artist.get_patch_transform().transform(artist.get_path().vertices)
                yield self._named("shape", artist) + self._points(vertices)
            case Text() if artist.get_text() and not _is_title(artist, axes):
                yield f"text: {_flat(artist.get_text())}"
            case Legend():
                yield f"legend: {', '.join(_flat(t.get_text()) for t in artist.get_texts())}"
            case Table():
                cells = [cell.get_text().get_text() for cell in artist.get_celld().values()]
                yield f"table: {', '.join(map(_flat, cells))}"
            case Axes():
                yield from self.axes(artist, "inset")

    def _bars(self, container: BarContainer) -> str:
        upright = container.orientation != "horizontal"
        lengths = [bar.get_height() if upright else bar.get_width() for bar in container]
        feet = [bar.get_y() if upright else bar.get_x() for bar in container]
        label = str(container.get_label())
        name = "bars" + ("" if label.startswith("_") else f' "{_flat(label)}"')
        colours = list(dict.fromkeys(_colour_name(bar.get_facecolor()) for bar in container))
        text = f"{name} ({', '.join(colours)}): {self._series(lengths)}"
        return text + (f"; standing on {self._series(feet)}" if any(feet) else "")

    def _line(self, line: Any, axes: Axes) -> str:
        style, marker = str(line.get_linestyle()), line.get_marker()
        kind = _LINE.get(style, "line")
        ink = line.get_color()
        if style in ("None", "none", " ", ""):
            hollow = str(line.get_markerfacecolor()) in ("none", "None", "white", "w")
            kind = "open dots" if hollow else "dots"
            ink = line.get_markeredgecolor() if hollow else line.get_markerfacecolor()
        elif marker not in ("None", "none", None, " ", ""):
            kind += " with dots"
        label = str(line.get_label())
        name = kind + ("" if label.startswith("_") else f' "{_flat(label)}"')
        name += f" ({_colour_name(ink)}): "
        x, y = np.asarray(line.get_xdata(False)), np.asarray(line.get_ydata(False))
        if line.get_transform() == axes.get_yaxis_transform(which="grid"):
            return name + f"y = {self.one(y[0])}"
        if line.get_transform() == axes.get_xaxis_transform(which="grid"):
            return name + f"x = {self.one(x[0])}"
        return name + self._points(np.column_stack([x, y]) if x.size else [])

    def _named(self, kind: str, artist: Any) -> str:
        label = str(artist.get_label())
        return kind + (": " if label.startswith("_") or not label else f' "{_flat(label)}": ')

    # --- numbers ------------------------------------------------------------------------------

    def one(self, value: float, scale: float = 0.0) -> str:
        return number(0.0 if abs(value) < self.noise * scale else value, self.digits)

    def _points(self, points: Any) -> str:
        array = _plain(points).reshape(-1, 2)
        if not len(array):
            return "none"
        scales = [_scale(array[:, 0]), _scale(array[:, 1])]
        chosen = array if len(array) <= WHOLE else array[_spread(len(array))]
        pairs = ", ".join(
            f"({', '.join(self.one(v, s) for v, s in zip(point, scales, strict=True))})"
            for point in chosen
        )
        if len(array) <= WHOLE:
            return pairs
        ranges = "; ".join(
            f"{axis} {self._summary(array[:, column])}" for column, axis in enumerate("xy")
        )
        return f"{len(array)} points, {ranges}; among them {pairs}"

    def _series(self, values: Iterable[float]) -> str:
        array = _plain(list(values))
        if not len(array):
            return "none"
        chosen = array if len(array) <= WHOLE else array[_spread(len(array))]
        listed = ", ".join(self.one(value, _scale(array)) for value in chosen)
        if len(array) <= WHOLE:
            return listed
        return f"{len(array)} values, {self._summary(array)}; among them {listed}"

    def _grid(self, values: Any) -> str:
        array = _plain(values)
        return f"{' by '.join(map(str, array.shape))}, {self._summary(array)}"

    def _summary(self, array: np.ndarray[Any, Any]) -> str:
        """Tell smallest, largest and mean: a single changed value moves at least the mean."""
        finite = array[np.isfinite(array)]
        missing = f", {array.size - finite.size} missing" if finite.size < array.size else ""
        if not finite.size:
            return f"nothing finite{missing}"
        scale = _scale(finite)
        low, high = self.one(finite.min(), scale), self.one(finite.max(), scale)
        mean = self.one(math.fsum(finite.ravel()) / finite.size, scale)
        return f"{low} to {high}, mean {mean}{missing}"


def _stacked(parts: Any) -> Any:
    return np.concatenate(parts) if len(parts) else []


def _plain(values: Any) -> np.ndarray[Any, Any]:
    """Return an array of floats in which every masked value is NaN."""
    masked: Any = np.ma.asarray(values)
    return np.asarray(masked.astype(float).filled(np.nan))


def _scale(values: np.ndarray[Any, Any]) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def _spread(count: int) -> Sequence[int]:
    """Choose `SAMPLES` places from first to last, evenly, in integers."""
    return [place * (count - 1) // (SAMPLES - 1) for place in range(SAMPLES)]


def _colour_name(value: Any) -> str:
    text = to_hex(value)
    return _NAMES.get(text, text)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _is_title(text: Text, axes: Axes) -> bool:
    # get_children lists the three titles, which _Teller.axes has told already.
    return text not in axes.texts
