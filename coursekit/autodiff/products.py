"""Matrix products, each beside its derivative.

Chapter 7 derives the two rules: with G the adjoint of Y = A B, the adjoint of A is G Bᵀ and that
of B is Aᵀ G, which the shapes alone would tell.

Products run in the BLAS library behind NumPy, whose last digits depend on the processor and the
number of threads; no bits are promised.
"""

import math
from functools import lru_cache

import numpy as np

from coursekit.autodiff.arrays import FloatArray
from coursekit.autodiff.elementwise import unbroadcast
from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import Operand, Tensor
from coursekit.errors import ShapeMismatch


@quiet
def matmul(a: Operand, b: Operand) -> Tensor:
    """a @ b as in NumPy: leading axes are batches and broadcast, a vector is a row or a column.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, `NonFiniteForward`.

    >>> matmul([[1.0, 2.0]], [[3.0], [4.0]]).value
    array([[11.]])
    """
    a, b = live_operands("matmul", a, b)
    x, y = a.value, b.value
    try:
        product = x @ y
    except ValueError:
        rule = "as many columns on the left as rows on the right, and batches that broadcast"
        raise ShapeMismatch("matmul", rule, (x.shape, y.shape)) from None

    def vjp(adjoint: FloatArray) -> tuple[FloatArray | None, FloatArray | None]:
        rows = x[np.newaxis, :] if x.ndim == 1 else x
        columns = y[:, np.newaxis] if y.ndim == 1 else y
        batch = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
        g = adjoint.reshape(*batch, rows.shape[-2], columns.shape[-1])
        to_a = to_b = None
        if _is_wanted(a, g, columns):
            to_a = unbroadcast(g @ columns.swapaxes(-1, -2), rows.shape).reshape(x.shape)
        if _is_wanted(b, rows, g):
            to_b = unbroadcast(rows.swapaxes(-1, -2) @ g, columns.shape).reshape(y.shape)
        return to_a, to_b

    return record("matmul", product, (a, b), vjp)


@quiet
def linear(x: Operand, weight: Operand, bias: Operand | None = None) -> Tensor:
    """x @ weight + bias as one node, for x of shape [..., fan_in] and weight [fan_in, fan_out].

    With G the adjoint and the leading axes of x taken as one: the adjoint of x is G weightᵀ, that
    of the weight is xᵀ G, and that of the bias is the sum of G's rows.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, `NonFiniteForward`.

    >>> linear([[1.0, 2.0]], [[3.0], [4.0]], [0.5]).value
    array([[11.5]])
    """
    if bias is None:
        x, weight = operands = live_operands("linear", x, weight)
    else:
        x, weight, bias = operands = live_operands("linear", x, weight, bias)
    v, w = x.value, weight.value
    if v.ndim == 0 or w.ndim != 2 or v.shape[-1] != w.shape[0]:
        raise _linear_mismatch(operands)
    rows = v if v.ndim == 2 else v.reshape(math.prod(v.shape[:-1]), v.shape[-1])
    value = rows.dot(w)
    if bias is not None:
        if bias.value.shape != w.shape[1:]:
            raise _linear_mismatch(operands)
        value += bias.value

    def vjp(adjoint: FloatArray) -> tuple[FloatArray | None, ...]:
        g = adjoint if v.ndim == 2 else adjoint.reshape(len(rows), w.shape[1])
        to_x = g.dot(w.T) if _is_wanted(x, g, w) else None
        if to_x is not None and v.ndim != 2:
            to_x = to_x.reshape(v.shape)
        to_weight = rows.T.dot(g) if _is_wanted(weight, rows, g) else None
        if bias is None:
            return to_x, to_weight
        return to_x, to_weight, _ones(len(g)).dot(g)

    if v.ndim != 2:
        value = value.reshape(*v.shape[:-1], w.shape[1])
    return record("linear", value, operands, vjp)


def _linear_mismatch(operands: tuple[Tensor, ...]) -> ShapeMismatch:
    rule = "shapes (..., fan_in), (fan_in, fan_out) and, for a bias, (fan_out,)"
    return ShapeMismatch("linear", rule, tuple(operand.shape for operand in operands))


@lru_cache(maxsize=32)
def _ones(length: int) -> FloatArray:
    """A row of ones: `ones @ G` sums the rows of G in the BLAS, several times faster than `sum`."""
    return np.ones(length)


def _is_wanted(operand: Tensor, left: FloatArray, right: FloatArray) -> bool:
    """Whether the contribution `left @ right` to an operand must be computed.

    It must if the operand tracks gradients. For a constant it is of interest only because a
    contribution that overflows is an error even there, and mostly a bound rules that out at a
    fraction of the cost: no partial sum of a product exceeds ‖left‖ ‖right‖ (Cauchy and Schwarz).
    """
    if operand.tracks_gradient:
        return True
    return not math.isfinite(float(np.vdot(left, left)) * float(np.vdot(right, right)))
