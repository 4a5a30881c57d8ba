"""Samplers: recorded bits, spread in standard errors, draws consumed, refusals."""

import hashlib
import math
from fractions import Fraction

import numpy as np
import pytest
from golden import array_of, float_of, load
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit import initializers
from coursekit.errors import (
    AllocationFailed,
    FanSumOverflow,
    OutOfRange,
    ShapeProductOverflow,
    UnknownChoice,
    WrongType,
    ZeroFanIn,
    ZeroFanOut,
)
from coursekit.initializers import (
    constant,
    he_normal,
    he_scale,
    he_uniform,
    identity,
    lecun_normal,
    lecun_scale,
    lecun_uniform,
    ones,
    orthogonal,
    truncated_normal,
    xavier_normal,
    xavier_scale,
    xavier_uniform,
    zeros,
)
from coursekit.rng import SplitMix64

SAMPLERS = {
    xavier_uniform: xavier_scale,
    xavier_normal: xavier_scale,
    he_uniform: he_scale,
    he_normal: he_scale,
    lecun_uniform: lecun_scale,
    lecun_normal: lecun_scale,
    truncated_normal: lecun_scale,
    orthogonal: None,
}
NAMES = [sampler.__name__ for sampler in SAMPLERS]


def fnv1a64(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_recorded_samples_and_states():
    for figures in load("xavier_uniform"):
        rng = SplitMix64.from_state(int(figures["state_before_hex"], 16))
        values = xavier_uniform(*figures["shape"], rng)
        assert rng.state == int(figures["state_after_hex"], 16)
        assert fnv1a64(values.astype("<f8").tobytes()) == int(figures["fnv1a64_le_bytes"], 16)
        assert values.ravel()[:4].tolist() == array_of(figures["first4"]).ravel().tolist()
        assert values.ravel()[-4:].tolist() == array_of(figures["last4"]).ravel().tolist()
        assert (values.min(), values.max()) == (float_of(figures["min"]), float_of(figures["max"]))


def test_the_bytes_of_the_64_by_64_matrix():
    data = xavier_uniform(64, 64, SplitMix64(17)).astype("<f8").tobytes()
    digest = "8ef85578428c002eaa449b729fc92ee26fd51bc0ca4a74bce82bfbd61adb3783"
    assert hashlib.sha256(data).hexdigest() == digest


# One digest a sampler, so that a changed bit anywhere turns this file red.
DIGESTS = {
    "xavier_uniform": "bcde738e63bd9720",
    "xavier_normal": "0b51bf34b85db811",
    "he_uniform": "ad38faf95525a103",
    "he_normal": "eda3a6501cfc5fcc",
    "lecun_uniform": "4870f28a623da60d",
    "lecun_normal": "57b87a7446c2ece8",
    "truncated_normal": "14b2a292c0972fc2",
    "orthogonal": "856f61d8b728a5d3",
}


@pytest.mark.parametrize("name", NAMES)
def test_bits_are_the_same_everywhere(name):
    values = getattr(initializers, name)(48, 33, SplitMix64(17))
    assert hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:16] == DIGESTS[name]


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**64 - 1))
@settings(max_examples=25)
def test_shape_order_type_and_draws(fan_in, fan_out, seed):
    for sampler in SAMPLERS:
        rng = SplitMix64(seed)
        weights = sampler(fan_in, fan_out, rng)
        assert weights.shape == (fan_in, fan_out)
        assert weights.dtype == np.float64
        assert weights.flags.c_contiguous
        assert np.isfinite(weights).all()
        assert rng == SplitMix64(seed).advance(fan_in * fan_out)


@pytest.mark.parametrize(("fan_in", "fan_out"), [(400, 300), (300, 400), (1000, 50)])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "orthogonal"])
def test_measured_spread_lies_within_its_sampling_error(name, fan_in, fan_out):
    sampler = getattr(initializers, name)
    weights = sampler(fan_in, fan_out, SplitMix64(2026))
    target = SAMPLERS[sampler](fan_in, fan_out).target_variance
    n = fan_in * fan_out
    # Relative standard error of a variance: √((κ − 1)/n), κ the kurtosis: 1.8 uniform, 3 normal.
    kurtosis = 1.8 if name.endswith("uniform") else 3.0
    assert abs(weights.var() / target - 1) < 4 * math.sqrt((kurtosis - 1) / n)
    assert abs(weights.mean()) < 4 * math.sqrt(target / n)


def test_a_truncated_normal_ends_at_two_deviations_and_keeps_774_thousandths():
    raw = truncated_normal(500, 400, SplitMix64(3), corrected=False)
    deviation = 1 / math.sqrt(500)
    assert 1.99 * deviation < np.abs(raw).max() <= 2 * deviation
    assert raw.var() / deviation**2 == pytest.approx(0.7737413, rel=4 * math.sqrt(1.37 / raw.size))
    corrected = truncated_normal(500, 400, SplitMix64(3))
    np.testing.assert_allclose(corrected * 0.87962566103423978, raw, rtol=1e-15)
    assert np.abs(truncated_normal(3, 3, SplitMix64(3))).max() <= 2 / math.sqrt(3) / 0.8796


@given(st.integers(1, 24), st.integers(1, 24), st.integers(0, 2**64 - 1))
@settings(max_examples=30)
def test_orthogonal_columns_or_rows(fan_in, fan_out, seed):
    q = orthogonal(fan_in, fan_out, SplitMix64(seed), gain=3.0) / 3.0
    small = q.T @ q if fan_in >= fan_out else q @ q.T
    np.testing.assert_allclose(small, np.eye(len(small)), rtol=0, atol=1e-14)


@pytest.mark.parametrize("gain", [Fraction(1, 2), 2**64, np.float32(0.5)])
def test_a_gain_of_any_number_type_scales_an_orthogonal_matrix_of_floats(gain):
    scaled = orthogonal(3, 2, SplitMix64(17), gain)
    assert scaled.dtype == np.float64
    assert scaled.tolist() == (orthogonal(3, 2, SplitMix64(17)) * float(gain)).tolist()


@pytest.mark.parametrize("fan_in", [4, 6])
def test_orthogonal_keeps_the_orientation_of_the_draw(fan_in):
    """R of the QR decomposition has a positive diagonal, so Q is equally likely everywhere."""
    drawn = SplitMix64(8).standard_normal((fan_in, 4))
    triangular = orthogonal(fan_in, 4, SplitMix64(8)).T @ drawn
    assert (np.diag(triangular) > 0).all()
    np.testing.assert_allclose(np.tril(triangular, -1), 0, atol=1e-14)
    signs = [orthogonal(1, 1, SplitMix64(seed))[0, 0] for seed in range(100)]
    assert set(signs) == {-1.0, 1.0}


def test_a_gain_multiplies_the_spread():
    np.testing.assert_allclose(
        xavier_uniform(5, 4, SplitMix64(1), gain=2.0),
        2.0 * xavier_uniform(5, 4, SplitMix64(1)),
        rtol=1e-15,
    )
    by_fan_out = he_normal(8, 2, SplitMix64(1), mode="fan_out")
    np.testing.assert_array_equal(by_fan_out, 2.0 * he_normal(8, 2, SplitMix64(1)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("given_", "error"),
    [
        ((0, 2), ZeroFanIn),
        ((2, -1), ZeroFanOut),
        ((2**64 - 1, 1), FanSumOverflow),
        ((2**32, 2**32), ShapeProductOverflow),
        ((2**31, 2**31), AllocationFailed),
        ((2**22, 2**22), AllocationFailed),
        ((2.0, 2), WrongType),
        ((True, 2), WrongType),
    ],
)
def test_a_refused_sample_draws_nothing(name, given_, error):
    rng = SplitMix64(17)
    with pytest.raises(error):
        getattr(initializers, name)(*given_, rng)
    assert rng.state == 17


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rng", [None, 17, np.random.default_rng(17), SplitMix64])
def test_only_our_generator_is_drawn_from(name, rng):
    with pytest.raises(WrongType) as caught:
        getattr(initializers, name)(2, 2, rng)
    assert caught.value.subject == "rng"


def test_unknown_modes_and_unusable_gains_draw_nothing():
    rng = SplitMix64(17)
    with pytest.raises(UnknownChoice):
        he_uniform(2, 2, rng, mode="avg")
    for sampler in (xavier_uniform, xavier_normal, orthogonal):
        with pytest.raises(OutOfRange):
            sampler(2, 2, rng, gain=-1.0)
    assert rng.state == 17


def test_fixed_values():
    assert zeros(3).tolist() == [0.0, 0.0, 0.0]
    assert ones((2, 1)).tolist() == [[1.0], [1.0]]
    assert constant((), 2).tolist() == 2.0
    assert identity(2, 0.5).tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert identity(2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert zeros((2, 3)).flags.writeable


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (lambda: zeros(-1), OutOfRange),
        (lambda: ones((2, 2.0)), WrongType),
        (lambda: constant(2, math.inf), OutOfRange),
        (lambda: constant(2, "1"), WrongType),
        (lambda: zeros((2**32, 2**32)), ShapeProductOverflow),
        (lambda: zeros(2**60), AllocationFailed),
        (lambda: identity(2**32), ShapeProductOverflow),
        (lambda: identity(True), WrongType),
        (lambda: identity(2, math.nan), OutOfRange),
    ],
)
def test_fixed_values_that_cannot_be(request_, error):
    with pytest.raises(error):
        request_()


def test_two_seeds_can_give_one_and_the_same_weight():
    """2047 and 0 as first words share their 53 high bits: one difference proves no uniqueness."""
    first = xavier_uniform(1, 1, SplitMix64(7046029254386353131))
    second = xavier_uniform(1, 1, SplitMix64(10169276841892499002))
    assert first.tolist() == second.tolist()
    assert xavier_uniform(1, 1, SplitMix64(3453682501520545093)).tolist() == [[0.0]]
