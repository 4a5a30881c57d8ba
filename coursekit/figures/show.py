"""Put a figure into a notebook: picture, finding, alternative text and numbers as one output.

Jupyter shows the HTML: a white card that reads the same in a light and a dark theme, with an
`<img alt=…>` that screen readers speak and the numbers folded below it. The plain-text form of
the same output holds caption, alternative text and numbers; a notebook run compares both and
ignores only the encoded pixels.

The PNG carries no date and no program name, so that the same figure gives the same bytes.
"""

import base64
import html
import io
import sys
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from coursekit.errors import OutOfRange, WrongType
from coursekit.figures.style import STYLE, WIDTH
from coursekit.figures.twin import numbers

DOTS_PER_INCH = 160
CSS_PIXELS_PER_INCH = 100
MOST_DIGITS = 6

_CARD = "background:#ffffff;color:#1b1b1b;border:1px solid #d5d5d5;border-radius:6px;"
_CARD += "padding:10px 14px;margin:8px 0;max-width:{width}px;box-sizing:content-box"
_PRE = "background:#ffffff;color:#1b1b1b;white-space:pre-wrap;font-size:12px;margin:6px 0 0"


def show(figure: Figure, caption: str = "", alt: str = "", digits: int = MOST_DIGITS) -> None:
    """Show `figure` in the notebook with its caption, alternative text and numbers; close it.

    Args:
        figure: from `new_figure`, or any matplotlib figure.
        caption: the finding, in a sentence.
        alt: what there is to see, for a reader who does not see it.
        digits: significant digits of the numbers, at most 6; fewer for what went through
            exp, log or a matrix product and then lost digits by subtraction.

    Raises:
        WrongType: not a figure; caption or alternative text no string; digits no integer.
        OutOfRange: caption or alternative text empty; digits outside 1 to 6.
    """
    content = bundle(figure, caption, alt, digits)
    import IPython.display  # here: a picture can be made and tested without it

    publish: Any = IPython.display.display
    publish(content, raw=True)
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:  # else nothing keeps the figure open
        pyplot.close(figure)


def bundle(
    figure: Figure, caption: str = "", alt: str = "", digits: int = MOST_DIGITS
) -> dict[str, str]:
    """Return what `show` displays, as a MIME bundle; raises what `show` raises.

    >>> from coursekit.figures import new_figure, expected
    >>> figure, axes = new_figure()
    >>> _ = expected(axes, [1, 2], [3, 4])
    >>> print(bundle(figure, "The dots rise.", "Two open dots, the second higher.")["text/plain"])
    Figure: The dots rise.
    Alt: Two open dots, the second higher.
    axes: x from 0.95 to 2.05; y from 2.95 to 4.05
      open dots "expected" (black): (1, 3), (2, 4)
    """
    if not isinstance(figure, Figure):
        raise WrongType("figure", "a matplotlib Figure", figure)
    for subject, text in (("caption", caption), ("alt text", alt)):
        if not isinstance(text, str):
            raise WrongType(subject, "a sentence", text)
        if not text.strip():
            raise OutOfRange(subject, "a sentence that says what the picture shows", text)
    if isinstance(digits, bool) or not isinstance(digits, int):
        raise WrongType("digits", "an integer", digits)
    if not 1 <= digits <= MOST_DIGITS:
        raise OutOfRange("digits", f"from 1 to {MOST_DIGITS}", digits)
    picture = png(figure)  # first: drawing settles limits and labels
    told = numbers(figure, digits)
    width = round(figure.get_figwidth() * CSS_PIXELS_PER_INCH)
    return {
        "text/html": card(picture, caption, alt, told, width),
        "text/plain": f"Figure: {caption}\nAlt: {alt}\n{told}",
    }


def png(figure: Figure, dots_per_inch: int = DOTS_PER_INCH, compression: int = 6) -> bytes:
    """Return the figure as PNG bytes: the same figure, the same bytes.

    Args:
        dots_per_inch: resolution.
        compression: of zlib, 0 (fast) to 9 (small).
    """
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(
            buffer,
            format="png",
            dpi=dots_per_inch,
            metadata={"Software": None},
            pil_kwargs={"compress_level": compression},
        )
    return buffer.getvalue()


def card(picture: bytes, caption: str, alt: str, told: str, width: int = round(WIDTH * 100)) -> str:
    """Return the HTML of a figure: white card, picture, caption, numbers folded away.

    Args:
        picture: PNG bytes.
        told: the numbers, from `numbers`.
        width: of the picture on the page, CSS pixels.
    """
    encoded = base64.b64encode(picture).decode("ascii")
    return "\n".join(
        [
            f'<figure style="{_CARD.format(width=width)}">',
            f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{encoded}" '
            f'style="width:{width}px;max-width:100%;height:auto">',
            f'<figcaption style="color:#1b1b1b">{html.escape(caption, quote=False)}</figcaption>',
            '<details style="color:#1b1b1b"><summary style="font-size:12px;cursor:pointer">'
            "Numbers in this picture</summary>",
            f'<pre style="{_PRE}">{html.escape(told, quote=False)}</pre></details>',
            "</figure>",
        ]
    )
