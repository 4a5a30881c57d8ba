"""Starting weights: the samplers and the fixed values.

Chapters 4 and 5 build the samplers, chapter 6 makes parameters of what they return. A sampler is
one line: a scale (`scales`), then one draw a weight (`rng`).

**Layout, for the whole course.** A weight matrix has the shape [fan_in, fan_out]: a row belongs to
an input coordinate, a column to an output coordinate, and a layer computes `x @ W`. Arrays are
float64 in row-major order.

Sources: each docstring names its own; `scales` derives the spreads.

Promised: the same bits everywhere, since every sampler uses + − × ÷ √ in a fixed order. Not
promised: that one drawn matrix has the target variance.
"""

import numpy as np
from numpy.typing import NDArray

from coursekit.arguments import Size, checked_real, checked_shape
from coursekit.errors import WrongType
from coursekit.gains import gain, second_moment, second_moment_gain
from coursekit.rng import SplitMix64
from coursekit.scales import (
    MODES,
    Mode,
    Scale,
    fans,
    he_scale,
    lecun_scale,
    variance_scaling,
    xavier_scale,
)

__all__ = [
    "MODES",
    "Mode",
    "Scale",
    "constant",
    "fans",
    "gain",
    "he_normal",
    "he_scale",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_scale",
    "lecun_uniform",
    "ones",
    "orthogonal",
    "second_moment",
    "second_moment_gain",
    "truncated_normal",
    "variance_scaling",
    "xavier_normal",
    "xavier_scale",
    "xavier_uniform",
    "zeros",
]

FloatArray = NDArray[np.float64]
TRUNCATED_DEVIATION = 0.87962566103423978  # of a standard normal cut at ±2 (0.7737 in variance)
TRUNCATED_SHARE = 0.95449973610364159  # of its probability, Φ(2) − Φ(−2)

# --- samplers: from a spread to numbers -------------------------------------------------------
# Each draws one number a weight, in row-major order, and leaves the generator where it was when
# it refuses. Raises, for all: what the scale raises; WrongType for an unusable `rng`; then
# ShapeProductOverflow (2**64 elements and more) and AllocationFailed (more than memory can hold).


def xavier_uniform(fan_in: int, fan_out: int, rng: SplitMix64, gain: float = 1.0) -> FloatArray:
    """Sample [fan_in, fan_out] weights from U[−a, a), a² = 6·gain²/(fan_in + fan_out).

    Raises: see above. Draws consumed: fan_in·fan_out.

    >>> xavier_uniform(2, 2, SplitMix64(17))
    array([[ 0.00495088, -0.26593209],
           [-0.42050436, -0.67631344]])

    Source: Glorot and Bengio (2010), equation 16.
    """
    return _uniform(xavier_scale(fan_in, fan_out, gain), rng)


def xavier_normal(fan_in: int, fan_out: int, rng: SplitMix64, gain: float = 1.0) -> FloatArray:
    """Sample weights from N(0, 2·gain²/(fan_in + fan_out)); otherwise as `xavier_uniform`."""
    return _normal(xavier_scale(fan_in, fan_out, gain), rng)


def he_uniform(fan_in: int, fan_out: int, rng: SplitMix64, mode: Mode = "fan_in") -> FloatArray:
    """Sample weights from U[−a, a), a² = 6/fan_in; He et al. (2015), equation 10.

    Raises: see above. Draws consumed: fan_in·fan_out.
    """
    return _uniform(he_scale(fan_in, fan_out, mode), rng)


def he_normal(fan_in: int, fan_out: int, rng: SplitMix64, mode: Mode = "fan_in") -> FloatArray:
    """Sample weights from N(0, 2/fan_in); He et al. (2015), equation 10.

    Raises: see above. Draws consumed: fan_in·fan_out.

    >>> he_normal(4, 2, SplitMix64(17)).shape
    (4, 2)
    """
    return _normal(he_scale(fan_in, fan_out, mode), rng)


def lecun_uniform(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
    """Sample weights from U[−a, a), a² = 3/fan_in; LeCun et al. (1998), section 4.6."""
    return _uniform(lecun_scale(fan_in, fan_out), rng)


def lecun_normal(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
    """Sample weights from N(0, 1/fan_in); LeCun et al. (1998), section 4.6."""
    return _normal(lecun_scale(fan_in, fan_out), rng)


def truncated_normal(
    fan_in: int,
    fan_out: int,
    rng: SplitMix64,
    factor: float = 1.0,
    mode: Mode = "fan_in",
    corrected: bool = True,
) -> FloatArray:
    """Sample a normal that is cut at two standard deviations, each weight from one draw.

    Cutting keeps 0.774 of the variance. `corrected` divides the standard deviation by
    0.8796… beforehand, so that the target variance factor/n holds after the cut.

    Args:
        factor, mode: as in `variance_scaling`.

    Raises: see above. Draws consumed: fan_in·fan_out.

    >>> weights = truncated_normal(100, 100, SplitMix64(17), corrected=False)
    >>> bool(abs(weights).max() <= 2 * 0.1)
    True
    """
    scale = variance_scaling(fan_in, fan_out, factor, mode)
    deviation = scale.standard_deviation
    if corrected:
        deviation /= TRUNCATED_DEVIATION
    _require_generator(rng)
    return rng.normal(0.0, deviation, (scale.fan_in, scale.fan_out), share=TRUNCATED_SHARE)


def orthogonal(fan_in: int, fan_out: int, rng: SplitMix64, gain: float = 1.0) -> FloatArray:
    """Sample a matrix with orthonormal columns (rows, if it is wide), times `gain`.

    A standard normal matrix is orthogonalized by Gram and Schmidt's method with positive lengths,
    which makes every orientation equally likely. Sums follow a fixed tree of additions, since a
    library's matrix product would not give the same bits everywhere.

    Raises: see above; OutOfRange: a gain that is not finite and above 0.
    Draws consumed: fan_in·fan_out.

    >>> q = orthogonal(3, 2, SplitMix64(17))
    >>> bool(np.allclose(q.T @ q, np.eye(2), rtol=0, atol=1e-15))
    True

    Sources: Saxe, McClelland and Ganguli, Exact solutions to the nonlinear dynamics of learning
    in deep linear neural networks, 2014, section 3; Mezzadri, How to generate random matrices
    from the classical compact groups, 2007, section 5.
    """
    scale = xavier_scale(fan_in, fan_out, gain)
    _require_generator(rng)
    drawn = rng.standard_normal((scale.fan_in, scale.fan_out))
    tall = np.array(drawn if fan_in >= fan_out else drawn.T, order="C")
    _orthonormalize(tall)
    _orthonormalize(tall)  # once more: what rounding left over in the first pass goes here
    return np.multiply(tall if fan_in >= fan_out else tall.T, float(gain), order="C")


# --- fixed values -----------------------------------------------------------------------------


def constant(shape: Size, value: float) -> FloatArray:
    """Return an array filled with one finite value. Draws consumed: none.

    Raises:
        WrongType: a length or value that is no number. OutOfRange: a negative length, a value
            that is not finite. ShapeProductOverflow, AllocationFailed: too many elements.
    """
    return np.full(checked_shape(shape, "shape"), checked_real(value, "value"))


def zeros(shape: Size) -> FloatArray:
    """Return zeros, the usual start of a bias. Raises: as `constant`. Draws consumed: none."""
    return np.zeros(checked_shape(shape, "shape"))


def ones(shape: Size) -> FloatArray:
    """Return ones, the usual start of a normalization gain. As `zeros` otherwise."""
    return np.ones(checked_shape(shape, "shape"))


def identity(n: int, gain: float = 1.0) -> FloatArray:
    """Return gain times the n × n identity. Raises: as `constant`. Draws consumed: none.

    >>> identity(2, 0.5)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    return np.eye(checked_shape((n, n), "n")[0]) * checked_real(gain, "gain")


# --- the core of the samplers -----------------------------------------------------------------


def _uniform(scale: Scale, rng: SplitMix64) -> FloatArray:
    _require_generator(rng)
    return rng.symmetric(scale.uniform_limit, (scale.fan_in, scale.fan_out))


def _normal(scale: Scale, rng: SplitMix64) -> FloatArray:
    _require_generator(rng)
    return rng.normal(0.0, scale.standard_deviation, (scale.fan_in, scale.fan_out))


def _orthonormalize(columns: FloatArray) -> None:
    """Gram and Schmidt in place: each column to length 1, its share taken out of the later ones."""
    for j in range(columns.shape[1]):
        column = columns[:, j]
        column /= np.sqrt(_tree_sum(column * column))
        rest = columns[:, j + 1 :]
        rest -= column[:, None] * _tree_sum(column[:, None] * rest)


def _tree_sum(terms: FloatArray) -> FloatArray:
    """Sum over the first axis in a fixed order: the second half onto the first, until one is left.

    `np.sum` promises no order of additions, and the order decides the last bit.
    """
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        terms[: len(terms) - half] += terms[half:]
        terms = terms[:half]
    total: FloatArray = terms[0]
    return total


def _require_generator(rng: SplitMix64) -> None:
    if not isinstance(rng, SplitMix64):
        raise WrongType("rng", "a SplitMix64", rng)
