"""The roles and the palette, the numbers read back from a picture, and what `show` puts out."""

import base64
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from coursekit import figures
from coursekit.errors import OutOfRange, UnknownChoice, WrongType
from coursekit.figures.twin import number


def luminance(name: str) -> float:
    """Relative luminance, https://www.w3.org/TR/WCAG21/#dfn-relative-luminance."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in to_rgb(figures.colour(name))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def starts_figure() -> Figure:
    figure, axes = figures.new_figure()
    starts = ["zero", "oversized", "scaled"]
    figures.measured(axes, starts, [0.0, 3.9, 1.1], starts, label="variance")
    figures.expected(axes, [0, 1, 2], [0, 4, 1])
    figures.target(axes, 1.0)
    axes.set(title="Only one meets the target", ylabel="variance")
    return figure


def depth_figure() -> Figure:
    figure, axes = figures.new_figure()
    depth = np.arange(51)
    figures.measured_line(axes, depth, 1.25**depth, "oversized")
    figures.measured_line(axes, depth[::5], 0.98 ** depth[::5], "scaled")
    figures.target_line(axes, depth, np.ones(51))
    figures.label(axes, "oversized", (30, 1.25**30), "oversized", align="right")
    axes.set(yscale="log", xlabel="depth (layers)", ylabel="second moment")
    return figure


def matrix_figure() -> Figure:
    figure, axes = figures.new_figure(1, 2, share_y=True)
    for panel, sign in zip(axes, (1, -1), strict=True):
        panel.imshow(sign * np.arange(12.0).reshape(3, 4), cmap="PuOr", vmin=-11, vmax=11)
        panel.grid(visible=False)
    return figure


# --- palette and roles --------------------------------------------------------------------------


def test_a_start_has_one_colour_and_it_is_of_the_palette() -> None:
    assert figures.colour("zero") == figures.COLOURS["grey"] == "#8c8c8c"
    assert figures.colour("oversized") == figures.COLOURS["vermillion"] == "#d55e00"
    assert figures.colour("scaled") == figures.COLOURS["blue"] == "#0072b2"
    with pytest.raises(UnknownChoice) as caught:
        figures.colour("red")
    assert caught.value.given == "red"
    assert caught.value.known[:3] == ("zero", "oversized", "scaled")


def test_the_starts_stand_out_from_white_and_from_each_other_in_grey() -> None:
    light = {name: luminance(name) for name in figures.MEANING}
    assert all(1.05 / (value + 0.05) >= 3 for value in light.values())
    assert light["scaled"] < light["oversized"] < light["zero"]
    # Two of the three are close in grey: hatch and marker tell them apart.
    looks = figures.MEANING.values()
    assert len({look.marker for look in looks}) == 3
    assert figures.MEANING["oversized"].hatch != figures.MEANING["zero"].hatch


def test_the_three_roles_cannot_be_taken_for_one_another() -> None:
    told = figures.numbers(starts_figure())
    assert 'bars "variance" (grey, vermillion, blue): 0, 3.9, 1.1' in told
    assert 'open dots "expected" (black): (0, 0), (1, 4), (2, 1)' in told
    assert 'dashed line "target" (black): y = 1\n' in told


def test_a_vertical_target_names_its_place() -> None:
    figure, axes = figures.new_figure()
    figures.target(axes, 0.25, axis="x", label="mean")
    assert 'dashed line "mean" (black): x = 0.25' in figures.numbers(figure)


def test_figures_have_the_size_of_the_course_and_leave_matplotlib_alone() -> None:
    code = """
import sys
import matplotlib as mpl
before = {key: mpl.rcParams[key] for key in mpl.rcParams if key != "backend"}
from coursekit import figures
figure, axes = figures.new_figure()
figures.measured(axes, [1], [1])
figures.png(figure)
assert {key: mpl.rcParams[key] for key in mpl.rcParams if key != "backend"} == before
assert "matplotlib.pyplot" not in sys.modules
assert tuple(figure.get_size_inches()) == (6.0, 3.2)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- numbers read back --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "line"),
    [
        (lambda a: a.bar([1, 2], [3, 4]), "bars (blue): 3, 4"),
        (lambda a: a.barh([1, 2], [3, 4]), "bars (blue): 3, 4"),
        (lambda a: a.bar([1], [3], bottom=[2]), "bars (blue): 3; standing on 2"),
        (lambda a: a.plot([1, 2], [3, 4], label="a"), 'line "a" (blue): (1, 3), (2, 4)'),
        (lambda a: a.plot([1], [3], "o"), "dots (blue): (1, 3)"),
        (lambda a: a.plot([1, 2], [3, 4], ":s"), "dotted line with dots (blue): (1, 3), (2, 4)"),
        (lambda a: a.scatter([1, 2], [3, 4], label="b"), 'dots "b": (1, 3), (2, 4)'),
        (lambda a: a.vlines([1], 0, 2), "segments: (1, 0), (1, 2)"),
        (lambda a: a.imshow([[1, 2], [3, 4]]), "image: 2 by 2, 1 to 4, mean 2.5"),
        (lambda a: a.pcolormesh([[1, 2, 6]]), "cells: 1 by 3, 1 to 6, mean 3"),
        (lambda a: a.stairs([5, 6], [0, 1, 3]), "steps: 5, 6; edges 0, 1, 3"),
        (lambda a: a.axhspan(1, 2), "rectangle: 1 by 1 at (0, 1)"),
        (
            lambda a: a.fill_between([0, 1], [2, 2]),
            "area: (0, 0), (0, 2), (1, 2), (1, 0), (1, 0), (0, 0), (0, 0)",
        ),
        (lambda a: a.text(0, 0, "two\nlines"), "text: two lines"),
        (lambda a: a.plot([1, 2], [np.nan, 4]), "line (blue): (1, nan), (2, 4)"),
        (lambda a: (a.plot([1], [2], label="m"), a.legend()), "legend: m"),
        (lambda a: a.plot([], []), "line (blue): none"),
    ],
)
def test_every_kind_of_artist_is_told_by_what_was_drawn(draw, line) -> None:
    figure, axes = figures.new_figure()
    draw(axes)
    told = figures.numbers(figure).split("\n")
    assert told[0].startswith("axes: x from ")
    assert f"  {line}" in told


def test_the_twin_reads_artists_and_not_the_data_they_came_from() -> None:
    figure, axes = figures.new_figure()
    bars = figures.measured(axes, [0, 1], [0.5, 0.25])
    before = figures.numbers(figure)
    bars[1].set_height(0.26)
    assert before.replace("0.5, 0.25", "0.5, 0.26") == figures.numbers(figure)


@given(st.integers(0, 199), st.floats(0.02, 100))
def test_one_changed_point_of_a_long_line_changes_the_twin(place: int, amount: float) -> None:
    figure, axes = figures.new_figure()
    heights = np.arange(200.0)
    line = figures.measured_line(axes, np.arange(200), heights)
    before = figures.numbers(figure)
    heights[place] += amount
    line.set_ydata(heights)
    assert figures.numbers(figure) != before


def test_labels_limits_scales_and_categories_are_told() -> None:
    told = figures.numbers(depth_figure()).split("\n")[0]
    assert re.fullmatch(
        r'axes: x "depth \(layers\)" from -2.5 to 52.5; y "second moment" from \S+ to \S+ \(log\)',
        told,
    )
    assert ", at zero, oversized, scaled; " in figures.numbers(starts_figure())
    both = figures.numbers(matrix_figure())
    assert "axes 1: " in both
    assert "axes 2: " in both


def test_what_is_invisible_is_not_told() -> None:
    figure, axes = figures.new_figure()
    figures.measured_line(axes, [1], [2])
    axes.lines[0].set_visible(False)
    assert "(1, 2)" not in figures.numbers(figure)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1234564999, "0.123456"),
        (123456789.0, "1.23457e+08"),
        (0.001953125, "0.00195313"),  # a tie in the seventh digit, and the same one bit below
        (np.nextafter(0.001953125, 0), "0.00195313"),
        (-0.0, "0"),
        (float("inf"), "inf"),
        (17, "17"),
    ],
)
def test_numbers_keep_six_digits_and_ties_do_not_hang_on_a_bit(value, text) -> None:
    assert number(value) == text


@given(st.floats(-1e12, 1e12), st.integers(1, 6))
def test_a_number_is_told_within_half_a_unit_of_its_last_digit(value: float, digits: int) -> None:
    told = float(number(value, digits))
    assert told == pytest.approx(value, rel=0.5 * 10.0 ** (1 - digits) * 1.0001, abs=0)


def test_rounding_noise_beside_large_values_is_told_as_zero() -> None:
    figure, axes = figures.new_figure()
    figures.measured_line(axes, [0, 1], [1.0, 3e-17])
    assert "(0, 1), (1, 0)" in figures.numbers(figure)


# --- show ---------------------------------------------------------------------------------------


def test_show_puts_out_one_figure_with_alt_caption_and_the_same_numbers_twice() -> None:
    content = figures.bundle(starts_figure(), 'The "scaled" start < others.', 'Bars & "dots".')
    page, text = content["text/html"], content["text/plain"]
    assert set(content) == {"text/html", "text/plain"}
    assert page.count("<figure") == page.count("<img") == page.count("<figcaption") == 1
    assert 'alt="Bars &amp; &quot;dots&quot;."' in page
    assert 'The "scaled" start &lt; others.</figcaption>' in page
    assert text.startswith('Figure: The "scaled" start < others.\nAlt: Bars & "dots".\naxes ')
    assert text.split("\n", 2)[2] == figures.numbers(starts_figure())
    assert 'bars "variance" (grey, vermillion, blue): 0, 3.9, 1.1' in page
    assert "background:#ffffff;color:#1b1b1b" in page  # readable in a dark theme too


def test_the_picture_is_a_png_of_the_stated_size_and_always_the_same_bytes() -> None:
    from PIL import Image

    first, second = (figures.bundle(starts_figure(), "c", "a")["text/html"] for _ in range(2))
    assert first == second
    encoded = re.search(r"base64,([A-Za-z0-9+/=]+)", first).group(1)
    picture = Image.open(io.BytesIO(base64.b64decode(encoded)))
    assert picture.format == "PNG"
    assert picture.size == (960, 512)
    assert set(picture.info) <= {"dpi"}
    assert picture.convert("RGB").getpixel((2, 2)) == (255, 255, 255)


@pytest.mark.parametrize(
    ("arguments", "error", "subject"),
    [
        ({}, OutOfRange, "caption"),
        ({"caption": "The finding."}, OutOfRange, "alt text"),
        ({"caption": "The finding.", "alt": " \n"}, OutOfRange, "alt text"),
        ({"caption": "The finding.", "alt": None}, WrongType, "alt text"),
        ({"caption": b"x", "alt": "a"}, WrongType, "caption"),
        ({"caption": "c", "alt": "a", "digits": 0}, OutOfRange, "digits"),
        ({"caption": "c", "alt": "a", "digits": 7}, OutOfRange, "digits"),
        ({"caption": "c", "alt": "a", "digits": True}, WrongType, "digits"),
    ],
)
def test_show_refuses_a_figure_that_says_nothing(arguments, error, subject) -> None:
    with pytest.raises(error) as caught:
        figures.show(starts_figure(), **arguments)
    assert caught.value.subject == subject


def test_show_refuses_what_is_no_figure() -> None:
    with pytest.raises(WrongType) as caught:
        figures.show("picture", "c", "a")
    assert caught.value.given == "picture"


def test_show_closes_a_figure_that_pyplot_holds_open(monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    shown = []
    monkeypatch.setattr("IPython.display.display", lambda content, raw: shown.append(content))
    figure, axes = pyplot.subplots()
    axes.plot([1, 2])
    figures.show(figure, "c", "a")
    assert pyplot.get_fignums() == []
    assert "(0, 1), (1, 2)" in shown[0]["text/plain"]


# --- pixels -------------------------------------------------------------------------------------
# Text is taken away, since fonts differ between versions of matplotlib; the twin compares it.


def pixels(tolerance: float) -> pytest.MarkDecorator:
    """Compare with tests/baseline; `tolerance` is a root mean square over all pixels, of 255."""
    look = {"remove_text": True, "style": "default", "savefig_kwargs": {"dpi": 80}}
    return pytest.mark.mpl_image_compare(tolerance=tolerance, **look)


def pinned(figure: Figure) -> Figure:
    """Fix the panels where they are, since the automatic layout measures text; drop the text."""
    figure.set_layout_engine(None)
    figure.subplots_adjust(left=0.12, right=0.97, bottom=0.15, top=0.9)
    for axes in figure.axes:
        axes.set(xlabel="", ylabel="")
        for text in list(axes.texts):
            text.remove()
    return figure


@pixels(tolerance=2)
def test_bars_dots_and_target_look_as_they_did() -> Figure:
    return pinned(starts_figure())


@pixels(tolerance=2)
def test_lines_over_depth_look_as_they_did() -> Figure:
    return pinned(depth_figure())


@pixels(tolerance=8)  # cells may begin a pixel further
def test_two_matrices_look_as_they_did() -> Figure:
    return pinned(matrix_figure())


def test_small_values_count_on_a_logarithmic_axis_and_are_noise_on_a_linear_one():
    for scale, told in (("log", "1e-12"), ("linear", "0")):
        figure, axes = figures.new_figure()
        axes.set_yscale(scale)
        figures.measured_line(axes, [1, 2], [1e-12, 1.0])
        assert f"(1, {told}), (2, 1)" in figures.numbers(figure)
