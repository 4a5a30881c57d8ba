"""What may become the value of a tensor: finite float64 arrays that nobody else can write to.

Chapter 7. The tape is strict at its gates so that it can be quick inside: every array is copied and
checked when it enters, and every result is checked when it is recorded.
"""

from collections.abc import Callable
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy import vdot
from numpy.typing import NDArray

from coursekit.errors import NonFiniteLeaf, OutOfRange, WrongType

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
Axis: TypeAlias = int | tuple[int, ...] | None
# NumPy's spellings of a shape or an order of axes: 6, (2, 3), and ((2, 3),) from f((2, 3)).
Lengths: TypeAlias = int | tuple[int, ...]
Shape: TypeAlias = Lengths | tuple[Lengths, ...]
Vjp: TypeAlias = Callable[[FloatArray], tuple[FloatArray | None, ...]]


_FLOAT64 = np.dtype(np.float64)


def float_array(subject: str, values: object) -> FloatArray:
    """A C-ordered float64 copy; float16 and float32 widen exactly, all else is refused.

    Integers are refused because an integer array on the tape is nearly always a mistake: a
    target, an index or a mask that was passed in the wrong place.

    Raises: `WrongType`.

    >>> float_array("weights", [0.5, 1.5])
    array([0.5, 1.5])
    >>> float_array("weights", [1, 2])
    Traceback (most recent call last):
    coursekit.errors.base.WrongType: weights must be real floating-point numbers; got list [1, 2]
    """
    if type(values) is np.ndarray and values.dtype is _FLOAT64:
        return values.copy()  # in a training loop, nearly always
    expected = "real floating-point numbers"
    given = _as_array(subject, expected, values)
    if given.dtype.kind != "f" or given.dtype.itemsize > 8:
        raise WrongType(subject, expected, values)
    return np.array(given, dtype=np.float64, order="C")


def integer_array(subject: str, values: object) -> IntArray:
    """A copy of `values` as an array of integers; floats and booleans are refused.

    Raises: `WrongType`; `OutOfRange` for one that no 64-bit index can be.

    >>> integer_array("targets", [2, 0])
    array([2, 0])
    """
    given = _as_array(subject, "integers", values)
    if given.dtype.kind not in "iu":
        raise WrongType(subject, "integers", values)
    if given.dtype.kind == "u" and given.size and (largest := int(given.max())) >= 2**63:
        raise OutOfRange(subject, "below 2**63", largest)  # the copy would make it negative
    return np.array(given, dtype=np.intp)


def boolean_array(subject: str, values: object) -> BoolArray:
    """A copy of `values` as an array of True and False; nothing else counts as either.

    Raises: `WrongType`.
    """
    given = _as_array(subject, "True and False", values)
    if given.dtype != np.bool_:
        raise WrongType(subject, "True and False", values)
    return np.array(given)


def is_number(value: object) -> bool:
    """Whether this is a Python or NumPy integer or float; True and False are neither."""
    numbers = (float, int, np.floating, np.integer)
    return isinstance(value, numbers) and not isinstance(value, bool)


def as_float(number: float) -> float:
    """A number as float64; an integer beyond its range becomes an infinity, to be refused as one.

    >>> as_float(10**400)
    inf
    """
    try:
        return float(number)
    except OverflowError:
        return inf


def require_finite_leaf(array: FloatArray) -> None:
    """Raise `NonFiniteLeaf` unless every element is finite."""
    index = first_non_finite(array)
    if index is not None:
        raise NonFiniteLeaf(index, float(array.flat[index]))


def first_non_finite(array: FloatArray) -> int | None:
    """The flat index of the first NaN or infinity, None if there is none.

    One quick pass decides almost always: Σx² is finite only if every x is. Only when it is not
    (an offender, or numbers above 1e154) are the elements looked at one by one.

    >>> first_non_finite(np.array([[1.0, 2.0], [np.nan, np.inf]]))
    2
    """
    if isfinite(vdot(array, array)):
        return None
    offenders = np.flatnonzero(~np.isfinite(array))
    return int(offenders[0]) if offenders.size else None


def _as_array(subject: str, expected: str, values: object) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):  # its hidden elements would come to light
        raise WrongType(subject, expected, values)
    try:
        return np.asarray(values)
    except ValueError:
        raise WrongType(subject, f"{expected}, in rows of equal length", values) from None
