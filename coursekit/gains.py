"""Gains: what an activation takes from the second moment of a signal, to be put back.

Chapter 5 derives them. A gain is scale-free when f(cz) = c·f(z) for c > 0, as for the linear and
the rectified units: one number then serves signals of any size. SiLU and GELU have none; their
gain depends on the second moment q that arrives, and `second_moment_gain` computes it by
quadrature.

Sources: He et al., Delving Deep into Rectifiers, 2015, equations 8 and 15. The values for tanh and
SELU are conventions of the deep-learning libraries, not derivations.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from coursekit.arguments import checked_real
from coursekit.errors import OutOfRange, UnknownChoice, WrongType

FloatArray = NDArray[np.float64]
LEAKY_SLOPE = 0.01
GAINS = {
    "linear": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "leaky_relu": math.sqrt(2.0 / (1.0 + LEAKY_SLOPE**2)),
    "selu": 3.0 / 4.0,
}


def gain(name: str, parameter: float | None = None) -> float:
    """Return the factor on the standard deviation that the field uses for an activation.

    Args:
        name: linear, sigmoid, tanh, relu, leaky_relu or selu.
        parameter: the negative slope of leaky_relu, 0.01 unless given; no other activation has
            one.

    Raises:
        WrongType: a name that is no string, a slope that is no number.
        UnknownChoice: an activation without a scale-free gain, such as silu.
        OutOfRange: a slope that is not finite, or a parameter for another activation.

    Draws consumed: none.

    >>> gain("relu"), gain("leaky_relu", 1.0)
    (1.4142135623730951, 1.0)

    Source: He et al. (2015), equation 15, for the rectified units.
    """
    if not isinstance(name, str):
        raise WrongType("activation", "a string", name)
    if name not in GAINS:
        raise UnknownChoice("activation with a scale-free gain", name, tuple(GAINS))
    if parameter is None:
        return GAINS[name]
    if name != "leaky_relu":
        raise OutOfRange(f"parameter of {name}", "left out; only leaky_relu has one", parameter)
    slope = checked_real(parameter, "negative slope")
    return math.sqrt(2.0 / (1.0 + slope * slope))


def second_moment(f: Callable[[FloatArray], FloatArray], q: float) -> float:
    """Return E[f(z)²] for z normal with mean 0 and second moment q.

    Args:
        f: maps an array to an array of its shape; smooth but for a kink or a jump at 0.
        q: above 0, in squared signal units.

    Raises:
        WrongType, OutOfRange: a q that is not a finite number above 0, an E[f(z)²] that is not
            finite.

    Draws consumed: none. Tolerance: 1e-12 relative, as it goes through exp.

    >>> round(second_moment(lambda z: np.maximum(z, 0.0), 3.0), 9)
    1.5
    """
    q = checked_real(q, "q")
    if q <= 0.0:
        raise OutOfRange("q", "above 0", q)
    # 40 points on each of 16 panels from −12 to 12 standard deviations; 0 is a panel's end.
    points, weights = _legendre(40)
    starts = np.arange(-12.0, 12.0, 1.5)[:, None]
    z = starts + 0.75 * (points + 1.0)
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is checked
        moment = float(np.sum(0.75 * weights * density * f(math.sqrt(q) * z) ** 2))
    return checked_real(moment, "second moment of the activation")


def second_moment_gain(f: Callable[[FloatArray], FloatArray], q: float) -> float:
    """Return √(q / E[f(z)²]): the gain that keeps a second moment of q through f.

    Args, Raises, tolerance: as `second_moment`, and OutOfRange for an activation that is 0
    everywhere. Draws consumed: none.

    >>> silu = lambda z: z / (1.0 + np.exp(-z))
    >>> [round(second_moment_gain(silu, q), 6) for q in (0.25, 1.0, 4.0)]
    [1.860175, 1.676532, 1.508461]
    """
    moment = second_moment(f, q)
    if moment == 0.0:
        raise OutOfRange("second moment of the activation", "above 0", moment)
    return math.sqrt(q / moment)


@cache
def _legendre(count: int) -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(count)
