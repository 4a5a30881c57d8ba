"""Compute, draw and wire: the pattern on a demonstration, and the whole range of every explorer."""

import importlib
import pkgutil
import re
import time

import ipywidgets as widgets
import numpy as np
import pytest
from matplotlib.figure import Figure

from coursekit import explorers, figures
from coursekit.errors import OutOfRange, WrongType

for module in pkgutil.iter_modules(explorers.__path__):
    importlib.import_module(f"coursekit.explorers.{module.name}")  # registers what it holds

REDRAW_SECONDS = 0.15
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def compute(count: int, gain: float, power: int) -> tuple[np.ndarray, np.ndarray]:
    if gain == 0:
        raise OutOfRange("gain", "above 0", gain)
    places = np.arange(count)
    return places, gain * places**power


def draw(figure: Figure, result: tuple[np.ndarray, np.ndarray]) -> explorers.Drawing:
    axes = figures.panels(figure)
    figures.measured(axes, *result, label="values")
    figures.target(axes, 10)
    axes.set(xlabel="place", ylabel="value", title="Powers")
    total = result[1].sum()
    return explorers.Drawing(f"The sum is {total:.6g}.", f"{len(result[0])} bars sum to {total:g}.")


def powers() -> explorers.Explorer:
    return explorers.explore(
        "How fast do powers grow?",
        compute,
        draw,
        count=explorers.slider("places", 1, 5, value=3),
        gain=explorers.slider("gain", 0.0, 1.5, 0.5, value=0.5),
        power=explorers.choice("power", [1, 2, 3]),
    )


# --- the pattern --------------------------------------------------------------------------------


def test_a_reader_without_a_kernel_gets_the_figure_and_a_sentence() -> None:
    content = powers()._repr_mimebundle_()
    assert set(content) == {"text/plain", "text/html", WIDGET_VIEW}
    assert content["text/plain"] == (
        "Explorer: How fast do powers grow? (places = 3, gain = 0.5, power = 1)\n"
        "Figure: The sum is 1.5.\n"
        "Alt: 3 bars sum to 1.5.\n"
        'axes "Powers": x "place" from -0.54 to 2.54; y "value" from 0 to 10.5\n'
        '  bars "values" (blue): 0, 0.5, 1\n'
        '  dashed line "target" (black): y = 10\n'
        "  text: target"
    )
    assert "(Run this cell to move: places, gain, power.)" in content["text/html"]
    assert content["text/html"].count('<img alt="3 bars sum to 1.5."') == 1


def test_the_sentence_holds_no_address_and_no_model_number() -> None:
    first, second = powers()._repr_mimebundle_(), powers()._repr_mimebundle_()
    assert first.pop(WIDGET_VIEW) != second.pop(WIDGET_VIEW)
    assert first == second
    assert not re.search(r" at 0x|model_id", repr(powers()))


def test_moving_a_control_replaces_picture_numbers_and_alt_text() -> None:
    explorer = powers()
    explorer._repr_mimebundle_()
    shown = explorer.view.children[-1]
    assert isinstance(shown, widgets.HTML)
    before = shown.value
    explorer.controls["count"].value = 4
    assert shown.value != before
    assert 'alt="4 bars sum to 3."' in shown.value
    assert "0, 0.5, 1, 1.5" in shown.value
    pictures = [re.search(r"base64,([^\"]+)", page).group(1) for page in (before, shown.value)]
    assert pictures[0] != pictures[1]
    explorer.controls["count"].value = 3
    assert shown.value == before  # nothing is kept from the drawing before


def test_a_refusal_is_shown_in_place_of_the_picture() -> None:
    explorer = powers()
    explorer._repr_mimebundle_()
    explorer.controls["gain"].value = 0
    page = explorer.view.children[-1].value
    assert page.startswith('<p role="alert"')
    assert "Refused: gain must be above 0; got 0" in page
    assert "<img" not in page


def test_a_fault_of_the_explorer_itself_is_not_hidden() -> None:
    explorer = explorers.explore("?", lambda a: 1 / a, draw, a=explorers.slider("a", 0, 1))
    with pytest.raises(ZeroDivisionError):
        explorer._repr_mimebundle_()


def test_no_output_widget_takes_part() -> None:
    def inside(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from inside(child)

    assert not any(isinstance(part, widgets.Output) for part in inside(powers().view))


def test_settings_go_through_every_combination_when_they_are_few() -> None:
    explorer = powers()
    settings = list(explorer.settings())
    assert len(settings) == 5 * 4 * 3
    assert {"count": 5, "gain": 1.5, "power": 3} in settings
    assert explorer.values == {"count": 3, "gain": 0.5, "power": 1}


def test_settings_of_many_controls_go_from_end_to_end_and_into_corners() -> None:
    explorer = explorers.explore(
        "?", compute, draw, **{name: explorers.slider(name, 0, 9, value=4) for name in "abc"}
    )
    settings = list(explorer.settings())
    assert len(settings) == 3 * 7 + 2 * (1 + 3)
    tried = {values["b"] for values in settings if values["a"] == values["c"] == 4}
    assert tried == {0, 1, 3, 4, 6, 7, 9}
    for corner in ((0, 0, 0), (9, 0, 0), (0, 9, 0), (0, 9, 9), (9, 9, 9)):
        assert dict(zip("abc", corner, strict=True)) in settings


@pytest.mark.parametrize(
    ("control", "values"),
    [
        (explorers.slider("a", 0, 3), [0, 1, 2, 3]),
        (explorers.slider("a", 0, 1, 0.25), [0, 0.25, 0.5, 0.75, 1.0]),
        (explorers.ladder("a", [1, 4, 64], 4), [1, 4, 64]),
        (explorers.choice("a", [("one", 1), ("two", 2)], 2), [1, 2]),
        (widgets.Checkbox(description="a"), [False, True]),
    ],
)
def test_every_value_of_a_control_is_known(control, values) -> None:
    assert explorers.positions(control) == values


def test_a_control_needs_a_name_and_has_to_be_one() -> None:
    with pytest.raises(OutOfRange) as unnamed:
        explorers.explore("?", compute, draw, count=explorers.slider("", 0, 1))
    assert unnamed.value.subject == "description of control count"
    with pytest.raises(WrongType) as no_widget:
        explorers.explore("?", compute, draw, count=3)
    assert no_widget.value.given == 3


# --- every explorer of the course ---------------------------------------------------------------


def try_all_of(explorer: explorers.Explorer) -> None:
    """Compute and draw every setting: each draws something, names it and tells its numbers."""
    for values in explorer.settings():
        text = explorer.tell(values)
        if text.startswith("Refused: "):
            continue
        caption, alt, told = text.split("\n", 2)
        assert len(caption) > len("Figure: "), values
        assert len(alt) > len("Alt: "), values
        assert told.startswith("axes"), values
        assert "nan" not in told, values


def redraw_seconds(explorer: explorers.Explorer) -> float:
    """Median over settings from the first to the last, of this process's time alone."""
    settings = list(explorer.settings())
    seconds = []
    for place in range(9):
        started = time.process_time()
        explorer.render(settings[place * (len(settings) - 1) // 8])
        seconds.append(time.process_time() - started)
    return sorted(seconds)[4]


def reachable_by_keyboard(explorer: explorers.Explorer) -> bool:
    return all(
        control.description and not control.disabled and control.tabbable is not False
        for control in explorer.controls.values()
    )


def test_the_demonstration_passes_what_every_explorer_must() -> None:
    try_all_of(powers())
    assert reachable_by_keyboard(powers())
    assert redraw_seconds(powers()) < REDRAW_SECONDS


@pytest.mark.parametrize("name", sorted(explorers.REGISTRY))
def test_every_explorer_answers_over_the_whole_range_of_its_controls(name: str) -> None:
    explorer = explorers.REGISTRY[name]()
    assert isinstance(explorer, explorers.Explorer)
    assert reachable_by_keyboard(explorer)
    try_all_of(explorer)
    assert redraw_seconds(explorer) < REDRAW_SECONDS


@pytest.mark.parametrize("name", sorted(explorers.REGISTRY))
def test_every_explorer_opens_the_same_way_twice(name: str) -> None:
    make = explorers.REGISTRY[name]
    assert repr(make()) == repr(make())
