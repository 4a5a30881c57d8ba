"""The arithmetic that the three norms share, on plain arrays.

Chapters 9 and 10 derive it. A *line* is a set of values that are normalized with one mean and one
standard deviation σ: one row of a matrix for `layer_norm` and `rms_norm` (axis 1), one column for
`batch_norm` (axis 0).

Forward, for a line of n values:  x̂ = (x − μ)/σ,  μ = Σx/n,  σ = sqrt(Σ(x − μ)²/n + ε).
Backward, for the gradient h that arrives at x̂:  dx = (h − mean(h) − x̂·mean(h·x̂))/σ.
RMSNorm is the same with μ = 0 and without the term mean(h), which came from μ.

Squares are formed only where they fit: lines whose variance leaves the range of float64 are first
divided by a power of two, which changes no digit. Infinities on the way to finding that out are
silent, because the callers run under `quiet`. Not promised: the same bits on every machine,
because dot products go through the BLAS.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.autodiff.arrays import FloatArray
from coursekit.errors import ZeroEnergyRow

# Above this, what the squares lost below the smallest float64, 2**-1074, is no digit of their sum.
SMALLEST_SAFE_VARIANCE = 2.0**-960
# Stands for the exponent of 0. It stays below that of any float64 when 1024 is added to it.
EXPONENT_OF_ZERO = -4000


class Normalized(NamedTuple):
    """What the backward pass needs of a block of lines."""

    values: FloatArray  # x̂
    inverse: FloatArray  # 1/σ of the lines as they were divided
    exponent: NDArray[np.int32] | None  # k where a line was divided by 2**k; None: nowhere


def mean_of(lines: FloatArray, axis: int) -> FloatArray:
    """Return the mean of every line, in a shape that broadcasts against `lines`."""
    ones = np.ones(lines.shape[axis])  # a product with ones is the fastest sum that NumPy has
    total: FloatArray = ones @ lines if axis == 0 else np.vecdot(lines, ones)[:, np.newaxis]
    return total / len(ones)


def mean_product_of(a: FloatArray, b: FloatArray, axis: int) -> FloatArray:
    """Return the mean of the products of every line, in a shape that broadcasts."""
    count = int(a.shape[axis])
    total: FloatArray
    total = np.einsum("ij,ij->j", a, b) if axis == 0 else np.vecdot(a, b)[:, np.newaxis]
    return total / count


def centre(lines: FloatArray, out: FloatArray, axis: int) -> FloatArray:
    """Write `lines` minus their means into `out` and return the means.

    One pass would leave the rounding error of the mean in every difference: at a mean of 1e8 an
    error of 1e-8, and a spread where a constant line has none. The differences are small numbers
    with a small mean, so a second pass removes what the first one left.
    """
    first = mean_of(lines, axis)
    np.subtract(lines, first, out=out)
    second = mean_of(out, axis)
    out -= second
    return first + second


def normalize(
    lines: FloatArray,
    epsilon: float,
    out: FloatArray,
    *,
    axis: int,
    centred: bool,
    first_line: int = 0,
) -> Normalized:
    """Write x̂ of every line into `out`, another array, and return what the way back needs.

    Raises: `ZeroEnergyRow`, counted from `first_line`, when a line has σ = 0.
    """
    source, exponent = lines, None
    if centred:
        centre(lines, out, axis)
        source = out
    variance = mean_product_of(source, source, axis) + epsilon
    if not (variance.min() >= SMALLEST_SAFE_VARIANCE and variance.max() < np.inf):
        source, scaled_epsilon, exponent = rescaled(lines, epsilon, axis, centred)
        variance = mean_product_of(source, source, axis) + scaled_epsilon
        if not variance.all():
            raise ZeroEnergyRow(first_line + int(np.argmin(variance)))
    inverse = 1.0 / np.sqrt(variance)
    np.multiply(source, inverse, out=out)
    return Normalized(out, inverse, exponent)


def rescaled(
    lines: FloatArray, epsilon: float, axis: int, centred: bool
) -> tuple[FloatArray, FloatArray, NDArray[np.int32]]:
    """Divide every line, centred if asked, by a power 2**k that makes its squares fit.

    (x − μ)/sqrt(v + ε) does not change when x − μ is divided by 2**k and both v and ε by 4**k. The
    larger of the largest |x − μ| and sqrt(ε) becomes a number from 1/2 to 1.

    Returns: the divided lines, ε/4**k for each, k for each.
    """
    exponent = exponent_of(np.abs(lines).max(axis=axis, keepdims=True))
    source = np.ldexp(lines, -exponent)  # first, because centring can overflow too
    if centred:
        centre(source, source, axis)
    spread = exponent_of(np.abs(source).max(axis=axis, keepdims=True)) + exponent
    common = np.maximum(spread, exponent_of(np.sqrt(np.full(spread.shape, epsilon))))
    return np.ldexp(source, exponent - common), np.ldexp(epsilon, -2 * common), common


def exponent_of(magnitudes: FloatArray) -> NDArray[np.int32]:
    """Return the e for which the magnitude lies in [2**(e−1), 2**e)."""
    exponent = np.frexp(magnitudes)[1]
    return np.where(magnitudes > 0, exponent, np.int32(EXPONENT_OF_ZERO))


def pull_back(h: FloatArray, normalized: Normalized, *, axis: int, centred: bool) -> None:
    """Turn `h`, the gradient that arrives at x̂, into the gradient of x, in place.

    dx = (h − mean(h) − x̂·mean(h·x̂))/σ. Every value of a line has moved μ and σ, hence the means.
    """
    values, inverse, exponent = normalized
    through_deviation = values * mean_product_of(h, values, axis)
    if centred:
        h -= mean_of(h, axis)
    h -= through_deviation
    h *= inverse
    if exponent is not None:
        np.ldexp(h, -exponent, out=h)
