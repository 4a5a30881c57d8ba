"""Activation functions, each beside its derivative.

Chapters 4, 5 and 7. All of them take every float64 without overflow and without a warning: where a
formula would exponentiate a large positive number, it is written with the negative one.

relu and leaky_relu have a kink at 0, where this module takes the left slope: relu′(0) = 0.
"""

import numpy as np

from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import FloatArray, Operand, Tensor


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
    s = _logistic(x.value)
    return record("sigmoid", s, (x,), lambda adjoint: (adjoint * (s * (1.0 - s)),))


@quiet
def silu(x: Operand) -> Tensor:
    """x · s(x) with the logistic s, and derivative s(1 + x(1 − s)).

    Source: Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units", Neural Networks 107 (2018).

    >>> silu([-1000.0, 0.0, 1000.0]).value
    array([  -0.,    0., 1000.])
    """
    (x,) = live_operands("silu", x)
    v = x.value
    s = _logistic(v)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        slope = 1.0 - s
        slope *= v
        slope += 1.0
        slope *= s
        slope *= adjoint
        return (slope,)

    return record("silu", v * s, (x,), vjp)


@quiet
def relu(x: Operand) -> Tensor:
    """max(x, 0), with derivative 1 for x > 0 and 0 elsewhere, at 0 too.

    >>> relu([-2.0, 0.0, 2.0]).value
    array([0., 0., 2.])
    """
    (x,) = live_operands("relu", x)
    v = x.value
    return record("relu", np.maximum(v, 0.0), (x,), lambda adjoint: (adjoint * (v > 0.0),))


def _logistic(x: FloatArray) -> FloatArray:
    """e/(1 + e) with e = exp(x); from 40 on that is 1 to the last bit, so larger x stop there."""
    e = np.exp(np.minimum(x, 40.0))
    return np.asarray(e / (1.0 + e))
