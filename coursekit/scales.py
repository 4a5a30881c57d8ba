"""Scales: how many connections a matrix makes, hence which spread its weights need.

Chapters 3 to 5 derive the one rule

    target variance = factor / n,

where n counts connections (`mode`) and the factor belongs to the activation. Every named rule is
one line on it. The shape of a matrix is [fan_in, fan_out]; see `initializers` for the layout.

Sources: LeCun, Bottou, Orr and Müller, Efficient BackProp, 1998, section 4.6; Glorot and Bengio,
Understanding the difficulty of training deep feedforward neural networks, 2010, equations 12 and
16; He, Zhang, Ren and Sun, Delving Deep into Rectifiers, 2015, equations 10 and 14.

Not promised: that one drawn matrix has the target variance, or that a network preserves it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coursekit.arguments import checked_integer, checked_lengths, checked_real
from coursekit.errors import FanSumOverflow, OutOfRange, UnknownChoice, ZeroFanIn, ZeroFanOut

Mode = Literal["fan_in", "fan_out", "fan_avg", "fan_geo_avg"]
MODES: tuple[Mode, ...] = ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")


@dataclass(frozen=True)
class Scale:
    """The spread that a rule asks of one weight matrix.

    Fields:
        fan_in, fan_out: connections into an output, connections out of an input.
        target_variance: of the distribution, in squared weight units.
        standard_deviation: its root, in weight units: the typical size.
        uniform_limit: √3 times that, in weight units: the end of the uniform interval.
    """

    fan_in: int
    fan_out: int
    target_variance: float
    standard_deviation: float
    uniform_limit: float


def fans(shape: Sequence[int], in_axis: int = -2, out_axis: int = -1) -> tuple[int, int]:
    """Count the connections of a weight array: (fan_in, fan_out).

    All axes other than the two named form the receptive field; its size multiplies both counts.

    Args:
        shape: at least two lengths.
        in_axis, out_axis: which axis runs over inputs and which over outputs.

    Raises:
        WrongType: a length or an axis that is no integer.
        OutOfRange: fewer than two axes, a negative length, an axis that is not there or serves
            twice.

    Draws consumed: none.

    >>> fans((4, 2)), fans((3, 3, 16, 32)), fans((32, 16, 3, 3), in_axis=1, out_axis=0)
    ((4, 2), (144, 288), (144, 288))
    """
    lengths = checked_lengths(shape, "shape")
    if len(lengths) < 2:
        raise OutOfRange("shape", "of at least two axes", lengths)
    axes = []
    for subject, axis in (("in_axis", in_axis), ("out_axis", out_axis)):
        if not -len(lengths) <= checked_integer(axis, subject) < len(lengths):
            raise OutOfRange(subject, f"an axis of {lengths}", axis)
        axes.append(axis % len(lengths))
    if axes[0] == axes[1]:
        raise OutOfRange("out_axis", "another axis than in_axis", out_axis)
    field = math.prod(length for axis, length in enumerate(lengths) if axis not in axes)
    return lengths[axes[0]] * field, lengths[axes[1]] * field


def variance_scaling(
    fan_in: int, fan_out: int, factor: float = 1.0, mode: Mode = "fan_in"
) -> Scale:
    """Return the scale whose target variance is factor / n: the core of every named rule.

    Args:
        fan_in, fan_out: counts, at least 1.
        factor: what the activation takes away, to be put back; a pure number above 0.
        mode: n = fan_in, fan_out, their arithmetic mean ("fan_avg") or their geometric mean
            ("fan_geo_avg").

    Raises:
        WrongType: a fan that is a bool or no integer, a factor that is no number.
        ZeroFanIn, ZeroFanOut: a fan below 1.
        FanSumOverflow: fan_in + fan_out reaches 2**64.
        OutOfRange: a factor that is not finite and above 0, or one whose scale would not be.
        UnknownChoice: an unknown mode.

    Draws consumed: none.

    >>> variance_scaling(4, 2, factor=2.0, mode="fan_in").target_variance
    0.5
    """
    fan_in, fan_out = checked_fans(fan_in, fan_out)
    factor = checked_real(factor, "factor")
    if factor <= 0.0:
        raise OutOfRange("factor", "above 0", factor)
    # An integer sum, then one division, then one root: this order fixes the bits.
    if mode == "fan_in":
        twice, n = 1.0, float(fan_in)
    elif mode == "fan_out":
        twice, n = 1.0, float(fan_out)
    elif mode == "fan_avg":
        twice, n = 2.0, float(fan_in + fan_out)
    elif mode == "fan_geo_avg":
        twice, n = 1.0, math.sqrt(fan_in * fan_out)
    else:
        raise UnknownChoice("mode", mode, MODES)
    target_variance = twice * factor / n
    uniform_limit = math.sqrt(3.0 * twice * factor / n)
    if target_variance == 0.0 or uniform_limit == math.inf:
        raise OutOfRange("factor", "one whose scale is finite and above 0", factor)
    return Scale(
        fan_in,
        fan_out,
        target_variance,
        standard_deviation=math.sqrt(target_variance),
        uniform_limit=uniform_limit,
    )


def xavier_scale(fan_in: int, fan_out: int, gain: float = 1.0) -> Scale:
    """Var(w) = gain²·2/(fan_in + fan_out), Glorot and Bengio (2010), equations 12 and 16.

    Raises: as `variance_scaling`. Draws consumed: none.

    >>> xavier_scale(4, 2)  # doctest: +NORMALIZE_WHITESPACE
    Scale(fan_in=4, fan_out=2, target_variance=0.3333333333333333,
          standard_deviation=0.5773502691896257, uniform_limit=1.0)
    """
    return variance_scaling(fan_in, fan_out, _squared(gain), "fan_avg")


def he_scale(fan_in: int, fan_out: int, mode: Mode = "fan_in") -> Scale:
    """Var(w) = 2/fan_in, He et al. (2015), equation 10; mode "fan_out" gives equation 14.

    Raises: as `variance_scaling`. Draws consumed: none.

    >>> he_scale(8, 2).standard_deviation
    0.5
    """
    return variance_scaling(fan_in, fan_out, 2.0, mode)


def lecun_scale(fan_in: int, fan_out: int) -> Scale:
    """Var(w) = 1/fan_in, LeCun et al. (1998), section 4.6.

    Raises: as `variance_scaling`. Draws consumed: none.

    >>> lecun_scale(4, 2).standard_deviation
    0.5
    """
    return variance_scaling(fan_in, fan_out, 1.0, "fan_in")


def checked_fans(fan_in: int, fan_out: int) -> tuple[int, int]:
    """Return the fans as Python integers, or raise as `variance_scaling` says."""
    fan_in, fan_out = checked_integer(fan_in, "fan_in"), checked_integer(fan_out, "fan_out")
    if fan_in < 1:
        raise ZeroFanIn(fan_in)
    if fan_out < 1:
        raise ZeroFanOut(fan_out)
    if fan_in + fan_out >= 2**64:
        raise FanSumOverflow(fan_in, fan_out)
    return fan_in, fan_out


def _squared(gain: float) -> float:
    gain = checked_real(gain, "gain")
    if gain <= 0.0:
        raise OutOfRange("gain", "above 0", gain)
    if not 0.0 < gain * gain < math.inf:
        raise OutOfRange("gain", "one whose square is finite and above 0", gain)
    return gain * gain
