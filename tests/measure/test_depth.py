"""What networks really do: small ones by hand, many against the average, and what is refused."""

import math

import numpy as np
import pytest

from coursekit import errors, initializers
from coursekit.measure import (
    ACTIVATIONS,
    compare_depth,
    draw_network,
    expected_gradients,
    expected_moments,
    measure_depth,
    measure_networks,
)
from coursekit.rng import SplitMix64


def test_two_layers_by_hand():
    run = measure_depth(
        [[[1.0, -1.0], [2.0, 0.0]], [[0.5], [3.0]]],
        [[1.0, 1.0], [0.0, 2.0]],
        activation="relu",
        output_gradient=[[1.0], [10.0]],
    )
    # Signals: [[3, −1], [4, 0]] → relu [[3, 0], [4, 0]] → [[1.5], [2]].
    assert [signal.mean for signal in run.signals] == [1.0, 1.75, 1.75]
    assert [signal.count for signal in run.signals] == [4, 4, 2]
    # Gradients: at h [[0.5, 3], [5, 30]]; relu lets column 0 pass, and neither −1 nor 0.
    assert [gradient.mean for gradient in run.gradients] == [
        (0.5 + 1.0 + 5.0 + 10.0) / 4,
        (0.5 + 3.0 + 5.0 + 30.0) / 4,
        5.5,
    ]
    assert (run.activation, run.residual) == ("relu", False)


def test_without_a_gradient_there_is_no_backward_pass():
    run = measure_depth([np.eye(2)], [[1.0, 2.0]])
    assert run.gradients == ()
    assert run.signals[0] == run.signals[1]


def test_a_residual_layer_adds_its_input_and_its_gradient():
    run = measure_depth(
        [2.0 * np.eye(2)] * 3, [[1.0, 1.0]], residual=True, output_gradient=[[1.0, 1.0]]
    )
    assert [signal.mean for signal in run.signals] == [1.0, 3.0, 9.0, 27.0]
    assert [gradient.mean for gradient in run.gradients] == [27.0, 9.0, 3.0, 1.0]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("residual", [False, True])
def test_wide_networks_do_what_is_expected(activation, residual):
    """Width 256, 3 layers, 6 networks: the mean second moment is within 10% of the calculation.

    One network's second moment strays by about √(2·3/256) = 15%, the mean of six by 6%; a missing
    factor of 2 would be 100% off.
    """
    width, depth, rng = 256, 3, SplitMix64(11)
    factor = 2.0 if activation == "relu" else 1.0
    widths, variances = [width] * (depth + 1), [factor / width] * depth
    runs = []
    for _ in range(6):
        inputs = rng.standard_normal((32, width))
        weights = draw_network(
            widths, lambda n, m, g: initializers.xavier_uniform(n, m, g, math.sqrt(factor)), rng
        )
        gradient = rng.standard_normal((32, width))
        runs.append(measure_depth(weights, inputs, activation, residual, gradient))
    signals = np.mean([[one.second_moment for one in run.signals] for run in runs], axis=0)
    gradients = np.mean([[one.second_moment for one in run.gradients] for run in runs], axis=0)
    assert signals == pytest.approx(
        expected_moments(activation, widths, variances, residual=residual), rel=0.10
    )
    assert gradients == pytest.approx(
        expected_gradients(activation, widths, variances, residual=residual), rel=0.10
    )


def test_one_network_is_not_the_average_network():
    """Width 16, depth 32: the mean over networks stays 1, the median is near e^(−L/n) = 0.135."""
    rng = SplitMix64(17)
    moments = measure_networks(300, [16] * 33, initializers.lecun_normal, rng, np.ones((1, 16)))
    assert moments.shape == (300, 33)
    assert (moments[:, 0] == 1.0).all()
    # The logarithm of the last moment has variance about 2L/n = 4: its median strays by
    # 1.25·√(4/300) = 0.15, the mean of moments far more.
    assert abs(np.log(np.median(moments[:, -1])) + 32 / 16) < 0.6
    assert np.median(moments[:, -1]) < 0.3 * moments[:, -1].mean()


def test_many_networks_are_drawn_one_after_the_other():
    rng, plain = SplitMix64(3), SplitMix64(3)
    inputs = SplitMix64(4).standard_normal((5, 6))
    many = measure_networks(2, [6, 4, 3], initializers.he_uniform, rng, inputs, "relu")
    for row in many:
        run = measure_depth(draw_network([6, 4, 3], initializers.he_uniform, plain), inputs, "relu")
        assert row == pytest.approx([signal.second_moment for signal in run.signals], rel=1e-12)
    assert rng == plain
    assert rng.state == SplitMix64(3).advance(2 * (24 + 12)).state


def test_target_expected_and_measured_are_three_things():
    rng = SplitMix64(17)
    compared = compare_depth(
        initializers.xavier_uniform, 1 / 32, 32, 4, rng, activation="tanh", samples=64
    )
    assert compared.target == 1.0
    assert compared.expected == expected_moments("tanh", [32] * 5, [1 / 32] * 4)
    assert len(compared.measured) == 5
    assert compared.measured != compared.expected
    assert compared.measured == pytest.approx(compared.expected, rel=0.3)
    assert rng.state == SplitMix64(17).advance(64 * 32 + 4 * 32 * 32).state


def test_fifty_naive_layers_leave_float64_and_the_error_says_where():
    """Weights of variance 1 multiply a signal by √512 a layer: 10³⁰⁸ comes near layer 228."""
    rng = SplitMix64(1)
    weights = [rng.standard_normal((512, 512))] * 240
    with pytest.raises(errors.NonFiniteForward) as refusal:
        measure_depth(weights, rng.standard_normal((1, 512)))
    assert refusal.value.operation == "matmul"


@pytest.mark.parametrize(
    ("weights", "inputs", "options", "error"),
    [
        ([np.eye(2)], [[1.0, 2.0, 3.0]], {}, errors.ShapeMismatch),
        ([np.eye(2), np.eye(3)], [[1.0, 2.0]], {}, errors.ShapeMismatch),
        ([np.ones((2, 1))], [[1.0, 2.0]], {"residual": True}, errors.ShapeMismatch),
        ([np.eye(2)], [[1.0, 2.0]], {"activation": "sine"}, errors.UnknownChoice),
        ([np.eye(2)], [[1.0, math.nan]], {}, errors.NonFiniteLeaf),
        ([[[math.inf]]], [[1.0]], {}, errors.NonFiniteLeaf),
        ([np.eye(2)], [[1.0, 2.0]], {"output_gradient": [[1.0]]}, errors.SeedShapeMismatch),
        ([np.eye(2)], [[1.0, 2.0]], {"output_gradient": [[1.0, math.inf]]}, errors.CourseError),
    ],
)
def test_runs_that_cannot_be_made(weights, inputs, options, error):
    with pytest.raises(error):
        measure_depth(weights, inputs, **options)


def test_a_refused_network_leaves_the_generator_where_it_was():
    rng = SplitMix64(5)

    def fails_late(fan_in, fan_out, trial):
        return initializers.he_normal(fan_in, fan_out, trial) if fan_out > 1 else trial.missing

    requests = [
        lambda: draw_network([4], initializers.he_normal, rng),
        lambda: draw_network([4, 3, 0], initializers.he_normal, rng),
        lambda: draw_network([4, 3, 1], fails_late, rng),
        lambda: measure_networks(0, [4, 4], initializers.he_normal, rng, np.ones((1, 4))),
        lambda: measure_networks(2, [4, 4], initializers.he_normal, rng, np.ones((1, 3))),
        lambda: compare_depth(initializers.he_normal, 0.5, 0, 2, rng),
        lambda: compare_depth(initializers.he_normal, 0.5, 4, 2, rng, samples=0),
        lambda: compare_depth(initializers.he_normal, -0.5, 4, 2, rng),
        lambda: compare_depth(fails_late, 0.5, 1, 2, rng),
    ]
    for request in requests:
        with pytest.raises((errors.CourseError, AttributeError)):
            request()
        assert rng.state == 5
