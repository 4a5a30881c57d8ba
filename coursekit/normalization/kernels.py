"""The arithmetic that the three norms share, on plain arrays.

Chapter 5 derives it. A *line* is a set of values that are normalized with one mean and one
standard deviation σ: one row for `layer_norm` and `rms_norm`, one column for `batch_norm`. Here
every line is a row of a C-ordered matrix.

Forward, for a line of n values:  x̂ = (x − μ)/σ,  μ = Σx/n,  σ = sqrt(Σ(x − μ)²/n + ε).
Backward, for the gradient h that arrives at x̂:  dx = (h − mean(h) − x̂·mean(h·x̂))/σ.
RMSNorm is the same with μ = 0 and without the term mean(h), which came from μ.

Two habits make the numbers good and fast. Large matrices are worked through in blocks that stay
in the processor's second-level cache, in place. And squares are formed only where they fit: lines
whose variance leaves the range of float64 are first divided by a power of two, which changes no
digit. Not promised: the same bits on every machine, because dot products go through the BLAS.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coursekit.autodiff.tensor import FloatArray
from coursekit.errors import ZeroEnergyRow

BLOCK_ELEMENTS = 64 * 1024  # 512 KB of float64, half of a common second-level cache
# Above this, what the squares lost below the smallest float64, 2**-1074, is no digit of their sum.
SMALLEST_SAFE_VARIANCE = 2.0**-960
# Stands for the exponent of 0. It stays below that of any float64 when 1024 is added to it.
EXPONENT_OF_ZERO = -4000


def line_blocks(count: int, width: int) -> Iterator[slice]:
    """Cut `count` lines of `width` values into slices that fit into the cache."""
    step = max(1, BLOCK_ELEMENTS // width)
    return (slice(start, start + step) for start in range(0, count, step))


def mean_of(lines: FloatArray) -> FloatArray:
    """Return the mean of every line, as a column."""
    width = lines.shape[1]
    # A dot product with ones is the fastest sum that NumPy has.
    mean: FloatArray = np.vecdot(lines, np.ones(width)) / width
    return mean[:, np.newaxis]


def mean_square_of(lines: FloatArray) -> FloatArray:
    """Return the mean of the squares of every line, as a column."""
    mean: FloatArray = np.vecdot(lines, lines) / lines.shape[1]
    return mean[:, np.newaxis]


def centre(lines: FloatArray, out: FloatArray) -> FloatArray:
    """Write `lines` minus their means into `out` and return the column of means.

    One pass would leave the rounding error of the mean in every difference: at a mean of 1e8 an
    error of 1e-8, and a spread where a constant line has none. The differences are small numbers
    with a small mean, so a second pass removes what the first one left.
    """
    first = mean_of(lines)
    np.subtract(lines, first, out=out)
    second = mean_of(out)
    out -= second
    return first + second


def normalize(
    lines: FloatArray, epsilon: float, out: FloatArray, *, centred: bool, first_line: int = 0
) -> tuple[FloatArray, NDArray[np.int32] | None]:
    """Write x̂ of every line into `out`, which is another array than `lines`.

    Returns: the column of 1/σ, and the exponents k of the powers 2**k by which the lines had to be
    divided, so that the true 1/σ is the returned one times 2**-k; None where none had to be.
    Raises: `ZeroEnergyRow`, counted from `first_line`, when a line has σ = 0.
    """
    source, exponent = lines, None
    if centred:
        centre(lines, out)
        source = out
    variance = mean_square_of(source) + epsilon
    if not (variance.min() >= SMALLEST_SAFE_VARIANCE and variance.max() < np.inf):
        source, scaled_epsilon, exponent = rescaled(lines, epsilon, centred=centred)
        variance = mean_square_of(source) + scaled_epsilon
        if not variance.all():
            raise ZeroEnergyRow(first_line + int(np.argmin(variance)))
    inverse = 1.0 / np.sqrt(variance)
    np.multiply(source, inverse, out=out)
    return inverse, exponent


def rescaled(
    lines: FloatArray, epsilon: float, *, centred: bool
) -> tuple[FloatArray, FloatArray, NDArray[np.int32]]:
    """Divide every line, centred if asked, by a power 2**k that makes its squares fit.

    (x − μ)/sqrt(v + ε) does not change when x − μ is divided by 2**k and both v and ε by 4**k. The
    larger of the largest |x − μ| and sqrt(ε) becomes a number from 1/2 to 1.

    Returns: the divided lines, ε/4**k as a column, the column of k.
    """
    exponent = exponent_of(np.abs(lines).max(axis=1, keepdims=True))
    source = np.ldexp(lines, -exponent)  # first, because centring can overflow too
    if centred:
        centre(source, source)
    spread = exponent_of(np.abs(source).max(axis=1, keepdims=True)) + exponent
    common = np.maximum(spread, exponent_of(np.sqrt(np.full_like(spread, epsilon, dtype=float))))
    return np.ldexp(source, exponent - common), np.ldexp(epsilon, -2 * common), common


def exponent_of(magnitudes: FloatArray) -> NDArray[np.int32]:
    """Return the e for which the magnitude lies in [2**(e−1), 2**e)."""
    exponent = np.frexp(magnitudes)[1]
    return np.where(magnitudes > 0, exponent, np.int32(EXPONENT_OF_ZERO))


def pull_back(
    upstream: FloatArray,
    normalized: FloatArray,
    inverse: FloatArray,
    exponent: NDArray[np.int32] | None,
    *,
    centred: bool,
) -> None:
    """Turn the gradient that arrives at x̂ into the gradient of x, in place.

    dx = (h − mean(h) − x̂·mean(h·x̂))/σ. Every value of the line has moved μ and σ, hence the two
    means. Overwrites both `upstream`, which holds the answer afterwards, and `normalized`.
    """
    normalized *= (np.vecdot(upstream, normalized) / upstream.shape[1])[:, np.newaxis]
    if centred:
        upstream -= mean_of(upstream)
    upstream -= normalized
    upstream *= inverse
    if exponent is not None:
        np.ldexp(upstream, -exponent, out=upstream)
