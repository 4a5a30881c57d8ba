"""Arithmetic on elements: + − × ÷, powers, exp, log, square root, each beside its derivative.

Chapter 7. Each function computes its value and defines `vjp`, which turns the adjoint of the
result (∂output/∂result, of the result's shape) into the adjoint contributions of the operands.
For an elementwise y = f(x) that is adjoint · f′(x), element by element.

Operands broadcast as in NumPy. An operand that was stretched is used several times, so its
contributions are summed back to its own shape (`unbroadcast`).

Every function here raises, in this order: `WrongType` or `NonFiniteLeaf` for an operand that cannot
become a constant, `ReleasedOperand`, `ShapeMismatch`, `NonFiniteForward`.

Bits: + − × ÷ and sqrt are rounded once, as IEEE 754 asks; exp, log and general powers may differ
in the last digits between machines.
"""

import numpy as np

from coursekit.arguments import checked_real
from coursekit.autodiff.arrays import FloatArray, is_number
from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import Operand, Tensor
from coursekit.errors import ShapeMismatch


def unbroadcast(adjoint: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Sum `adjoint` over the axes along which an operand of `shape` was stretched.

    >>> unbroadcast(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    if adjoint.shape == shape:
        return adjoint
    added = adjoint.ndim - len(shape)
    stretched = [
        axis
        for axis, length in enumerate(adjoint.shape)
        if axis < added or shape[axis - added] != length
    ]
    summed: FloatArray = np.add.reduce(adjoint, axis=tuple(stretched))
    return summed.reshape(shape)


def broadcast_mismatch(operation: str, *operands: Tensor) -> ShapeMismatch:
    """The error for operands that cannot be stretched to one shape."""
    return ShapeMismatch(operation, "shapes that broadcast", tuple(x.shape for x in operands))


@quiet
def add(a: Operand, b: Operand) -> Tensor:
    """a + b. Both derivatives are 1: the adjoint passes through unchanged.

    >>> add([1.0, 2.0], 0.5).value
    array([1.5, 2.5])
    """
    a, b = live_operands("add", a, b)
    x, y = a.value, b.value
    try:
        value = x + y
    except ValueError:
        raise broadcast_mismatch("add", a, b) from None
    if x.shape == y.shape:  # nothing was stretched, and nothing needs to be remembered
        return record("add", value, (a, b), _to_both)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        return unbroadcast(adjoint, x.shape), unbroadcast(adjoint, y.shape)

    return record("add", value, (a, b), vjp)


def _to_both(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
    return adjoint, adjoint


@quiet
def sub(a: Operand, b: Operand) -> Tensor:
    """a − b, with derivatives 1 and −1.

    >>> sub([1.0, 2.0], 0.5).value
    array([0.5, 1.5])
    """
    a, b = live_operands("sub", a, b)
    x, y = a.value, b.value
    try:
        value = x - y
    except ValueError:
        raise broadcast_mismatch("sub", a, b) from None

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        return unbroadcast(adjoint, x.shape), unbroadcast(-adjoint, y.shape)

    return record("sub", value, (a, b), vjp)


@quiet
def mul(a: Operand, b: Operand) -> Tensor:
    """a · b. The derivative in each factor is the other factor.

    >>> mul([1.0, 2.0], 0.5).value
    array([0.5, 1. ])
    """
    a, b = live_operands("mul", a, b)
    x, y = a.value, b.value
    try:
        value = x * y
    except ValueError:
        raise broadcast_mismatch("mul", a, b) from None

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        return unbroadcast(adjoint * y, x.shape), unbroadcast(adjoint * x, y.shape)

    return record("mul", value, (a, b), vjp)


@quiet
def div(a: Operand, b: Operand) -> Tensor:
    """a / b, with ∂/∂a = 1/b and ∂/∂b = −(a/b)/b.

    >>> div([1.0, 3.0], 2.0).value
    array([0.5, 1.5])
    """
    a, b = live_operands("div", a, b)
    x, y = a.value, b.value
    try:
        quotient = x / y
    except ValueError:
        raise broadcast_mismatch("div", a, b) from None

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        share = adjoint / y
        return unbroadcast(share, x.shape), unbroadcast(-share * quotient, y.shape)

    return record("div", quotient, (a, b), vjp)


@quiet
def neg(x: Operand) -> Tensor:
    """−x, with derivative −1.

    >>> neg([1.0, -2.0]).value
    array([-1.,  2.])
    """
    (x,) = live_operands("neg", x)
    return record("neg", -x.value, (x,), lambda adjoint: (-adjoint,))


@quiet
def pow(x: Operand, exponent: Operand) -> Tensor:
    """x**p, with ∂/∂x = p·x**(p−1) and ∂/∂p = x**p · log x.

    A number as exponent is part of the operation, not an operand of it, so that x may be negative
    wherever x**p exists. As a tensor it has a derivative, which does not exist for x < 0. A number
    that is not finite raises `OutOfRange`.

    >>> pow([-3.0, 2.0], 2).value
    array([9., 4.])
    """
    if not is_number(exponent):
        return _pow_of_two_tensors(x, exponent)
    (x,) = live_operands("pow", x)
    v, p = x.value, checked_real(exponent, "exponent of pow")  # type: ignore[arg-type]

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        return (adjoint * (p * v ** (p - 1.0)) if p else np.zeros(v.shape),)

    return record("pow", v**p, (x,), vjp)


def _pow_of_two_tensors(x: Operand, exponent: Operand) -> Tensor:
    x, exponent = live_operands("pow", x, exponent)
    v, p = x.value, exponent.value
    try:
        value = v**p
    except ValueError:
        raise broadcast_mismatch("pow", x, exponent) from None

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        slope = np.where(p == 0.0, 0.0, p * v ** (p - 1.0))
        growth = np.where(v == 0.0, 0.0, value * np.log(v))  # 0**p stays 0 for p > 0
        return unbroadcast(adjoint * slope, v.shape), unbroadcast(adjoint * growth, p.shape)

    return record("pow", value, (x, exponent), vjp)


@quiet
def exp(x: Operand) -> Tensor:
    """eˣ, which is its own derivative.

    >>> exp([0.0]).value
    array([1.])
    """
    (x,) = live_operands("exp", x)
    y = np.exp(x.value)
    return record("exp", y, (x,), lambda adjoint: (adjoint * y,))


@quiet
def log(x: Operand) -> Tensor:
    """The natural logarithm, with derivative 1/x; refused for x ≤ 0.

    >>> log([1.0]).value
    array([0.])
    """
    (x,) = live_operands("log", x)
    v = x.value
    return record("log", np.log(v), (x,), lambda adjoint: (adjoint / v,))


@quiet
def sqrt(x: Operand) -> Tensor:
    """√x, with derivative 1/(2√x), which does not exist at 0; refused for x < 0.

    >>> sqrt([4.0]).value
    array([2.])
    """
    (x,) = live_operands("sqrt", x)
    root = np.sqrt(x.value)
    return record("sqrt", root, (x,), lambda adjoint: (0.5 * adjoint / root,))
