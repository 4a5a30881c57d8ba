"""Explorer of chapter 4: choose two widths and a seed, see the matrix that is drawn."""

import numpy as np

from coursekit.explorers.core import Drawing, Explorer, explore, explorer, ladder, slider
from coursekit.figures import Figure, panels
from coursekit.figures.xavier import DrawnMatrix, drawn_matrix
from coursekit.initializers import xavier_scale, xavier_uniform
from coursekit.measure.sample import compare_variance, histogram
from coursekit.rng import SplitMix64

WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
BINS = 10


def compute(fan_in: int, fan_out: int, seed: int) -> DrawnMatrix:
    """Draw the matrix by Xavier's rule and hold its variance against the target."""
    scale = xavier_scale(fan_in, fan_out)
    weights = xavier_uniform(fan_in, fan_out, SplitMix64(seed))
    edges = scale.uniform_limit * np.linspace(-1.0, 1.0, BINS + 1)
    compared = compare_variance(weights, scale.target_variance)
    return DrawnMatrix(fan_in, fan_out, histogram(weights, edges), compared)


def draw(figure: Figure, drawn: DrawnMatrix) -> Drawing:
    """Draw histogram and variance; say how far chance has led this matrix from the target."""
    drawn_matrix(drawn, panels(figure, 1, 2))
    variance = drawn.variance
    distance = variance.standard_errors_from_target
    forward, backward = drawn.fan_in * variance.target, drawn.fan_out * variance.target
    count = drawn.fan_in * drawn.fan_out
    named = f"{count} weight{'s' * (count > 1)}"
    return Drawing(
        f"{named}: target {variance.target:.4g}, "
        f"measured {variance.measured:.4g}, {distance:+.2f} standard errors away. "
        f"Expected multipliers: signal {forward:.3f}, gradient {backward:.3f}.",
        f"Histogram of {named} in {BINS} bins beside one bar of their variance, "
        f"{distance:+.2f} standard errors from the dashed target.",
    )


@explorer
def matrix_explorer() -> Explorer:
    """Change the widths and the seed of one drawn matrix."""
    return explore(
        "How near does one drawn matrix come to its target?",
        compute,
        draw,
        fan_in=ladder("fan-in", WIDTHS, 2),
        fan_out=ladder("fan-out", WIDTHS, 2),
        seed=slider("seed", 0, 40, 1, 17),
    )
