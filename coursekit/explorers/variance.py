"""Explorer of chapter 3: width, depth and weight size, and where the variance goes."""

import math
from typing import NamedTuple

from coursekit.explorers.core import Drawing, Explorer, explore, explorer, ladder
from coursekit.figures import Figure, panels, target
from coursekit.figures.variance import Trail, powers
from coursekit.measure import draw_network, expected_forward, measure_depth
from coursekit.rng import SplitMix64

ROWS = 16


class Growth(NamedTuple):
    """One network of equal widths: what each layer multiplies by, and the path."""

    width: int
    depth: int
    deviation: float
    path: Trail

    @property
    def factor(self) -> float:
        """n·Var(w)."""
        return self.width * self.deviation**2


def compute(width: int, depth: int, deviation: float) -> Growth:
    """Draw linear layers, uniform weights of this standard deviation, and follow the variance."""
    rng = SplitMix64(17)
    inputs = rng.standard_normal((ROWS, width))
    limit = math.sqrt(3.0) * deviation
    widths = [width] * (depth + 1)
    weights = draw_network(widths, lambda n, m, draws: draws.symmetric(limit, (n, m)), rng)
    signals = measure_depth(weights, inputs).signals
    path = Trail(
        [signal.variance for signal in signals], expected_forward(widths, [deviation**2] * depth)
    )
    return Growth(width, depth, deviation, path)


def draw(figure: Figure, growth: Growth) -> Drawing:
    """Draw the path in powers of ten and name the factor of one layer."""
    axes = panels(figure)
    factor = growth.factor
    start = "scaled" if 0.97 < factor < 1.03 else "oversized" if factor > 1.0 else "green"
    powers(axes, growth.path, start)
    target(axes, 0.0, label="target")
    axes.set_ylabel("variance, as a power of ten")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -3.0), max(high, 3.0))
    each = f"A layer multiplies by {growth.width} · {growth.deviation:g}² = {factor:.4g}"
    end = math.log10(growth.path.measured[-1])
    axes.set_title(f"{each} on average", fontsize=10)
    caption = (
        f"{each}: after {growth.depth} layers 10^{growth.depth * math.log10(factor):.1f} is "
        f"expected, and this network has 10^{end:.1f}."
    )
    way = "stays near 1" if abs(end) < 0.5 else "rises" if end > 0 else "falls"
    alt = f"The variance {way}: a measured line and the expected dots along it, over the layers."
    return Drawing(caption, alt)


@explorer
def variance_explorer() -> Explorer:
    """Choose a width, a depth and the standard deviation of the weights."""
    return explore(
        "Which weight size keeps the variance at this width?",
        compute,
        draw,
        digits=4,
        width=ladder("features in each layer", [25, 50, 100, 200], 100),
        depth=ladder("layers", [1, 2, 5, 10, 20, 50], 20),
        deviation=ladder("weight size √Var(w)", [0.01, 0.05, 0.07, 0.1, 0.14, 0.2, 0.5, 1.0], 0.2),
    )
