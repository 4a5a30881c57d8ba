"""Chapter 10's pictures and explorer: the two momenta, the memory, and who looks ahead."""

import numpy as np
import pytest

from coursekit.explorers import batches as explorer
from coursekit.figures import batches, numbers


@pytest.mark.parametrize("momentum", [0.1, 0.3, 0.95])
def test_the_two_conventions_are_one_rule_with_complementary_numbers(momentum: float) -> None:
    new = explorer.compute(8, momentum, explorer.NEW_BATCH)
    old = explorer.compute(8, 1.0 - momentum, explorer.OLD_AVERAGE)
    np.testing.assert_allclose(new.mean, old.mean, rtol=1e-12)
    np.testing.assert_allclose(new.variance, old.variance, rtol=1e-12)
    assert new.weight == pytest.approx(momentum)


def test_the_memory_begins_at_the_start_and_settles_within_its_noise() -> None:
    memory = explorer.compute(64, 0.1, explorer.NEW_BATCH)
    assert (memory.mean[0], memory.variance[0], len(memory.mean)) == (0.0, 1.0, 61)
    assert memory.expected_spread == pytest.approx(np.sqrt(0.1 / 1.9 * 4.0 / 64.0))
    late = memory.mean[-20:] - explorer.MEAN
    assert np.abs(late).max() < 4.0 * memory.expected_spread + 0.9**41 * explorer.MEAN


def test_looks_ahead_are_counted_above_the_diagonal_only() -> None:
    own = np.eye(3)
    back = np.tril(np.ones((3, 3)))
    ahead = np.ones((3, 3))
    told = numbers(batches.who_sees_whom({"own": own, "back": back, "ahead": ahead}))
    counts = [line for line in told.splitlines() if "look ahead" in line]
    assert ["0 look ahead" in line for line in counts] == [True, True, False]
    assert "3 look ahead" in counts[2]


def test_spreads_are_bars_and_rules_are_open_dots() -> None:
    figure = batches.spread_of_statistics(
        [2, 8],
        {"mean": [0.7, 0.36], "variance": [1.4, 0.5]},
        {"mean": [0.75, 0.35], "variance": [1.5, 0.55]},
    )
    told = numbers(figure)
    assert 'bars "mean, measured" (orange): 0.7, 0.36' in told
    assert 'open dots "expected" (black): (0, 0.75), (1, 0.35)' in told
    assert 'open dots "expected" (black): (0, 1.5), (1, 0.55)' in told
