"""Explorer of chapter 12: how a token table starts, and what a lookup then hands on."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.explorers.core import Drawing, Explorer, choice, explore, explorer, ladder
from coursekit.figures import Figure
from coursekit.figures.policy import row_moments
from coursekit.figures.style import panels
from coursekit.initializers import xavier_scale
from coursekit.normalization import rms_norm
from coursekit.rng import SplitMix64

FloatArray = NDArray[np.float64]
SEED, EPSILON = 17, 1e-5
MOST_ELEMENTS = 2**15  # looked up: enough for a relative error of half a percent
BY_SHAPE, UNIT, BY_WIDTH, SMALL = (
    "Xavier, by shape",
    "normal, variance 1",
    "normal, variance 1/width",
    "normal, variance 0.02²",
)
NOTHING, ROOT = "none", "times √width"


class Lookup(NamedTuple):
    """Mean squares of looked-up rows: as stored, after the forward scaling, after RMSNorm."""

    start: str
    measured: FloatArray
    expected: FloatArray


def compute(vocabulary: int, width: int, start: str, scaling: str) -> Lookup:
    """Draw the first rows of the table, which are what the first tokens look up."""
    variance = {
        BY_SHAPE: xavier_scale(vocabulary, width).target_variance,
        UNIT: 1.0,
        BY_WIDTH: 1.0 / width,
        SMALL: 0.02**2,
    }[start]
    shape = (min(vocabulary, MOST_ELEMENTS // width), width)
    rng = SplitMix64(SEED)
    if start == BY_SHAPE:
        rows = rng.symmetric(math.sqrt(3.0 * variance), shape)
    else:
        rows = rng.normal(0.0, math.sqrt(variance), shape)
    factor = math.sqrt(width) if scaling == ROOT else 1.0
    scaled = factor * rows
    normalized = rms_norm(scaled, epsilon=EPSILON).value
    moments = np.array([np.mean(part * part) for part in (rows, scaled, normalized)])
    arriving = variance * factor**2
    return Lookup(start, moments, np.array([variance, arriving, arriving / (arriving + EPSILON)]))


def draw(figure: Figure, result: Lookup) -> Drawing:
    """Draw the three mean squares on a logarithmic axis, with what was expected."""
    row_moments(panels(figure), result.measured, result.expected)
    row, scaled, normalized = (f"{moment:.3g}" for moment in result.measured)
    knows = "contains" if result.start == BY_SHAPE else "does not contain"
    return Drawing(
        f"A row arrives with mean square {row}; this start {knows} the vocabulary size. "
        f"Scaling makes it {scaled}, RMSNorm {normalized}.",
        f"Three bars on a logarithmic axis with their expected values: as looked up {row}, "
        f"after forward scaling {scaled}, after RMSNorm {normalized}. The target is 1.",
    )


@explorer
def table_explorer() -> Explorer:
    """Choose the start of a token table and the scaling of the forward pass."""
    return explore(
        "Which start of the table gives a looked-up row a mean square of 1?",
        compute,
        draw,
        digits=5,
        start=choice("start of the table", [BY_SHAPE, UNIT, BY_WIDTH, SMALL]),
        scaling=choice("forward scaling", [NOTHING, ROOT]),
        vocabulary=ladder("vocabulary", [16, 64, 256, 1024, 4096, 16384], 256),
        width=ladder("width", [16, 64, 256], 64),
    )
