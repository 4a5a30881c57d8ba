"""What a lookup hands on, and how the stream of chapter 12 is drawn."""

import itertools

import numpy as np
import pytest

from coursekit.explorers.policy import BY_SHAPE, BY_WIDTH, NOTHING, ROOT, SMALL, UNIT, compute
from coursekit.figures.policy import stream_growth
from coursekit.figures.twin import numbers
from coursekit.initializers import xavier_uniform
from coursekit.rng import SplitMix64


@pytest.mark.parametrize(
    ("start", "scaling"),
    list(itertools.product([BY_SHAPE, UNIT, BY_WIDTH, SMALL], [NOTHING, ROOT])),
)
def test_measured_mean_squares_lie_within_five_standard_errors(start: str, scaling: str) -> None:
    found = compute(1024, 64, start, scaling)
    relative = np.sqrt((0.8 if start == BY_SHAPE else 2.0) / 2**15)
    assert found.measured[:2] == pytest.approx(found.expected[:2], rel=5 * relative)
    assert found.measured[2] == pytest.approx(found.expected[2], rel=2e-3)


def test_the_rows_are_the_first_rows_of_the_whole_table() -> None:
    table = xavier_uniform(16384, 16, SplitMix64(17))
    looked_up = compute(16384, 16, BY_SHAPE, NOTHING).measured[0]
    assert looked_up == pytest.approx(np.mean(table[:2048] ** 2), rel=1e-9)


def test_only_the_rule_by_shape_knows_the_vocabulary() -> None:
    for start in (UNIT, BY_WIDTH, SMALL):
        few, many = (compute(vocabulary, 64, start, NOTHING) for vocabulary in (512, 16384))
        assert np.array_equal(few.measured, many.measured)
    few, many = (compute(vocabulary, 64, BY_SHAPE, NOTHING) for vocabulary in (512, 16384))
    assert few.measured[0] / many.measured[0] == pytest.approx((16384 + 64) / (512 + 64), rel=1e-12)


def test_the_stream_is_drawn_as_the_average_over_networks() -> None:
    runs = {"ours": np.array([[0.01, 1.0], [0.01, 3.0]])}
    told = numbers(stream_growth(runs, {"ours": "scaled"}, start=0.01))
    assert '"ours" (blue): (0, 0.01), (1, 2)' in told
    assert "y = 0.01" in told
