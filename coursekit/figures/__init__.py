"""Pictures that say what they show: in colour, in grey, in words and in numbers.

Every chapter draws through this package. `style` holds the one palette and the three roles
(bars are measured, dashed lines target, open dots expected), `twin` reads the numbers back from
what was drawn, `show` puts picture, caption, alternative text and numbers into the notebook.

It is the only part of `coursekit` that imports matplotlib, and it never needs pyplot: a figure
made here belongs to nobody's global state. Palette: Okabe and Ito, "Color Universal Design"
(2008), https://jfly.uni-koeln.de/color/.
"""

from coursekit.figures.show import bundle, card, png, show
from coursekit.figures.style import (
    COLOURS,
    MEANING,
    Axes,
    Figure,
    colour,
    expected,
    label,
    measured,
    measured_line,
    new_figure,
    panels,
    target,
    target_line,
)
from coursekit.figures.twin import numbers

__all__ = [
    "COLOURS",
    "MEANING",
    "Axes",
    "Figure",
    "bundle",
    "card",
    "colour",
    "expected",
    "label",
    "measured",
    "measured_line",
    "new_figure",
    "numbers",
    "panels",
    "png",
    "show",
    "target",
    "target_line",
]
