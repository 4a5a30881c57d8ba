"""Contrast, computed as WCAG 2.2 defines it, of what the course draws and writes.

What must be seen needs 3:1 against its ground (success criterion 1.4.11), what must be read 4.5:1
(1.4.3). Misses are kept here, so that nobody takes them for checked: `label` writes a name in the
colour of what it names, and only black and blue are read at 4.5:1. The same word stands in the
alternative text or in the numbers below the picture.
"""

import re
from pathlib import Path

import pytest

from coursekit import figures
from coursekit.figures import style

PACKAGE = Path(figures.__file__).resolve().parents[1]


def luminance(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other="#ffffff"):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_is_that_of_the_guideline():
    assert contrast("#000000") == pytest.approx(21)
    assert contrast("#777777") == pytest.approx(4.48, abs=0.005)  # a published example
    assert contrast("#0072b2", "#0072b2") == 1


def test_words_on_axes_and_cards_are_read_easily():
    for key in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color"):
        assert contrast(style.STYLE[key]) >= 7
    assert contrast(style.STYLE["axes.edgecolor"]) >= 3
    assert style.STYLE["figure.facecolor"] == style.STYLE["axes.facecolor"] == "white"
    pairs = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        pairs.update(re.findall(r"background:(#[0-9a-f]{6});color:(#[0-9a-f]{6})", text))
    assert len(pairs) >= 2, "cards and refusals have a ground and a colour"
    assert all(contrast(ink, ground) >= 4.5 for ground, ink in pairs)


@pytest.mark.parametrize("start", figures.MEANING)
def test_what_is_measured_is_seen_on_white(start):
    assert contrast(figures.colour(start)) >= 3


def test_the_faint_colours_of_the_palette_are_known_and_mean_no_start():
    faint = {name for name, value in figures.COLOURS.items() if contrast(value) < 3}
    assert faint == {"orange", "sky", "yellow"}
    assert {figures.MEANING[start].colour for start in figures.MEANING}.isdisjoint(faint)


def test_the_colours_that_a_word_is_read_in_are_these():
    read = {name for name, value in figures.COLOURS.items() if contrast(value) >= 4.5}
    assert read == {"black", "blue"}
