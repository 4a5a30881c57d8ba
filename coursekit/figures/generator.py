"""Pictures of chapter 2: what mixing does to the bits of a word, and how far one bit reaches."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.figures.style import COLOURS, new_figure

FloatArray = NDArray[np.float64]
BITS = 64
SHADES = ListedColormap(["#ffffff", "#bdbdbd", COLOURS["sky"], COLOURS["blue"]])


def bits_of(words: Sequence[int]) -> NDArray[np.uint8]:
    """Return the bits of 64-bit words, shape [words, 64], the highest bit first.

    >>> bits_of([2**63 + 1])[0, [0, 1, 63]].tolist()
    [1, 0, 1]
    """
    big_endian = np.array(words, dtype=">u8")
    return np.unpackbits(big_endian.view(np.uint8)).reshape(len(words), BITS)


def word_stages(
    axes: Axes, names: Sequence[str], words: Sequence[int], others: Sequence[int]
) -> int:
    """Draw a word at each stage of mixing, and in colour the bits in which a second word differs.

    Args:
        names: of the stages, from top to bottom.
        words, others: the two words at each stage.

    Returns:
        The number of differing bits at the last stage.
    """
    bits, changed = bits_of(words), bits_of(words) != bits_of(others)
    axes.imshow(bits + 2 * changed, cmap=SHADES, vmin=0, vmax=3, aspect="auto")
    axes.grid(visible=False)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_xticks([0, 16, 32, 48, 63], ["63", "47", "31", "15", "0"])
    axes.set_xlabel("bit of the word (dark: 1; blue: differs from the other word)")
    counts = changed.sum(axis=1)
    for stage, count in enumerate(counts):
        axes.text(64.2, stage, f"{count}", va="center", fontsize=9)
    axes.set_title("bits that differ at each stage, counted at the right", fontsize=10)
    return int(counts[-1])


def two_words(names: Sequence[str], words: Sequence[int], others: Sequence[int]) -> Figure:
    """Draw `word_stages` as a figure of its own."""
    figure, axes = new_figure()
    word_stages(axes, names, words, others)
    return figure


def avalanche(shares: FloatArray) -> Figure:
    """Draw, for each flipped input bit and each output bit, how often the output bit flips.

    Args:
        shares: between 0 and 1, shape [64, 64], row = input bit, column = output bit.
    """
    figure, axes = new_figure(width=5.0, height=4.2)
    image = axes.imshow(shares, cmap="gray", vmin=0.0, vmax=1.0, origin="lower")
    axes.grid(visible=False)
    axes.set_xlabel("output bit")
    axes.set_ylabel("flipped input bit")
    axes.set_title("every input bit reaches every output bit", fontsize=10)
    figure.colorbar(image, ax=axes, label="share of flips (0.5 is ideal)")
    return figure
