"""Activation functions, each beside its derivative.

Chapters 4, 5 and 7. All of them take every float64 without overflow and without a warning: where a
formula would exponentiate a large positive number, it is arranged so that it does not.

relu and leaky_relu have a kink at 0, where this module takes the slope from the left: relu′(0) = 0.
Values that pass through exp or tanh may differ in the last digits between machines.
"""

import math

import numpy as np

from coursekit.arguments import checked_real
from coursekit.autodiff.arrays import FloatArray
from coursekit.autodiff.normal_cdf import normal_cdf
from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import Operand, Tensor

_SQRT_2PI = math.sqrt(2.0 * math.pi)


@quiet
def tanh(x: Operand) -> Tensor:
    """tanh x, with derivative 1 − tanh²x.

    >>> tanh([-1000.0, 0.0, 1000.0]).value
    array([-1.,  0.,  1.])
    """
    (x,) = live_operands("tanh", x)
    y = np.tanh(x.value)
    return record("tanh", y, (x,), lambda adjoint: (adjoint * (1.0 - y * y),))


@quiet
def sigmoid(x: Operand) -> Tensor:
    """s(x) = 1/(1 + e⁻ˣ), with derivative s(1 − s).

    >>> sigmoid([-1000.0, 0.0, 1000.0]).value
    array([0. , 0.5, 1. ])
    """
    (x,) = live_operands("sigmoid", x)
    s = logistic(x.value)
    return record("sigmoid", s, (x,), lambda adjoint: (adjoint * (s * (1.0 - s)),))


@quiet
def softplus(x: Operand) -> Tensor:
    """log(1 + eˣ), a smooth relu, with derivative s(x).

    >>> softplus([-1000.0, 1000.0]).value
    array([   0., 1000.])
    """
    (x,) = live_operands("softplus", x)
    v = x.value
    return record("softplus", np.logaddexp(0.0, v), (x,), lambda adjoint: (adjoint * logistic(v),))


@quiet
def silu(x: Operand) -> Tensor:
    """x · s(x) with the logistic s, and derivative s(1 + x(1 − s)).

    Source: Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units for neural network function
    approximation in reinforcement learning", Neural Networks 107 (2018).

    >>> silu([-1000.0, 0.0, 1000.0]).value
    array([  -0.,    0., 1000.])
    """
    (x,) = live_operands("silu", x)
    v = x.value
    s = logistic(v)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        slope = 1.0 - s  # then in place: one array instead of five
        slope *= v
        slope += 1.0
        slope *= s
        slope *= adjoint
        return (slope,)

    return record("silu", v * s, (x,), vjp)


@quiet
def gelu(x: Operand) -> Tensor:
    """x · Φ(x) with the normal distribution function Φ, and derivative Φ(x) + x·e^(−x²/2)/√(2π).

    The exact function, not its tanh approximation.

    Source: Hendrycks and Gimpel, "Gaussian error linear units", arXiv:1606.08415, section 2.

    >>> gelu([-1000.0, 0.0, 1000.0]).value
    array([  -0.,    0., 1000.])
    """
    (x,) = live_operands("gelu", x)
    v = x.value
    cdf = normal_cdf(v)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        density = np.exp(-0.5 * v * v) / _SQRT_2PI
        return (adjoint * (cdf + v * density),)

    return record("gelu", v * cdf, (x,), vjp)


@quiet
def relu(x: Operand) -> Tensor:
    """max(x, 0), with derivative 1 for x > 0 and 0 elsewhere, at 0 too.

    >>> relu([-2.0, 0.0, 2.0]).value
    array([0., 0., 2.])
    """
    (x,) = live_operands("relu", x)
    v = x.value
    return record("relu", np.maximum(v, 0.0), (x,), lambda adjoint: (adjoint * (v > 0.0),))


@quiet
def leaky_relu(x: Operand, slope: float = 0.01) -> Tensor:
    """x for x > 0 and slope · x elsewhere; the derivative is 1 or the slope.

    >>> leaky_relu([-2.0, 0.0, 2.0], slope=0.5).value
    array([-1.,  0.,  2.])
    """
    slope = checked_real(slope, "slope of leaky_relu")
    (x,) = live_operands("leaky_relu", x)
    v = x.value
    factor = np.where(v > 0.0, 1.0, slope)
    return record("leaky_relu", factor * v, (x,), lambda adjoint: (adjoint * factor,))


def logistic(x: FloatArray) -> FloatArray:
    """s(x) = e/(1 + e) with e = exp(x). From x = 40 on s is 1 to the last bit, so x stops there."""
    e = np.exp(np.minimum(x, 40.0))
    return np.asarray(e / (1.0 + e))
