"""Checked arguments: what passes unchanged, and what each refusal says."""

import math
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from coursekit.arguments import (
    checked_integer,
    checked_lengths,
    checked_real,
    checked_shape,
)
from coursekit.errors import AllocationFailed, OutOfRange, ShapeProductOverflow, WrongType


@pytest.mark.parametrize("value", [0, -5, 2**100, np.int8(7), np.uint64(2**64 - 1), np.array(3)])
def test_integers_pass_as_python_integers(value):
    number = checked_integer(value, "count")
    assert (number, type(number)) == (int(value), int)


@pytest.mark.parametrize("value", [True, np.False_, 1.0, "1", None, Decimal(1), np.array([1, 2])])
def test_what_is_no_integer_is_refused(value):
    with pytest.raises(WrongType) as caught:
        checked_integer(value, "count")
    assert (caught.value.subject, caught.value.expected) == ("count", "an integer")
    assert str(caught.value).startswith("count must be an integer; got ")


@pytest.mark.parametrize("value", [0.5, 3, np.float32(0.5), np.int64(2), Fraction(1, 4)])
def test_reals_pass_as_floats(value):
    number = checked_real(value, "limit")
    assert (number, type(number)) == (float(value), float)


@pytest.mark.parametrize("value", [True, np.True_, "0.5", None, 1j, [0.5], np.array([0.5])])
def test_what_is_no_real_is_refused(value):
    with pytest.raises(WrongType) as caught:
        checked_real(value, "limit")
    assert caught.value.expected == "a real number"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, np.float64("nan")])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(OutOfRange) as caught:
        checked_real(value, "limit")
    assert (caught.value.subject, caught.value.rule) == ("limit", "finite")


@pytest.mark.parametrize(
    ("shape", "lengths"),
    [
        (3, (3,)),
        ((), ()),
        ([2, 0], (2, 0)),
        (np.array([2, 3]), (2, 3)),
        (np.array(3), (3,)),
        ((1,) * 64, (1,) * 64),
        ((2**59, 0), (2**59, 0)),
    ],
)
def test_shapes_are_spelled_as_numpy_spells_them(shape, lengths):
    assert checked_lengths(shape, "shape") == lengths
    assert checked_shape(shape, "shape") == lengths


@pytest.mark.parametrize(
    ("shape", "error"),
    [
        (-1, OutOfRange),
        ((2, -3), OutOfRange),
        ((2, True), WrongType),
        ("ab", WrongType),
        (b"ab", WrongType),
        (np.array([2.0]), WrongType),
        ((1,) * 65, OutOfRange),
        ((2**60, 0), OutOfRange),
        ((2**40, 0, 2**40), OutOfRange),
        (2.0, WrongType),
        (None, WrongType),
        ((2**32, 2**32), ShapeProductOverflow),
        ((2**31, 2**31), AllocationFailed),
        ((2**40, 2**40, 2**40), AllocationFailed),
    ],
)
def test_shapes_that_cannot_be(shape, error):
    with pytest.raises(error):
        checked_shape(shape, "shape")


def with_memory(monkeypatch, available):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=available))


def test_the_limits_of_a_shape_are_these_to_the_element(monkeypatch):
    with_memory(monkeypatch, 2**80)
    assert checked_shape(2**60 - 1, "size") == (2**60 - 1,)
    with pytest.raises(AllocationFailed):  # 2**63 bytes
        checked_shape(2**60, "size")
    with pytest.raises(AllocationFailed):  # below 2**64 elements it is a matter of memory
        checked_shape((2**32, 2**31), "shape")
    with pytest.raises(ShapeProductOverflow):
        checked_shape((2**32, 2**32), "shape")


def test_up_to_64_mebibytes_nobody_is_asked(monkeypatch):
    with_memory(monkeypatch, 0)
    assert checked_shape(2**23, "size") == (2**23,)
    with pytest.raises(AllocationFailed):
        checked_shape(2**23 + 1, "size")


def test_memory_decides_before_anything_is_allocated(monkeypatch):
    with_memory(monkeypatch, 10**9)
    most = 10**9 * 3 // 4 // 8
    assert checked_shape(most, "size") == (most,)
    with pytest.raises(AllocationFailed) as caught:
        checked_shape(most + 1, "size")
    assert caught.value.elements == most + 1
