"""The inverse normal distribution function, from + − × ÷ √ alone.

Chapter 5 draws the picture: a height between 0 and 1 goes in, the point of the normal curve below
which that share of the probability lies comes out. Fed with uniform heights it yields normal
numbers, one draw each.

`np.log` and `np.exp` give different last bits on different processors. Addition, multiplication,
division and the square root are fixed by IEEE 754 to the last bit, and `frexp` only reads the
exponent. Everything here is built from these in one stated order; hence equal bits everywhere.

Source: M. J. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988), 477–484.
Accuracy: relative error below 1e-15 on the whole grid. Not promised: an exactly rounded result.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Wichura's ratios of polynomials, constant term first. A/B serves the centre in q²; C/D and E/F
# serve the near and far tail in √(−log p).
CENTRE = 0.425
CENTRE_SQUARED = 0.180625
NEAR_TAIL = 1.6
FAR_TAIL = 5.0
A = (
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
    1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
    3.3430575583588128105e4, 2.5090809287301226727e3,
)  # fmt: skip
B = (
    1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
    2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
    5.2264952788528545610e3,
)  # fmt: skip
C = (
    1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
    3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
    2.27238449892691845833e-2, 7.74545014278341407640e-4,
)  # fmt: skip
D = (
    1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
    1.05075007164441684324e-9,
)  # fmt: skip
E = (
    6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
    2.71155556874348757815e-5, 2.01033439929228813265e-7,
)  # fmt: skip
F = (
    1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
    2.04426310338993978564e-15,
)  # fmt: skip

# ln 2 in two parts: the first has 21 trailing zero bits, so that exponent × LN2_HIGH is exact.
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
SQRT_HALF = math.sqrt(0.5)
# log((1+s)/(1−s)) = 2(s + s³/3 + s⁵/5 + …). With |s| below 0.1716 the term in s²⁷ is under 1e-19.
ATANH = tuple(1.0 / odd for odd in range(3, 27, 2))


def inverse_normal(centred: float) -> float:
    """Return x with Φ(x) = ½ + q, the standard normal quantile of a height given as q = u − ½.

    Args:
        centred: q, strictly between −½ and ½. Centring first keeps both tails equally exact.

    Returns:
        The quantile in standard deviations; `inverse_normal(-q) == -inverse_normal(q)` exactly.

    Draws consumed: none.

    >>> inverse_normal(0.0), round(inverse_normal(0.475), 12)
    (0.0, 1.95996398454)

    Source: Wichura (1988), AS 241, function PPND16.
    """
    if abs(centred) <= CENTRE:
        r = CENTRE_SQUARED - centred * centred
        return centred * _polynomial(A, r) / _polynomial(B, r)
    mantissa, exponent = math.frexp(0.5 - abs(centred))
    r = math.sqrt(-_log(mantissa, exponent))
    if r <= FAR_TAIL:
        size = _polynomial(C, r - NEAR_TAIL) / _polynomial(D, r - NEAR_TAIL)
    else:
        size = _polynomial(E, r - FAR_TAIL) / _polynomial(F, r - FAR_TAIL)
    return math.copysign(size, centred)


def inverse_normal_block(q: FloatArray, x: FloatArray, r: FloatArray, bottom: FloatArray) -> None:
    """Do the same for an array, bit for bit, within the memory that the caller brings.

    Args:
        q: centred heights, shape [n], strictly between −½ and ½.
        x: shape [n]; receives the quantiles.
        r, bottom: scratch, shape [n].

    Draws consumed: none.
    """
    np.multiply(q, q, out=r)
    np.subtract(CENTRE_SQUARED, r, out=r)
    _ratio_block(A, B, r, x, bottom, times=q)
    # About 15 % of all heights lie outside the centre; only they pay for logarithm and root.
    np.abs(q, out=bottom)
    outside = np.flatnonzero(bottom > CENTRE)
    piece = max(q.size // 6, 1)  # six scratch rows of this length fit into r and bottom
    for start in range(0, outside.size, piece):
        chosen = outside[start : start + piece]
        rows = [row[k * piece : k * piece + chosen.size] for row in (r, bottom) for k in range(3)]
        x[chosen] = _tail_block(q[chosen], *rows) if q.size >= 6 else _tail_few(q[chosen])


def _tail_few(q: FloatArray) -> FloatArray:
    return np.array([inverse_normal(height) for height in q.tolist()])


def _tail_block(
    q: FloatArray,
    mantissa: FloatArray,
    exponent: FloatArray,
    s: FloatArray,
    z: FloatArray,
    value: FloatArray,
    bottom: FloatArray,
) -> FloatArray:
    """The tail branch of `inverse_normal`, its lines in the same order; scratch of shape [n]."""
    np.abs(q, out=z)
    np.subtract(0.5, z, out=z)
    integer = bottom.view(np.int32)[: q.size]
    np.frexp(z, out=(mantissa, integer))
    low = np.less(mantissa, SQRT_HALF, out=z.view(np.bool_)[: q.size])
    np.subtract(integer, low, out=exponent)
    np.add(low, 1.0, out=value)
    np.multiply(mantissa, value, out=mantissa)
    # The logarithm, as `_log`.
    np.subtract(mantissa, 1.0, out=mantissa)
    np.add(mantissa, 2.0, out=s)
    np.divide(mantissa, s, out=s)
    np.multiply(s, s, out=z)
    _polynomial_block(ATANH, z, value)
    np.multiply(z, value, out=value)
    np.multiply(s, 2.0, out=s)
    np.multiply(s, value, out=value)
    np.add(s, value, out=value)
    np.multiply(exponent, LN2_LOW, out=s)
    np.add(s, value, out=value)
    np.multiply(exponent, LN2_HIGH, out=s)
    np.add(s, value, out=value)
    r = np.sqrt(np.negative(value, out=value), out=mantissa)
    far = np.flatnonzero(r > FAR_TAIL)
    beyond = r[far] - FAR_TAIL
    np.subtract(r, NEAR_TAIL, out=r)
    _ratio_block(C, D, r, value, bottom)
    if far.size:
        reached, below = np.empty_like(beyond), np.empty_like(beyond)
        _ratio_block(E, F, beyond, reached, below)
        value[far] = reached
    return np.copysign(value, q, out=value)


def _log(mantissa: float, exponent: int) -> float:
    """log(mantissa · 2**exponent) for a mantissa in [½, 1), first moved to [√½, √2)."""
    if mantissa < SQRT_HALF:
        mantissa, exponent = 2.0 * mantissa, exponent - 1
    f = mantissa - 1.0
    s = f / (f + 2.0)
    z = s * s
    odd = 2.0 * s + 2.0 * s * (z * _polynomial(ATANH, z))
    return exponent * LN2_HIGH + (exponent * LN2_LOW + odd)


def _polynomial(coefficients: Sequence[float], r: float) -> float:
    """Horner's rule, the highest power first: the order of operations that fixes the bits."""
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * r + coefficient
    return value


def _polynomial_block(coefficients: Sequence[float], r: FloatArray, out: FloatArray) -> None:
    np.multiply(r, coefficients[-1], out=out)
    np.add(out, coefficients[-2], out=out)
    for coefficient in coefficients[-3::-1]:
        np.multiply(out, r, out=out)
        np.add(out, coefficient, out=out)


def _ratio_block(
    top: Sequence[float],
    bottom: Sequence[float],
    r: FloatArray,
    out: FloatArray,
    below: FloatArray,
    times: FloatArray | None = None,
) -> None:
    """Write top(r)/bottom(r), or times·top(r)/bottom(r), into `out`; `below` is scratch."""
    _polynomial_block(top, r, out)
    _polynomial_block(bottom, r, below)
    if times is not None:
        np.multiply(times, out, out=out)
    np.divide(out, below, out=out)
