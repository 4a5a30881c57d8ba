"""Pictures and explorer of chapter 4: what is drawn is what the matrix has."""

import numpy as np
import pytest

from coursekit.explorers.xavier import BINS, WIDTHS, compute
from coursekit.figures import numbers, xavier
from coursekit.initializers import SplitMix64, xavier_scale, xavier_uniform


def test_connections_marks_one_column_and_one_row() -> None:
    told = numbers(xavier.connections(4, 2)).splitlines()
    marked = {line.split('"')[1]: line.count("(") // 2 for line in told if "segments" in line}
    assert marked["connections into output 1"] == 4
    assert marked["connections out of input 1"] == 2
    assert [line.count("(") // 2 for line in told if "the other connections" in line] == [4, 6]


def test_through_widths_draws_expected_dots_at_whole_cycles() -> None:
    shares = np.array([1.0, 0.4, 0.64, 0.256, 0.4096])
    told = numbers(xavier.through_widths({"rule": shares}, {"rule": shares}, {"rule": "scaled"}))
    assert '"rule, expected" (blue): (0, 1), (2, 0.64), (4, 0.4096)' in told
    assert 'dashed line "target" (black): y = 1' in told


@pytest.mark.parametrize("fan_in", WIDTHS)
def test_the_explorer_counts_every_weight_of_the_drawn_matrix(fan_in: int) -> None:
    drawn = compute(fan_in, 2, seed=17)
    weights = xavier_uniform(fan_in, 2, SplitMix64(17))
    limit = xavier_scale(fan_in, 2).uniform_limit
    assert len(drawn.counts.counts) == BINS
    assert drawn.counts.underflow == drawn.counts.overflow == 0
    assert drawn.counts.total == weights.size
    assert (drawn.counts.edges[0], drawn.counts.edges[-1]) == (-limit, limit)
    assert drawn.variance.target == xavier_scale(fan_in, 2).target_variance
    assert drawn.variance.measured == pytest.approx(weights.var(), rel=1e-12)
