"""How wide the numbers really spread: in one matrix, and from layer to layer.

Chapters 3 and 8 use this module, and keep three words apart. The *target* is the variance that a
rule asks of a distribution. The *expected* value is what a calculation predicts for the average
over all draws, under assumptions. The *measured* value is what these finite numbers have; only it
is a fact about a matrix or a network, and it holds for that one alone.

Three files hold the three: the statistics of one set of numbers are in `sample.py`, the
calculation through depth in `expected.py`, the measurement through depth in `depth.py`. Sources
and promises stand there.
"""

from coursekit.measure.depth import (
    DepthComparison,
    DepthRun,
    compare_depth,
    draw_network,
    measure_depth,
    measure_networks,
)
from coursekit.measure.expected import (
    ACTIVATIONS,
    expected_backward,
    expected_forward,
    expected_gradients,
    expected_moments,
)
from coursekit.measure.sample import (
    NORMAL_KURTOSIS,
    UNIFORM_KURTOSIS,
    Comparison,
    Histogram,
    Population,
    compare_mean,
    compare_variance,
    histogram,
    population,
    standard_error_of_mean,
    standard_error_of_variance,
)

__all__ = [
    "ACTIVATIONS",
    "NORMAL_KURTOSIS",
    "UNIFORM_KURTOSIS",
    "Comparison",
    "DepthComparison",
    "DepthRun",
    "Histogram",
    "Population",
    "compare_depth",
    "compare_mean",
    "compare_variance",
    "draw_network",
    "expected_backward",
    "expected_forward",
    "expected_gradients",
    "expected_moments",
    "histogram",
    "measure_depth",
    "measure_networks",
    "population",
    "standard_error_of_mean",
    "standard_error_of_variance",
]
