"""The inverse normal distribution function: 50-digit references, symmetry, the distribution."""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from golden import load
from hypothesis import given
from hypothesis import strategies as st

from coursekit.normal import inverse_normal, inverse_normal_block
from coursekit.rng import SplitMix64

CELLS = st.integers(0, 2**52 - 1)
HALF_CELL = Decimal("0.5")


def centred(cell: int) -> float:
    return (2 * cell + 1 - 2**52) * 2.0**-53


@pytest.mark.parametrize("reference", load("normal_quantiles"), ids=lambda r: str(r["cell"]))
def test_fifty_digit_references(reference):
    getcontext().prec = 60
    exact = Decimal(reference["quantile"])
    ours = Decimal(inverse_normal(centred(reference["cell"])))
    assert abs((ours - exact) / exact) < Decimal("1e-15")


@given(CELLS)
def test_halves_mirror_each_other(cell):
    assert inverse_normal(centred(cell)) == -inverse_normal(centred(2**52 - 1 - cell))


@given(CELLS, st.integers(1, 2**20))
def test_higher_shares_lie_further_right(cell, step):
    # Adjacent cells may round to one value, or cross by the stated error where methods meet.
    low = inverse_normal(centred(cell))
    high = inverse_normal(centred(min(cell + step, 2**52 - 1)))
    assert low <= high + 1e-15 * abs(high)


@given(CELLS)
def test_the_distribution_function_leads_back(cell):
    q = centred(cell)
    back = 0.5 * math.erf(inverse_normal(q) / math.sqrt(2.0))
    assert math.isclose(back, q, rel_tol=1e-14, abs_tol=1e-15)


@given(st.lists(CELLS, min_size=1, max_size=40))
def test_an_array_gives_the_bits_of_single_values(cells):
    q = np.array([centred(cell) for cell in cells])
    x, r, bottom = (np.empty_like(q) for _ in range(3))
    inverse_normal_block(q, x, r, bottom)
    assert x.tolist() == [inverse_normal(height) for height in q.tolist()]


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("count", [1, 12])
def test_where_centre_and_tail_meet_the_centre_decides(side, count):
    q = np.full(count, side * 0.425)  # the tail's last bit would be another
    x, r, bottom = (np.empty_like(q) for _ in range(3))
    inverse_normal_block(q, x, r, bottom)
    assert {inverse_normal(side * 0.425), *x.tolist()} == {side * 1.4395314709384557}


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_array_of_tails_only(side):
    q = side * np.array([0.5 - 2.0**-k for k in range(4, 54)] * 7)
    x, r, bottom = (np.empty_like(q) for _ in range(3))
    inverse_normal_block(q, x, r, bottom)
    assert x.tolist() == [inverse_normal(height) for height in q.tolist()]


def test_the_median_and_the_ends():
    assert inverse_normal(0.0) == 0.0
    assert inverse_normal(centred(2**52 - 1)) == 8.209536151601386


def test_sampled_moments_tails_and_distances():
    n = 400_000
    z = SplitMix64(17).standard_normal(n)
    # Standard errors: 1/√n, √(2/n), √(15/n), √(96/n) for the first four moments.
    for power, value, error in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**power) - value) < 4 * math.sqrt(error / n)
    # Tail counts are binomial.
    for end in (1.0, 2.0, 3.0, 4.0):
        p = math.erfc(end / math.sqrt(2.0))
        assert abs(np.count_nonzero(abs(z) > end) - n * p) < 4 * math.sqrt(n * p)
    # Kolmogorov and Smirnov: √n·D stays below 1.95 with probability 0.999.
    share = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in np.sort(z)])
    steps = np.arange(n + 1) / n
    distance = max(np.max(steps[1:] - share), np.max(share - steps[:-1]))
    assert math.sqrt(n) * distance < 1.95
