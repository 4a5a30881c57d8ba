"""Chapter 9's pictures and explorer: what is drawn is what the norms compute."""

import numpy as np
import pytest

from coursekit.errors import ZeroEnergyRow
from coursekit.explorers import features as explorer
from coursekit.figures import features, new_figure, numbers
from coursekit.normalization import layer_norm


@pytest.mark.parametrize("shift", [-6.0, 2.5])
def test_the_explorer_shifts_a_row_without_moving_layer_norm_only(shift: float) -> None:
    still = explorer.compute(1.0, 0.0, 4.0, 1e-5)
    moved = explorer.compute(1.0, shift, 4.0, 1e-5)
    np.testing.assert_array_equal(moved.row, still.row + shift)
    np.testing.assert_allclose(moved.layer, still.layer, atol=1e-12)
    assert np.abs(moved.rms - still.rms).max() > 0.1


def test_the_explorer_refuses_a_constant_row_without_epsilon() -> None:
    with pytest.raises(ZeroEnergyRow):
        explorer.compute(0.0, 2.0, 4.0, 0.0)
    told = explorer.norm_explorer().tell({"factor": 0.0, "shift": 2.0, "last": 4.0, "epsilon": 0.0})
    assert told == "Refused: with epsilon 0 every row must have spread; got none in row 0"


def test_the_plane_keeps_lengths_of_rows_of_mean_zero_and_hides_the_mean() -> None:
    row = np.array([0.5, -2.0, 1.5])
    assert np.linalg.norm(features.in_plane(row)) == pytest.approx(np.linalg.norm(row))
    np.testing.assert_allclose(features.in_plane(row + 7.0), features.in_plane(row), atol=1e-12)


def test_gradients_are_drawn_where_their_rows_are() -> None:
    rows = [np.array([1.0, -1.0, 0.0]), np.array([2.0, -2.0, 0.0])]
    gradients = [np.array([0.5, 0.5, -1.0]), np.array([0.25, 0.25, -0.5])]
    output = layer_norm(rows[0], epsilon=0.0).value
    figure = features.turning_gradients(rows, output, np.array([1.0, 0.0, -1.0]), gradients)
    told = numbers(figure, 4)
    assert 'line "gradient at row 1" (blue): (1.414, 0), (1.414, 1.225)' in told
    assert 'line "gradient at row 2" (blue): (2.828, 0), (2.828, 0.6124)' in told
    assert 'line with dots "output" (orange): (1.732, 0)' in told


def test_both_norms_stand_on_one_scale_beside_the_row() -> None:
    figure, axes = new_figure(1, 3)
    outputs = {"LayerNorm": np.array([-1.0, 1.0]), "RMSNorm": np.array([0.6, 1.28])}
    features.row_and_norms(np.array([30.0, 64.0]), outputs, axes)
    assert axes[1].get_ylim() == axes[2].get_ylim()
    told = numbers(figure)
    assert 'bars "the row" (grey): 30, 64' in told
    assert 'bars "LayerNorm" (green): -1, 1' in told
    assert 'bars "RMSNorm" (purple): 0.6, 1.28' in told
