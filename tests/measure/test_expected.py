"""What depth does on average: closed forms, the figures of the course, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit import errors
from coursekit.measure import (
    ACTIVATIONS,
    expected_backward,
    expected_forward,
    expected_gradients,
    expected_moments,
)

WIDTHS = st.lists(st.integers(1, 300), min_size=2, max_size=8)


def test_the_three_depths_of_the_trace():
    widths = [64] * 5
    assert expected_forward(widths, [0.0] * 4) == (1.0, 0.0, 0.0, 0.0, 0.0)
    assert expected_forward(widths, [4 / 64] * 4) == (1.0, 4.0, 16.0, 64.0, 256.0)
    assert expected_forward(widths, [1 / 64] * 4) == (1.0, 1.0, 1.0, 1.0, 1.0)


def test_xavier_between_unequal_widths_meets_neither_wish():
    assert expected_forward([4, 2], [1 / 3]) == (1.0, 4 / 3)
    assert expected_backward([4, 2], [1 / 3]) == (2 / 3, 1.0)


@given(WIDTHS)
def test_lecun_keeps_signals_and_its_twin_keeps_gradients(widths):
    by_fan_in = [1 / n for n in widths[:-1]]
    by_fan_out = [1 / n for n in widths[1:]]
    assert expected_forward(widths, by_fan_in) == pytest.approx([1.0] * len(widths))
    assert expected_backward(widths, by_fan_out) == pytest.approx([1.0] * len(widths))


@settings(max_examples=30, deadline=None)  # each example integrates numerically
@given(WIDTHS, st.floats(0.1, 3.0))
def test_linear_moments_are_linear_variances(widths, factor):
    variances = [factor / n for n in widths[:-1]]
    assert expected_moments("linear", widths, variances) == pytest.approx(
        expected_forward(widths, variances), rel=1e-9
    )
    assert expected_gradients("linear", widths, variances) == pytest.approx(
        expected_backward(widths, variances), rel=1e-9
    )


def test_he_keeps_both_moments_through_relu():
    moments = expected_moments("relu", [64] * 9, [2 / 64] * 8)
    gradients = expected_gradients("relu", [64] * 9, [2 / 64] * 8)
    assert moments == pytest.approx([1.0] * 9, rel=1e-12)
    assert gradients == pytest.approx([1.0] * 9, rel=1e-12)


def test_tanh_sinks_under_xavier_and_settles_under_its_gain():
    sinking = expected_moments("tanh", [64] * 101, [1 / 64] * 100)
    assert round(sinking[4], 3) == 0.128
    assert round(sinking[100], 4) == 0.0051
    settled = expected_moments("tanh", [64] * 201, [(5 / 3) ** 2 / 64] * 200)
    assert round(settled[-1] * (5 / 3) ** 2, 3) == 1.178


def test_silu_takes_another_share_of_every_size():
    shares = [expected_moments("silu", [1, 1], [1.0], q)[1] / q for q in (0.25, 1.0, 4.0)]
    assert [round(share, 3) for share in shares] == [0.289, 0.356, 0.439]


def test_a_residual_linear_layer_doubles_the_variance():
    assert expected_moments("linear", [8] * 4, [1 / 8] * 3, residual=True) == pytest.approx(
        [1.0, 2.0, 4.0, 8.0], rel=1e-12
    )
    assert expected_gradients("linear", [8] * 4, [1 / 8] * 3, residual=True) == pytest.approx(
        [8.0, 4.0, 2.0, 1.0], rel=1e-12
    )


def test_a_residual_relu_layer_adds_the_product_of_the_means_too():
    # z ~ N(0, 2): E[relu] = 1/√π, E[relu²] = 1. In layer 2, q = 2 and m = 1/√π: z ~ N(0, 4).
    moments = expected_moments("relu", [8] * 3, [2 / 8] * 2, residual=True)
    second = 2.0 + 2.0 * math.sqrt(1 / math.pi) * math.sqrt(2 / math.pi) + 2.0
    assert moments == pytest.approx([1.0, 2.0, second], rel=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_zero_weights_end_every_signal_and_every_gradient(activation):
    assert expected_moments(activation, [4] * 3, [0.0] * 2) == (1.0, 0.0, 0.0)
    assert expected_gradients(activation, [4] * 3, [0.0] * 2) == (0.0, 0.0, 1.0)
    assert expected_gradients(activation, [4] * 3, [0.0] * 2, residual=True) == (1.0, 1.0, 1.0)


def test_moments_by_another_road():
    """E[f(z)²] by adding over 2,000,001 equal steps instead of by Gauss and Legendre."""
    z, step = np.linspace(-12, 12, 2_000_001, retstep=True)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    for activation, f in ACTIVATIONS.items():
        values = f_values(f, z * math.sqrt(3.0))
        assert expected_moments(activation, [3, 1], [1.0])[1] == pytest.approx(
            np.sum(values**2 * density) * step, rel=1e-9
        )


def f_values(f, z):
    from coursekit.autodiff import constant

    return f(constant(z)).value


@pytest.mark.parametrize("function", [expected_forward, expected_backward])
@pytest.mark.parametrize(
    ("widths", "variances", "error"),
    [
        ([4, 0], [1.0], errors.OutOfRange),
        ([4, -2], [1.0], errors.OutOfRange),
        ([4, 2.0], [1.0], errors.WrongType),
        ([4, True], [1.0], errors.WrongType),
        ([4, 2], [-1.0], errors.OutOfRange),
        ([4, 2], [math.nan], errors.OutOfRange),
        ([4, 2], [True], errors.WrongType),
        ([4, 2], [1.0, 1.0], errors.OutOfRange),
        ([4, 2], [], errors.OutOfRange),
        ([], [], errors.OutOfRange),
    ],
)
def test_layers_that_do_not_exist(function, widths, variances, error):
    with pytest.raises(error):
        function(widths, variances)


@pytest.mark.parametrize("function", [expected_moments, expected_gradients])
@pytest.mark.parametrize(
    ("activation", "error"),
    [
        ("sine", errors.UnknownChoice),
        ("", errors.UnknownChoice),
        (None, errors.WrongType),
        ([], errors.WrongType),
    ],
)
def test_unknown_activations(function, activation, error):
    with pytest.raises(error, match="activation"):
        function(activation, [2, 2], [1.0])
