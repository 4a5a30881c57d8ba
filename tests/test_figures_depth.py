"""Pictures of chapters 3 and 8: what they compute of their own, and the edges of their range."""

import math

import numpy as np
import pytest

from coursekit.explorers import depth as depth_explorer
from coursekit.explorers import variance as variance_explorer
from coursekit.figures import depth, new_figure, numbers, variance
from coursekit.measure import (
    expected_gradients,
    expected_moments,
    histogram,
    measure_depth,
)


def test_a_growth_of_exactly_one_is_told_as_zero() -> None:
    factors = [1.0, 1.0000000000000002, 1.0000000000000004]
    figure = variance.growth(
        {"flat": variance.Trail([1.0, 10.0, 100.0], factors)}, {"flat": "blue"}
    )
    told = numbers(figure)
    assert 'line with dots "measured" (blue): (0, 0), (1, 1), (2, 2)' in told
    assert 'open dots "expected" (black): (0, 0), (1, 0), (2, 0)' in told


def test_there_and_back_names_each_line_at_the_end_away_from_one() -> None:
    run = measure_depth([np.full((4, 2), 0.5)], np.eye(4), output_gradient=np.eye(4, 2))
    figure = variance.there_and_back({"rule": (run, [0.25])}, [4, 2])
    notes = {text.get_text(): text.xy[0] for text in figure.axes[0].texts}
    assert notes["signal"] == 0  # expected 1 at both ends
    assert notes["gradient"] == 0  # expected ½ at the input
    told = numbers(figure)
    assert 'open dots "expected" (black): (0, 1), (1, 1)' in told
    assert 'open dots "expected" (black): (0, 0.5), (1, 1)' in told


def test_bars_of_broken_pairs_stand_for_w_x_and_both() -> None:
    trial = variance.Trial([2.0, 3.0, 100.0], [2.0, 2.0, 103.0])
    told = numbers(variance.broken_pairs({"mean": trial}))
    assert 'bars "broken in w" (sky): 2' in told
    assert 'bars "broken in both" (vermillion): 100' in told
    assert "(0.27, 103)" in told


def test_a_population_panel_holds_measured_bars_and_expected_dots() -> None:
    counted = {
        "oversized": histogram([-0.5, 0.5, 0.5, 0.5], [-1.0, 0.0, 1.0]),
        "scaled": histogram([0.1, 0.2], [-1.0, 0.0, 1.0]),
    }
    shares = {"oversized": [50.0, 50.0], "scaled": [50.0, 50.0]}
    told = numbers(depth.populations(counted, shares, {"oversized": 0.1875, "scaled": 0.0025}))
    assert 'axes 1 "oversized variance 0.1875"' in told
    assert 'axes 2 "xavier variance 0.0025"' in told
    assert 'bars "oversized" (vermillion): 25, 75' in told
    assert 'open dots "expected" (black): (-0.5, 50), (0.5, 50)' in told


def test_a_dead_network_is_drawn_at_the_bottom_and_not_at_minus_infinity() -> None:
    run = measure_depth([-np.eye(2)], [[1.0, 2.0]], "relu", output_gradient=[[1.0, 1.0]])
    figure, axes = new_figure()
    depth.both_ways(axes, depth.Passes(run, [1.0, 0.5], [0.5, 1.0]))
    told = numbers(figure)
    assert "-300" in told
    assert "inf" not in told


def test_the_expected_median_of_many_networks_is_e_to_minus_depth_over_width() -> None:
    kept = np.ones((3, 11))
    told = numbers(depth.many_networks(kept, width=5))
    assert f"(10, {-2 / math.log(10):.6g})" in told


@pytest.mark.parametrize("activation", ["linear", "tanh", "relu", "silu"])
@pytest.mark.parametrize("residual", [False, True])
def test_the_explorer_expects_what_a_network_of_its_width_expects(activation, residual) -> None:
    signals, gradients = depth_explorer.calculated(activation, residual, 5 / 3, 3)
    widths, variances = [64] * 4, [25 / 9 / 64] * 3
    for ours, theirs in ((signals, expected_moments), (gradients, expected_gradients)):
        expected = theirs(activation, widths, variances, residual=residual)
        assert ours == pytest.approx(expected, rel=1e-12)


def test_the_variance_explorer_follows_the_weight_size_it_is_given() -> None:
    growth = variance_explorer.compute(width=50, depth=4, deviation=0.2)
    assert growth.factor == pytest.approx(2.0)
    assert growth.path.expected[-1] == pytest.approx(16.0)
    assert growth.path.measured[-1] == pytest.approx(16.0, rel=0.6)  # one network of width 50
