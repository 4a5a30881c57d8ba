"""Gains: the field's values, quadrature against closed forms, and unknown names."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit.errors import OutOfRange, UnknownChoice, WrongType
from coursekit.gains import gain, second_moment, second_moment_gain


def silu(z):
    return z / (1.0 + np.exp(-z))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linear", 1.0),
        ("sigmoid", 1.0),
        ("tanh", 5 / 3),
        ("relu", math.sqrt(2)),
        ("leaky_relu", math.sqrt(2 / 1.0001)),
        ("selu", 0.75),
    ],
)
def test_the_values_of_the_field(name, value):
    assert gain(name) == value


@given(st.floats(-3, 3))
def test_leaky_relu_follows_from_its_slope(slope):
    leaky = lambda z: np.where(z > 0, z, slope * z)  # noqa: E731
    assert math.isclose(second_moment_gain(leaky, 1.0), gain("leaky_relu", slope), rel_tol=1e-12)


@pytest.mark.parametrize(
    ("name", "parameter", "error"),
    [
        ("silu", None, UnknownChoice),
        ("ReLU", None, UnknownChoice),
        ("", None, UnknownChoice),
        (3, None, WrongType),
        ("tanh", 0.1, OutOfRange),
        ("leaky_relu", math.nan, OutOfRange),
        ("leaky_relu", True, WrongType),
    ],
)
def test_gains_that_do_not_exist(name, parameter, error):
    with pytest.raises(error):
        gain(name, parameter)


def test_silu_has_no_scale_free_gain():
    shares = [second_moment(silu, q) / q for q in (0.25, 1.0, 4.0)]
    assert [round(share, 3) for share in shares] == [0.289, 0.356, 0.439]


@pytest.mark.parametrize("q", [1e-6, 0.5, 1.0, 9.0, 1e6])
def test_scale_free_units_keep_their_gain_at_every_size(q):
    relu = lambda z: np.maximum(z, 0.0)  # noqa: E731
    assert math.isclose(second_moment_gain(relu, q), math.sqrt(2), rel_tol=1e-12)
    assert math.isclose(second_moment_gain(lambda z: z, q), 1.0, rel_tol=1e-12)


@given(st.floats(0.01, 4.0))
def test_quadrature_against_closed_forms(q):
    # E[z⁴] = 3q², E[exp(z)²] = exp(2q).
    assert math.isclose(second_moment(lambda z: z * z, q), 3 * q * q, rel_tol=1e-12)
    assert math.isclose(second_moment(np.exp, q), math.exp(2 * q), rel_tol=1e-9)


def test_a_kink_at_zero_costs_no_digit():
    # E|z| = √(2q/π): an even kink, which the two halves of a panel across 0 would not cancel.
    for q in (0.25, 1.0, 4.0):
        found = second_moment(lambda z: np.sqrt(np.abs(z)), q)
        assert math.isclose(found, math.sqrt(2 * q / math.pi), rel_tol=1e-12)


@pytest.mark.parametrize("q", [0.0, -0.5, -1.0, math.inf, math.nan])
def test_a_second_moment_is_finite_and_above_zero(q):
    for integrate in (second_moment, second_moment_gain):
        with pytest.raises(OutOfRange) as caught:
            integrate(silu, q)
        assert caught.value.subject == "q"


@pytest.mark.parametrize(
    ("f", "q"),
    [(lambda z: 0.0 * z, 1.0), (lambda z: math.nan * z, 1.0), (lambda z: z, 1e308)],
    ids=["zero", "nan", "overflow"],
)
def test_an_activation_without_a_usable_second_moment_has_no_gain(f, q):
    with pytest.raises(OutOfRange, match="second moment of the activation"):
        second_moment_gain(f, q)
