"""Explorer of chapter 9: change a row and see which changes each norm erases."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.explorers.core import Drawing, Explorer, explore, explorer, ladder, slider
from coursekit.figures import Figure, panels
from coursekit.figures.features import row_and_norms
from coursekit.normalization import layer_norm, rms_norm

FloatArray = NDArray[np.float64]


class Normed(NamedTuple):
    """A row and what both norms make of it."""

    row: FloatArray
    layer: FloatArray
    rms: FloatArray


def compute(factor: float, shift: float, last: float, epsilon: float) -> Normed:
    """Normalize factor·[1, 2, 3, last] + shift both ways; ε = 0 can be refused."""
    row = factor * np.array([1.0, 2.0, 3.0, last]) + shift
    return Normed(row, layer_norm(row, epsilon=epsilon).value, rms_norm(row, epsilon=epsilon).value)


def draw(figure: Figure, normed: Normed) -> Drawing:
    """Draw the three rows of bars and tell mean and mean square of both outputs."""
    outputs = {"LayerNorm": normed.layer, "RMSNorm": normed.rms}
    row_and_norms(normed.row, outputs, panels(figure, 1, 3))
    found = "; ".join(
        f"{name}: mean {_told(values.mean())}, mean square {_told(np.mean(values**2))}"
        for name, values in outputs.items()
    )
    rows = (", ".join(map(_told, values)) for values in normed)
    row, layer, rms = rows
    return Drawing(
        f"{found}.",
        f"Three bar charts: the row is {row}; LayerNorm makes {layer} of it, RMSNorm {rms}.",
    )


def _told(value: np.floating[Any]) -> str:
    return f"{value + 0.0:.4g}" if abs(value) > 1e-9 else "0"


@explorer
def norm_explorer() -> Explorer:
    """Multiply and shift a row, pull its last feature away, and move ε."""
    return explore(
        "Which changes of a row does each norm erase?",
        compute,
        draw,
        factor=ladder(
            "factor on all features", [-10.0, -1.0, -0.01, 0.0, 0.01, 0.1, 1.0, 10.0], 1.0
        ),
        shift=slider("shift of all features", -6.0, 6.0, 0.5, 0.0),
        last=slider("last feature", -4.0, 40.0, 1.0, 4.0),
        epsilon=ladder("ε", [0.0, 1e-5, 1e-2, 1.0, 100.0], 1e-5),
    )
