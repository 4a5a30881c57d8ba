"""Pictures and explorer of chapter 5: what is drawn is what the derivations say."""

import numpy as np
import pytest

from coursekit.explorers.gains import ACTIVATIONS, DEPTH, compute, draw
from coursekit.figures import Figure, he, numbers
from coursekit.initializers import TRUNCATED_SHARE
from coursekit.normal import inverse_normal


def test_equal_cells_fall_on_the_quantiles_of_their_midpoints() -> None:
    told = numbers(he.inverse_sampling(TRUNCATED_SHARE, cells=2, drawn=[0.75]))
    whole, cut = told.split("axes 2")
    assert f"({inverse_normal(0.25):.6g}, 0.75)" in whole
    assert (
        f"({inverse_normal(0.25 * TRUNCATED_SHARE):.6g}, {0.5 + 0.25 * TRUNCATED_SHARE:.6g})" in cut
    )
    assert '"draws of seed 17"' in whole
    assert "draws" not in cut
    assert cut.count('rectangle "cut away": 1 by 0.0227501') == 2


def test_lineup_draws_three_standard_errors_to_either_side() -> None:
    told = numbers(he.lineup([1.0, 2.0], 0.01, {"one": 1.0, "two": 2.0}))
    assert 'bars "measured variance" (green): 1, 2' in told
    assert "(0, 0.97), (0, 1.03), (1, 1.94), (1, 2.06)" in told
    assert 'dashed line "two" (black): y = 2' in told


def test_through_rectifiers_draws_every_fourth_expected_moment() -> None:
    moments = 2.0 ** -np.arange(9)
    told = numbers(he.through_rectifiers({"a": moments}, {"a": moments}, {"a": "scaled"}))
    assert '"a, expected" (blue): (0, 1), (4, 0.0625), (8, 0.00390625)' in told


@pytest.mark.parametrize("name", ["relu", "leaky relu, slope 0.1"])
@pytest.mark.parametrize("arriving", [1 / 16, 16.0])
def test_a_scale_free_gain_serves_every_size(name: str, arriving: float) -> None:
    result = compute(name, 1.0, arriving)
    np.testing.assert_allclose(result.moments, arriving, rtol=1e-9)
    assert draw(Figure(), result).caption.endswith("one gain serves every size.")


@pytest.mark.parametrize(("name", "direction"), [("silu", 1), ("gelu", 1), ("tanh", -1)])
@pytest.mark.parametrize("arriving", [0.8, 1.25])
def test_without_one_a_signal_leaves_the_fitted_size_or_returns(
    name: str, direction: int, arriving: float
) -> None:
    moments = compute(name, 1.0, arriving).moments
    assert len(moments) == DEPTH + 1
    away = np.abs(np.log(moments))
    assert (np.sign(np.diff(away)) == direction).all()
    assert compute(name, 1.0, 1.0).moments[-1] == pytest.approx(1.0, rel=1e-9)


def test_every_activation_of_the_explorer_keeps_less_than_all() -> None:
    for name in ACTIVATIONS:
        kept = compute(name, 1.0, 1.0).kept
        assert ((kept > 0.0) & (kept < 1.0)).all(), name
