"""The pattern of every explorer: compute, draw, wire.

`compute` turns the values of the controls into numbers and knows no picture. `draw` turns these
numbers into a picture on a figure that it is handed, and says in words what it shows. `explore`
wires both to sliders and lists. The first two run without a kernel or a browser, so the tests
run them over the whole range of every control.

Reading needs no kernel: a stored notebook shows the picture of the first settings, with caption,
alternative text and numbers. A live one shows the controls above the same card, and every change
replaces the card's HTML. There is no Output widget, so nothing leaks into the cell.

Every control has a name, a place in the tab order, and answers to the arrow keys. A change is
redrawn in less than 150 ms as long as `compute` is quick: margins are fixed, the figure is new
(clearing one rebuilds its axes only to throw them away), and pixels are packed fast, not small.
"""

import html
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import ipywidgets as widgets

from coursekit.errors import CourseError, OutOfRange, WrongType
from coursekit.figures.show import card, png
from coursekit.figures.style import Figure, blank_figure
from coursekit.figures.twin import numbers

DOTS_PER_INCH = 130
QUICK = 1  # zlib level
MARGINS = {"left": 0.12, "right": 0.97, "bottom": 0.17, "top": 0.88, "wspace": 0.28, "hspace": 0.5}
MOST_SETTINGS = 60  # of one explorer, tried as a full grid
MOST_PLACES = 7  # of one control, beyond that


class Drawing(NamedTuple):
    """What a draw function says about the picture it has drawn."""

    caption: str
    alt: str


Compute = Callable[..., Any]
Draw = Callable[[Figure, Any], Drawing]
Values = Mapping[str, Any]

REGISTRY: dict[str, "Callable[[], Explorer]"] = {}


def explorer(make: "Callable[[], Explorer]") -> "Callable[[], Explorer]":
    """Register an explorer under the name of its function, so that the tests try all of it."""
    REGISTRY[make.__name__] = make
    return make


# --- controls -----------------------------------------------------------------------------------

_LAYOUT = {"width": "min(520px, 100%)"}
_NAMED = {"description_width": "170px"}


def slider(
    description: str, low: float, high: float, step: float = 1, value: float | None = None
) -> Any:
    """Return a slider from `low` to `high`; integers when all three numbers are integers.

    Args:
        description: the name of the quantity, with its unit.
        value: first setting; `low` when not given.
    """
    whole = all(isinstance(number, int) for number in (low, high, step))
    kind = widgets.IntSlider if whole else widgets.FloatSlider
    return kind(
        value=low if value is None else value,
        min=low,
        max=high,
        step=step,
        description=description,
        tooltip=description,
        style=_NAMED,
        layout=_LAYOUT,
    )


def ladder(description: str, values: Sequence[Any], value: Any = None) -> Any:
    """Return a slider over the given values, for steps that are not equal (1, 2, 4, 8, …)."""
    return _select(widgets.SelectionSlider, description, values, value)


def choice(description: str, options: Sequence[Any], value: Any = None) -> Any:
    """Return a drop-down list of `options`; the first is chosen unless `value` names another."""
    return _select(widgets.Dropdown, description, options, value)


def _select(kind: Any, description: str, options: Sequence[Any], value: Any) -> Any:
    first = options[0] if value is None else value
    return kind(
        options=list(options),
        value=first[1] if value is None and isinstance(first, tuple) else first,
        description=description,
        tooltip=description,
        style=_NAMED,
        layout=_LAYOUT,
    )


def positions(control: Any) -> list[Any]:
    """Return every value that a control can take, in order.

    >>> positions(slider("width", 1, 4)), positions(choice("start", ["zero", "scaled"]))
    ([1, 2, 3, 4], ['zero', 'scaled'])
    """
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if isinstance(control.value, bool):
        return [False, True]
    steps = round((control.max - control.min) / control.step)
    return [control.min + control.step * place for place in range(steps + 1)]


# --- wiring -------------------------------------------------------------------------------------

_NOTE = "font-style:italic;margin:6px 0"
_REFUSAL = "background:#ffffff;color:#8a3c00;border:1px solid #d55e00;padding:10px 14px"


class Explorer:
    """Controls, and the card that shows what they lead to; made by `explore`.

    `controls` maps the keyword of `compute` to its widget; `view` is the live widget.
    """

    def __init__(
        self, title: str, compute: Compute, draw: Draw, controls: Mapping[str, Any], digits: int = 6
    ) -> None:
        for name, control in controls.items():
            if not isinstance(control, widgets.DOMWidget):
                raise WrongType(f"control {name}", "a slider, ladder or choice", control)
            if not control.description:
                raise OutOfRange(f"description of control {name}", "the name of a quantity", "")
        self.title, self.compute, self.draw, self.digits = title, compute, draw, digits
        self.controls = dict(controls)
        self._figure = blank_figure()  # replaced by each drawing
        self._picture = widgets.HTML()
        self.view = widgets.VBox([*self.controls.values(), self._picture])
        self._drawn: tuple[Values, str, str] | None = None
        for control in self.controls.values():
            control.observe(self._redraw, names="value")

    @property
    def values(self) -> dict[str, Any]:
        """The present setting of every control."""
        return {name: control.value for name, control in self.controls.items()}

    def settings(self) -> Iterator[dict[str, Any]]:
        """Go through the range of every control: all combinations when they are few.

        Else each control from end to end with the others as they are now, and each at either
        end with all the others at either end.
        """
        ranges = {name: positions(control) for name, control in self.controls.items()}
        if math.prod(map(len, ranges.values())) <= MOST_SETTINGS:
            yield from (dict(zip(ranges, one, strict=True)) for one in product(*ranges.values()))
            return
        for name, places in ranges.items():
            yield from (self.values | {name: place} for place in _spread(places))
        for end in (0, -1):
            corner = {name: places[end] for name, places in ranges.items()}
            yield corner
            yield from (corner | {name: places[-1 - end]} for name, places in ranges.items())

    def tell(self, values: Values) -> str:
        """Compute and draw for `values`; return caption, alternative text and numbers.

        A refusal of `coursekit` is an answer too, and takes the place of the picture.
        """
        return self._drawn_for(values)[1]

    def render(self, values: Values) -> tuple[str, str]:
        """Return the card for `values` as HTML, and what `tell` returns."""
        drawing, text, told = self._drawn_for(values)
        if drawing is None:
            return f'<p role="alert" style="{_REFUSAL}">{html.escape(text)}</p>', text
        picture = png(self._figure, DOTS_PER_INCH, QUICK)
        return card(picture, drawing.caption, drawing.alt, told), text

    def _drawn_for(self, values: Values) -> tuple[Drawing | None, str, str]:
        try:
            result = self.compute(**values)
        except CourseError as refusal:
            return None, f"Refused: {refusal}", ""
        self._figure = blank_figure()
        self._figure.subplots_adjust(**MARGINS)
        drawing = Drawing(*self.draw(self._figure, result))
        told = numbers(self._figure, self.digits)
        return drawing, f"Figure: {drawing.caption}\nAlt: {drawing.alt}\n{told}", told

    def _current(self) -> tuple[str, str]:
        values = self.values
        if self._drawn is None or self._drawn[0] != values:
            self._drawn = (values, *self.render(values))
        return self._drawn[1:]

    def _redraw(self, _change: Any) -> None:
        self._picture.value = self._current()[0]

    # --- what Jupyter asks for ----------------------------------------------------------------

    def __repr__(self) -> str:
        settings = ", ".join(
            f"{control.description} = {control.value}" for control in self.controls.values()
        )
        return f"Explorer: {self.title} ({settings})\n{self._current()[1]}"

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        self._redraw(None)
        names = ", ".join(control.description for control in self.controls.values())
        asked = html.escape(f"{self.title} (Run this cell to move: {names}.)", quote=False)
        note = f'<p style="{_NOTE}">{asked}</p>\n'
        live: dict[str, Any] = self.view._repr_mimebundle_() or {}
        return live | {"text/plain": repr(self), "text/html": note + self._current()[0]}


def explore(
    title: str, compute: Compute, draw: Draw, *, digits: int = 6, **controls: Any
) -> Explorer:
    """Wire `compute` and `draw` to `controls`; end a cell with the result to show it.

    Args:
        title: the question that the explorer answers.
        compute: called with one keyword for each control; returns what `draw` needs.
        draw: called with a blank figure and that result; draws, returns a `Drawing`.
        digits: significant digits of the numbers told.
        controls: keyword of `compute` → `slider`, `ladder` or `choice`.

    Raises:
        WrongType: a control that is no widget.
        OutOfRange: a control without a description.
    """
    return Explorer(title, compute, draw, controls, digits)


def _spread(places: Sequence[Any]) -> list[Any]:
    """Return up to `MOST_PLACES` of the places, evenly from first to last."""
    count = min(len(places), MOST_PLACES)
    return [places[number * (len(places) - 1) // max(count - 1, 1)] for number in range(count)]
