"""Sums, means, maxima and their smooth relatives, each beside its derivative.

Chapter 7. A reduction makes fewer numbers out of many, so its VJP does the opposite: it spreads
one adjoint over the elements that were reduced (`_spread`), each with the weight that the element
had: 1 in a sum, 1/n in a mean, the softmax probability in log Σ exp.

`axis` (None, an integer or a tuple of them) and `keepdims` mean what they mean in NumPy.
Exponentials are taken of x − max x, so that none overflows; the subtracted maximum cancels in
every formula (Blanchard, Higham and Higham, "Accurately computing the log-sum-exp and softmax
functions", IMA Journal of Numerical Analysis 41 (2021), equations 1.3 and 1.4).
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from coursekit.arguments import checked_integer
from coursekit.autodiff.arrays import Axis, FloatArray
from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import Operand, Tensor
from coursekit.errors import ShapeMismatch
from coursekit.errors.base import shown


@quiet
def sum(x: Operand, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Σ x over `axis`; over no elements it is 0.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, `NonFiniteForward`.

    >>> sum([[1.0, 2.0], [3.0, 4.0]], axis=0).value
    array([4., 6.])
    """
    (x,) = live_operands("sum", x)
    axes = reduced_axes("sum", x, axis)
    total = _total(x.value, axes)
    value = total if keepdims else total.squeeze(axes)
    return record("sum", value, (x,), lambda g: (_spread(g.reshape(total.shape), x.shape),))


@quiet
def mean(x: Operand, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """(1/n) Σ x over `axis`, n being the number of elements in each sum.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, `NonFiniteForward`, also for n = 0.

    >>> mean([[1.0, 2.0], [3.0, 4.0]], axis=1).value
    array([1.5, 3.5])
    """
    (x,) = live_operands("mean", x)
    axes = reduced_axes("mean", x, axis)
    total = _total(x.value, axes)
    n = _count(x.shape, axes)
    average = total / n
    value = average if keepdims else average.squeeze(axes)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        return (_spread(adjoint.reshape(total.shape) / n, x.shape),)

    return record("mean", value, (x,), vjp)


@quiet
def max(x: Operand, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element over `axis`. Elements that tie for it share the adjoint equally.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, also for a maximum of nothing.

    >>> from coursekit.autodiff import parameter
    >>> x = parameter([1.0, 3.0, 3.0])
    >>> max(x).backward()
    >>> x.grad
    array([0. , 0.5, 0.5])
    """
    (x,) = live_operands("max", x)
    axes = reduced_axes("max", x, axis)
    top = _maximum("max", x, axes)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        winners = x.value == top
        ties = np.add.reduce(winners, axis=axes, keepdims=True, dtype=np.float64)
        return (winners * (adjoint.reshape(top.shape) / ties),)

    return record("max", top if keepdims else top.squeeze(axes), (x,), vjp)


@quiet
def logsumexp(x: Operand, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """log Σ exp(x) over `axis`; ∂/∂x is softmax(x).

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, also for a sum of nothing.

    >>> logsumexp([-1e300, -1e300]).value
    array(-1.e+300)
    """
    (x,) = live_operands("logsumexp", x)
    axes = reduced_axes("logsumexp", x, axis)
    top = _maximum("logsumexp", x, axes)
    exponentials = np.exp(x.value - top)
    total = _total(exponentials, axes)
    value = top + np.log(total)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        return (adjoint.reshape(top.shape) * (exponentials / total),)

    return record("logsumexp", value if keepdims else value.squeeze(axes), (x,), vjp)


@quiet
def softmax(x: Operand, axis: Axis = -1) -> Tensor:
    """exp(x) / Σ exp(x) over `axis`: positive weights that add up to 1.

    With y the result, ∂yᵢ/∂xⱼ = yᵢ(δᵢⱼ − yⱼ).

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`.

    >>> softmax([1000.0, 1000.0]).value
    array([0.5, 0.5])
    """
    (x,) = live_operands("softmax", x)
    axes = reduced_axes("softmax", x, axis)
    y = np.exp(x.value - _maximum("softmax", x, axes))
    y /= _total(y, axes)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        return (y * (adjoint - _total(adjoint * y, axes)),)

    return record("softmax", y, (x,), vjp)


@quiet
def log_softmax(x: Operand, axis: Axis = -1) -> Tensor:
    """x − log Σ exp(x) over `axis`; finite where softmax itself underflows to 0.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, `NonFiniteForward`.

    >>> log_softmax([0.0, -1000.0]).value
    array([    0., -1000.])
    """
    (x,) = live_operands("log_softmax", x)
    axes = reduced_axes("log_softmax", x, axis)
    shifted = x.value - _maximum("log_softmax", x, axes)
    y = shifted - np.log(_total(np.exp(shifted), axes))

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        return (adjoint - np.exp(y) * _total(adjoint, axes),)

    return record("log_softmax", y, (x,), vjp)


def reduced_axes(operation: str, x: Tensor, axis: Axis) -> tuple[int, ...]:
    """`axis` as a tuple of axes counted from 0."""
    if axis is None:
        return tuple(range(len(x.shape)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    given = tuple([checked_integer(each, f"axis of {operation}") for each in axes])
    try:
        return normalize_axis_tuple(given, len(x.shape))
    except (ValueError, OverflowError):  # out of range, or the same axis twice
        rule = "distinct axes of its operand"
        raise ShapeMismatch(operation, rule, (f"axis {shown(axis)}", f"shape {x.shape}")) from None


def _total(x: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """The sum over `axes`, kept as axes of length 1."""
    return np.asarray(np.add.reduce(x, axis=axes, keepdims=True))


def _maximum(operation: str, x: Tensor, axes: tuple[int, ...]) -> FloatArray:
    """The maximum over `axes`, kept as axes of length 1."""
    try:
        return np.asarray(np.maximum.reduce(x.value, axis=axes, keepdims=True))
    except ValueError:
        raise ShapeMismatch(operation, "at least one element to reduce", (x.shape,)) from None


def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    count = 1
    for axis in axes:
        count *= shape[axis]
    return count


def _spread(adjoint: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """A new array of `shape` that repeats `adjoint` along its axes of length 1."""
    spread = np.empty(shape)
    spread[...] = adjoint
    return spread
