"""Scales: recorded bits, the four modes, their inequalities, and every refusal."""

import dataclasses
import math

import numpy as np
import pytest
from golden import float_of, load
from hypothesis import given
from hypothesis import strategies as st

from coursekit.errors import (
    FanSumOverflow,
    InitializationError,
    OutOfRange,
    UnknownChoice,
    WrongType,
    ZeroFanIn,
    ZeroFanOut,
)
from coursekit.scales import MODES, fans, he_scale, lecun_scale, variance_scaling, xavier_scale

FANS = st.integers(1, 2**40)


@pytest.mark.parametrize("figures", load("xavier_scale"))
def test_recorded_xavier_scales(figures):
    scale = xavier_scale(figures["fan_in"], figures["fan_out"])
    assert (scale.fan_in, scale.fan_out) == (figures["fan_in"], figures["fan_out"])
    for field in ("target_variance", "standard_deviation", "uniform_limit"):
        assert getattr(scale, field) == float_of(figures[field])


@given(FANS, FANS)
def test_xavier_is_the_harmonic_mean_of_the_two_wanted_variances(fan_in, fan_out):
    forward, backward = 1.0 / fan_in, 1.0 / fan_out
    harmonic = 2.0 / (1.0 / forward + 1.0 / backward)
    assert math.isclose(xavier_scale(fan_in, fan_out).target_variance, harmonic, rel_tol=1e-15)


@given(FANS, FANS)
def test_the_three_means_keep_their_order(fan_in, fan_out):
    by_mode = {mode: variance_scaling(fan_in, fan_out, 1.0, mode).target_variance for mode in MODES}
    assert by_mode["fan_avg"] <= by_mode["fan_geo_avg"] * (1 + 1e-15)
    assert min(by_mode["fan_in"], by_mode["fan_out"]) <= by_mode["fan_avg"] * (1 + 1e-15)


def test_four_into_two_in_every_mode():
    variances = [variance_scaling(4, 2, 1.0, mode).target_variance for mode in MODES]
    assert variances == [0.25, 0.5, 1 / 3, 1 / math.sqrt(8)]


@given(FANS, FANS, st.floats(1e-3, 1e3))
def test_limit_and_deviation_belong_to_the_variance(fan_in, fan_out, factor):
    for mode in MODES:
        scale = variance_scaling(fan_in, fan_out, factor, mode)
        assert scale.standard_deviation == math.sqrt(scale.target_variance)
        assert math.isclose(scale.uniform_limit**2 / 3, scale.target_variance, rel_tol=1e-15)


@given(FANS, FANS)
def test_named_rules_differ_by_their_factor(fan_in, fan_out):
    lecun, he = lecun_scale(fan_in, fan_out), he_scale(fan_in, fan_out)
    assert he.target_variance == 2.0 * lecun.target_variance == 2.0 / fan_in
    assert he.uniform_limit == math.sqrt(6.0 / fan_in)
    assert he_scale(fan_in, fan_out, "fan_out").target_variance == 2.0 / fan_out
    assert xavier_scale(fan_in, fan_out, gain=2.0).uniform_limit == pytest.approx(
        2.0 * xavier_scale(fan_in, fan_out).uniform_limit, rel=1e-15
    )


def test_a_scale_cannot_be_changed():
    scale = xavier_scale(2, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        scale.fan_in = 3


def test_numpy_counts_become_python_counts():
    scale = xavier_scale(np.int32(4), np.uint8(2))
    assert type(scale.fan_in) is int
    assert scale == xavier_scale(4, 2)


@pytest.mark.parametrize("rule", [xavier_scale, he_scale, lecun_scale, variance_scaling])
@pytest.mark.parametrize(
    ("given_", "error", "fields"),
    [
        ((0, 0), ZeroFanIn, {"fan_in": 0}),
        ((-3, 2), ZeroFanIn, {"fan_in": -3}),
        ((2, 0), ZeroFanOut, {"fan_out": 0}),
        ((2**64 - 1, 1), FanSumOverflow, {"fan_in": 2**64 - 1, "fan_out": 1}),
        ((2.0, 2), WrongType, {"subject": "fan_in", "given": 2.0}),
        ((2, True), WrongType, {"subject": "fan_out", "given": True}),
        ((0, None), WrongType, {"subject": "fan_out"}),
    ],
)
def test_fans_that_no_matrix_has(rule, given_, error, fields):
    with pytest.raises(error) as caught:
        rule(*given_)
    assert {name: getattr(caught.value, name) for name in fields} == fields


def test_the_largest_fan_sum_is_served():
    assert xavier_scale(2**64 - 2, 1).target_variance == 2.0 / (2**64 - 1)


@pytest.mark.parametrize("factor", [0.0, -1.0, math.nan, math.inf])
def test_factors_and_gains_are_finite_and_above_zero(factor):
    with pytest.raises(OutOfRange):
        variance_scaling(2, 2, factor)
    with pytest.raises(OutOfRange):
        xavier_scale(2, 2, factor)


@pytest.mark.parametrize("gain", [0.0, -0.5, -1.0])
def test_a_gain_is_refused_under_its_own_name(gain):
    with pytest.raises(OutOfRange) as caught:
        xavier_scale(2, 2, gain)
    assert (caught.value.subject, caught.value.given) == ("gain", gain)


def test_left_out_the_factor_is_one_and_the_count_fan_in():
    assert variance_scaling(4, 2) == variance_scaling(4, 2, 1.0, "fan_in") == lecun_scale(4, 2)


def test_one_axis_makes_no_fans():
    with pytest.raises(OutOfRange) as caught:
        fans((3,))
    assert (caught.value.subject, caught.value.given) == ("shape", (3,))


def test_unknown_modes_are_answered_with_the_list():
    with pytest.raises(UnknownChoice) as caught:
        variance_scaling(2, 2, 1.0, "fan_mean")
    assert (caught.value.given, caught.value.known) == ("fan_mean", MODES)
    with pytest.raises(UnknownChoice):
        he_scale(2, 2, "fan")


@pytest.mark.parametrize(
    ("shape", "axes", "counted"),
    [
        ((4, 2), {}, (4, 2)),
        ((2, 4), {"in_axis": 1, "out_axis": 0}, (4, 2)),
        ((3, 3, 16, 32), {}, (144, 288)),
        ((32, 16, 3, 3), {"in_axis": 1, "out_axis": 0}, (144, 288)),
        ([0, 2], {}, (0, 2)),
    ],
)
def test_fans_count_connections(shape, axes, counted):
    assert fans(shape, **axes) == counted


@pytest.mark.parametrize(
    ("shape", "axes", "error"),
    [
        ((4,), {}, OutOfRange),
        ((), {}, OutOfRange),
        (4, {}, OutOfRange),
        ((4, -2), {}, OutOfRange),
        ((4, 2.0), {}, WrongType),
        ((4, 2), {"in_axis": 2}, OutOfRange),
        ((4, 2), {"out_axis": -3}, OutOfRange),
        ((4, 2), {"in_axis": 1}, OutOfRange),
        ((4, 2), {"in_axis": True}, WrongType),
    ],
)
def test_shapes_without_fans(shape, axes, error):
    with pytest.raises(error):
        fans(shape, **axes)


def test_refusals_share_an_ancestor_and_are_value_errors():
    with pytest.raises(InitializationError):
        xavier_scale(0, 1)
    with pytest.raises(ValueError, match="fan-in must count at least one input; got 0"):
        xavier_scale(0, 1)


@pytest.mark.parametrize("factor", [1.7e308, 6e307])
@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
def test_a_scale_beyond_float64_is_refused(factor, mode):
    with pytest.raises(OutOfRange) as caught:
        variance_scaling(1, 1, factor, mode)
    assert (caught.value.subject, caught.value.given) == ("factor", factor)


def test_a_scale_that_would_vanish_is_refused():
    with pytest.raises(OutOfRange, match="factor must be one whose scale is finite and above 0"):
        variance_scaling(3, 1, 5e-324)


@pytest.mark.parametrize("gain", [1e200, 1e-200])
def test_a_gain_whose_square_leaves_float64_is_refused_under_its_own_name(gain):
    with pytest.raises(OutOfRange) as caught:
        xavier_scale(2, 2, gain)
    assert (caught.value.subject, caught.value.given) == ("gain", gain)
