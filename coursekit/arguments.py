"""What every request is checked against before anything is drawn, allocated or changed.

Chapter 6 shows why the checks come first: a refused request then leaves no trace. A value is
returned in the form in which the caller goes on with it, or a typed error says subject, rule and
what was given.
"""

import math
import numbers
import operator
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from coursekit.errors import AllocationFailed, OutOfRange, ShapeProductOverflow, WrongType

Size: TypeAlias = int | Iterable[int]
MEMORY_SHARE = 0.75
MOST_AXES = 64  # NumPy's limit
UNCHECKED_BYTES = 1 << 26  # asking the operating system costs more than 64 MiB could harm


def checked_integer(value: int, subject: str) -> int:
    """Return an integer of Python's or NumPy's as a Python integer.

    Raises:
        WrongType: a bool, or a value that is no integer; 2.0 is none.

    >>> checked_integer(3, "count")
    3
    """
    if type(value) is int:  # the usual case, and not a bool
        return value
    if isinstance(value, (bool, np.bool_)):  # NumPy before 2.3 lets the latter pass as an index
        raise WrongType(subject, "an integer", value)
    try:
        return operator.index(value)
    except TypeError:
        raise WrongType(subject, "an integer", value) from None


def checked_real(value: float, subject: str) -> float:
    """Return a finite real number as a float.

    Raises:
        WrongType: a bool, or a value that is no real number.
        OutOfRange: NaN, an infinity, or an integer too large for a float.

    >>> checked_real(3, "limit")
    3.0
    """
    is_float = type(value) is float  # the usual case; asking for numbers.Real is slow
    if not is_float and (isinstance(value, bool) or not isinstance(value, numbers.Real)):
        raise WrongType(subject, "a real number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise OutOfRange(subject, "finite", value)
    return number


def checked_lengths(shape: Size, subject: str) -> tuple[int, ...]:
    """Return a shape, given as NumPy spells it, as a tuple of Python integers.

    Raises:
        WrongType: a length that is a bool or no integer.
        OutOfRange: a negative length.

    >>> checked_lengths(3, "size"), checked_lengths([2, 0], "size")
    ((3,), (2, 0))
    """
    given: Any = shape.tolist() if isinstance(shape, np.ndarray) else shape  # an int if it is 0-d
    if isinstance(given, (int, str, bytes)) or not isinstance(given, Iterable):
        given = (given,)
    lengths = tuple([checked_integer(length, subject) for length in given])
    if lengths and min(lengths) < 0:
        raise OutOfRange(subject, "at least 0 on every axis", lengths)
    return lengths


def checked_shape(shape: Size, subject: str) -> tuple[int, ...]:
    """Return a shape whose float64 array fits into memory.

    Raises:
        WrongType, OutOfRange: as `checked_lengths`.
        ShapeProductOverflow: a matrix of 2**64 elements or more.
        OutOfRange: more axes, or longer ones beside one of length 0, than NumPy can count.
        AllocationFailed: 2**63 bytes or more, or above three quarters of the free memory.

    >>> checked_shape((2**31, 2**31), "shape")
    Traceback (most recent call last):
    coursekit.errors.initialization.AllocationFailed: storage of 8 bytes an element must fit ...
    """
    lengths = checked_lengths(shape, subject)
    elements = math.prod(lengths)
    if len(lengths) > MOST_AXES:
        raise OutOfRange(subject, f"of at most {MOST_AXES} axes", lengths)
    if not elements and 8 * math.prod(filter(None, lengths)) >= 2**63:
        raise OutOfRange(subject, "countable in 64 bits but for axes of length 0", lengths)
    if elements >= 2**64 and len(lengths) == 2:
        raise ShapeProductOverflow(*lengths)
    if 8 * elements >= 2**63:
        raise AllocationFailed(elements)
    if 8 * elements > UNCHECKED_BYTES:
        import psutil  # not at the top: most requests are small and need not wait for it

        if 8 * elements > MEMORY_SHARE * psutil.virtual_memory().available:
            raise AllocationFailed(elements)
    return lengths
