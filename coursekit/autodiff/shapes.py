"""Operations that move numbers without changing them, each beside its derivative.

Chapter 7. Where a forward operation puts element i in place j, its VJP takes the adjoint from j
back to i; an element that went to several places gets the sum of what arrives from them.
"""

from collections.abc import Sequence

import numpy as np

from coursekit.arguments import checked_integer
from coursekit.autodiff.arrays import (
    FloatArray,
    IntArray,
    Shape,
    boolean_array,
    integer_array,
)
from coursekit.autodiff.elementwise import unbroadcast
from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import Operand, Tensor
from coursekit.errors import OutOfRange, ShapeMismatch, WrongType
from coursekit.errors.base import shown


def reshape(x: Operand, shape: Shape) -> Tensor:
    """The same elements in row-major order under another shape; one length may be −1, "the rest".

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`.

    >>> reshape([1.0, 2.0, 3.0, 4.0], (2, -1)).value
    array([[1., 2.],
           [3., 4.]])
    """
    (x,) = live_operands("reshape", x)
    lengths = _lengths("reshape", shape)
    try:
        value = x.value.reshape(lengths)
    except ValueError:
        rule = "as many elements after as before"
        raise ShapeMismatch("reshape", rule, (x.shape, lengths)) from None
    return record("reshape", value, (x,), lambda adjoint: (adjoint.reshape(x.shape),))


def transpose(x: Operand, axes: Shape | None = None) -> Tensor:
    """Axis i of the result is axis `axes[i]` of x; without `axes` their order is reversed.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`.

    >>> transpose([[1.0, 2.0]]).value
    array([[1.],
           [2.]])
    """
    (x,) = live_operands("transpose", x)
    order = tuple(reversed(range(len(x.shape)))) if axes is None else _lengths("transpose", axes)
    try:
        value = np.array(x.value.transpose(order), order="C")
    except ValueError:
        given = (f"axes {shown(order)}", f"shape {x.shape}")
        raise ShapeMismatch("transpose", "each axis of its operand once", given) from None
    back = tuple(np.argsort([axis % len(order) for axis in order]))
    return record("transpose", value, (x,), lambda adjoint: (adjoint.transpose(back),))


def broadcast_to(x: Operand, shape: Shape) -> Tensor:
    """x repeated along new axes and axes of length 1 until it has `shape`.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`.

    >>> broadcast_to([1.0, 2.0], (2, 2)).value
    array([[1., 2.],
           [1., 2.]])
    """
    (x,) = live_operands("broadcast_to", x)
    lengths = _lengths("broadcast_to", shape)
    try:
        value = np.array(np.broadcast_to(x.value, lengths), order="C")
    except ValueError:
        rule = "a shape that its operand can be stretched to"
        raise ShapeMismatch("broadcast_to", rule, (x.shape, lengths)) from None
    return record("broadcast_to", value, (x,), lambda adjoint: (unbroadcast(adjoint, x.shape),))


def concatenate(tensors: Sequence[Operand], axis: int = 0) -> Tensor:
    """The operands one after the other along an axis that they have; each gets its part back.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`.

    >>> concatenate([[1.0, 2.0], [3.0]]).value
    array([1., 2., 3.])
    """
    if isinstance(tensors, Tensor) or not isinstance(tensors, Sequence):
        raise WrongType("operands of concatenate", "a sequence of tensors", tensors)
    axis = checked_integer(axis, "axis of concatenate")
    operands = live_operands("concatenate", *tensors)
    try:
        value = np.concatenate([operand.value for operand in operands], axis=axis)
    except (ValueError, OverflowError):
        rule = f"at least one operand, and equal shapes except along axis {shown(axis)}"
        given = tuple(operand.shape for operand in operands)
        raise ShapeMismatch("concatenate", rule, given) from None
    ends = np.cumsum([operand.shape[axis] for operand in operands])

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, ...]:
        return tuple(np.split(adjoint, ends[:-1], axis=axis))

    return record("concatenate", value, operands, vjp)


def where(condition: object, a: Operand, b: Operand) -> Tensor:
    """a where the condition is True, b where it is False; the adjoint goes to the chosen one.

    Raises: `WrongType` also for a condition that is not boolean, `ReleasedOperand`,
        `ShapeMismatch`.

    >>> where([True, False], [1.0, 2.0], 0.0).value
    array([1., 0.])
    """
    a, b = live_operands("where", a, b)
    chosen = boolean_array("condition of where", condition)
    try:
        value = np.where(chosen, a.value, b.value)
    except ValueError:
        given = (chosen.shape, a.shape, b.shape)
        raise ShapeMismatch("where", "shapes that broadcast", given) from None

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        to_a = np.where(chosen, adjoint, 0.0)
        to_b = np.where(chosen, 0.0, adjoint)
        return unbroadcast(to_a, a.shape), unbroadcast(to_b, b.shape)

    return record("where", value, (a, b), vjp)


@quiet
def gather_rows(table: Operand, ids: object) -> Tensor:
    """Row `ids[i]` of the table for every i: the lookup of an embedding.

    The result has the shape of `ids` followed by the shape of a row. A row that is looked up
    several times collects the sum of the adjoints, one never looked up gets 0.

    Raises: `WrongType` for ids that are not integers, `ReleasedOperand`, `ShapeMismatch` for a
        table without rows to look up, `OutOfRange` for an id outside 0 … rows − 1.

    >>> from coursekit.autodiff import parameter
    >>> table = parameter([[1.0], [2.0], [3.0]])
    >>> gather_rows(table, [2, 0, 2]).sum().backward()
    >>> table.grad
    array([[1.],
           [0.],
           [2.]])
    """
    (table,) = live_operands("gather_rows", table)
    if not table.shape:
        raise ShapeMismatch("gather_rows", "a table of at least one axis", (table.shape,))
    rows = integer_array("row ids", ids)
    require_below("row ids", rows, table.shape[0])

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        collected = np.zeros(table.shape)
        np.add.at(collected, rows, adjoint)
        return (collected,)

    return record("gather_rows", table.value[rows], (table,), vjp)


def require_below(subject: str, ids: IntArray, count: int) -> None:
    """Raise `OutOfRange` for the first id that is negative, or `count` or more."""
    outside = np.flatnonzero((ids < 0) | (ids >= count))
    if outside.size:
        raise OutOfRange(subject, f"at least 0 and below {count}", int(ids.flat[outside[0]]))


def _lengths(operation: str, given: Shape) -> tuple[int, ...]:
    lengths = given if isinstance(given, tuple) else (given,)
    if len(lengths) == 1 and isinstance(lengths[0], tuple):
        lengths = lengths[0]
    subject = f"shape or axis of {operation}"
    return tuple([checked_integer(each, subject) for each in lengths])  # type: ignore[arg-type]
