"""Statistics of finite sets of numbers: exact cases, laws, bits, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit import errors, initializers
from coursekit.measure import (
    NORMAL_KURTOSIS,
    UNIFORM_KURTOSIS,
    compare_mean,
    compare_variance,
    histogram,
    population,
    standard_error_of_mean,
    standard_error_of_variance,
)
from coursekit.rng import SplitMix64

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)
WEIGHTS = initializers.xavier_uniform(64, 64, SplitMix64(17))


def test_seed_17_has_these_bits():
    found = population(WEIGHTS)
    assert found.mean == -0.0033690285657250606
    assert found.variance == 0.01580141098477884
    assert (found.count, found.minimum, found.maximum) == (4096, WEIGHTS.min(), WEIGHTS.max())
    assert found.standard_deviation == math.sqrt(0.01580141098477884)
    assert found.second_moment == pytest.approx(np.mean(WEIGHTS**2), rel=1e-14)


@given(NUMBERS)
def test_sums_run_from_the_first_number_to_the_last(numbers):
    total = 0.0
    for number in numbers:
        total += number
    mean = total / len(numbers)
    squares = 0.0
    for number in numbers:
        squares += (number - mean) * (number - mean)
    found = population(numbers)
    assert (found.mean, found.variance) == (mean, squares / len(numbers))


@given(NUMBERS)
def test_the_variance_is_near_the_exact_one(numbers):
    exact = [Fraction(number) for number in numbers]
    mean = sum(exact) / len(exact)
    variance = sum((number - mean) ** 2 for number in exact) / len(exact)
    scale = float(sum(number**2 for number in exact) / len(exact))
    assert population(numbers).variance == pytest.approx(
        float(variance), rel=1e-12, abs=1e-26 * scale
    )


def test_a_large_mean_does_not_cancel_the_variance():
    shifted = 1e8 + np.array([-1.0, 0.0, 1.0, 0.0])
    assert population(shifted).variance == 0.5
    assert np.mean(shifted**2) - np.mean(shifted) ** 2 != 0.5


def test_constant_numbers_and_one_number_have_no_spread():
    assert population([3.0]).variance == 0.0
    assert population(np.zeros((4, 5))).variance == 0.0
    assert population([[1, 2], [3, 4]]).variance == 1.25


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([], errors.OutOfRange, "number of values must be at least 1"),
        (["a"], errors.WrongType, "values must be real numbers"),
        ([True], errors.WrongType, "values must be real numbers"),
        ([1j], errors.WrongType, "values must be real numbers"),
        (None, errors.WrongType, "values must be real numbers"),
        ([[1.0], [1.0, 2.0]], errors.WrongType, "values must be real numbers"),
        ([[1.0, 2.0], [3.0, math.nan]], errors.NonFiniteValue, "flat index 3"),
        ([math.inf], errors.NonFiniteValue, "flat index 0"),
        ([1e200, -1e200], errors.OutOfRange, "within float64"),
        ([1e308, 1e308], errors.OutOfRange, "within float64"),
    ],
)
def test_populations_that_have_no_statistics(values, error, message):
    with pytest.raises(error, match=message):
        population(values)


# --- histograms ---------------------------------------------------------------------------------


def test_bins_hold_their_left_edge_and_the_last_one_both():
    counted = histogram([0.0, 0.5, 1.0, 1.5, 2.0, 2.0, -0.1, 2.1, 9.0], [0.0, 1.0, 2.0])
    assert counted.edges == (0.0, 1.0, 2.0)
    assert counted.counts == (2, 4)
    assert (counted.underflow, counted.overflow, counted.total) == (1, 2, 9)
    assert counted.percentages == (200 / 9, 400 / 9)


@given(NUMBERS, st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9, unique=True))
def test_no_number_is_lost_and_the_bins_are_numpys(numbers, edges):
    edges = sorted(edges)
    counted = histogram(numbers, edges)
    assert counted.total == len(numbers)
    assert counted.underflow == sum(number < edges[0] for number in numbers)
    assert counted.counts == tuple(np.histogram(numbers, edges)[0].tolist())


@pytest.mark.parametrize(
    ("values", "edges", "error"),
    [
        ([], [0.0, 1.0], errors.OutOfRange),
        ([0.5], [0.0], errors.OutOfRange),
        ([0.5], [0.0, 0.0], errors.OutOfRange),
        ([0.5], [1.0, 0.0], errors.OutOfRange),
        ([0.5], [0.0, math.inf], errors.NonFiniteValue),
        ([math.nan], [0.0, 1.0], errors.NonFiniteValue),
        ([0.5], "ab", errors.WrongType),
    ],
)
def test_histograms_that_cannot_be_counted(values, edges, error):
    with pytest.raises(error):
        histogram(values, edges)


# --- sampling errors ----------------------------------------------------------------------------


def test_sampling_errors_of_the_two_distributions():
    assert standard_error_of_variance(1 / 64, 4096, UNIFORM_KURTOSIS) == pytest.approx(
        math.sqrt(0.8 / 4096) / 64, rel=1e-15
    )
    assert standard_error_of_variance(3.0, 50, NORMAL_KURTOSIS) == pytest.approx(
        3 * math.sqrt(2 / 50)
    )
    assert standard_error_of_mean(0.25, 25) == 0.1


def test_seed_17_against_its_target():
    variance = compare_variance(WEIGHTS, 1 / 64)
    assert variance.target == 1 / 64
    assert variance.expected == (1 - 1 / 4096) / 64
    assert variance.measured == 0.01580141098477884
    assert variance.standard_errors_from_target == pytest.approx(0.8078, abs=1e-4)
    mean = compare_mean(WEIGHTS, 1 / 64)
    assert (mean.target, mean.expected, mean.measured) == (0.0, 0.0, -0.0033690285657250606)
    assert mean.standard_errors_from_target == pytest.approx(-1.7249, abs=1e-4)


def test_a_population_that_cannot_stray():
    assert compare_variance(np.zeros(4), 0.0).standard_errors_from_target == 0.0
    assert compare_variance([1.0, -1.0], 0.0).standard_errors_from_target == math.inf
    assert compare_mean([-1.0], 0.0).standard_errors_from_target == -math.inf


@pytest.mark.parametrize(
    ("sampler", "kurtosis"),
    [
        (initializers.xavier_uniform, UNIFORM_KURTOSIS),
        (initializers.xavier_normal, NORMAL_KURTOSIS),
    ],
)
def test_distances_in_standard_errors_are_spread_as_standard_errors_should_be(sampler, kurtosis):
    """Over 300 matrices the distances have mean 0 and variance 1, within 4 sampling errors."""
    rng = SplitMix64(2)
    distances = [
        compare_variance(sampler(20, 20, rng), 1 / 20, kurtosis).standard_errors_from_target
        for _ in range(300)
    ]
    # The expected variance of a sample is (1 − 1/400) of the target.
    assert abs(np.mean(distances)) < 4 / math.sqrt(300) + 0.06
    assert abs(np.var(distances) - 1) < 4 * math.sqrt(2 / 300)


@pytest.mark.parametrize(
    "request_",
    [
        lambda: standard_error_of_mean(-1.0, 3),
        lambda: standard_error_of_mean(1.0, 0),
        lambda: standard_error_of_variance(1.0, 3, 0.5),
        lambda: standard_error_of_variance(math.nan, 3, 3.0),
        lambda: standard_error_of_variance(1.0, 3, math.inf),
        lambda: compare_variance(WEIGHTS, -1.0),
    ],
)
def test_sampling_errors_of_nothing(request_):
    with pytest.raises(errors.OutOfRange):
        request_()
