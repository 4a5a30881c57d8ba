"""The three norms against three witnesses: 3000-digit references, composed versions, gradcheck."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.autodiff import constant, no_grad, parameter, transpose
from coursekit.autodiff.gradcheck import gradcheck
from coursekit.errors import (
    BatchTooSmall,
    EmptyFeatureWidth,
    InvalidEpsilon,
    NonFiniteForward,
    NonFiniteLeaf,
    NonFiniteVjp,
    OutOfRange,
    WidthMismatch,
    WrongType,
    ZeroEnergyRow,
)
from coursekit.normalization import (
    RunningStatistics,
    batch_norm,
    composed_batch_norm,
    composed_layer_norm,
    composed_rms_norm,
    layer_norm,
    rms_norm,
)
from coursekit.normalization.rows import BLOCK_ELEMENTS
from coursekit.rng import SplitMix64

GOLDEN = Path(__file__).parent / "golden"
RMSNORM = json.loads((GOLDEN / "rmsnorm.json").read_text())
REFERENCES = json.loads((GOLDEN / "normalization_references.json").read_text())
ULP = 2.0**-52


def batch_norm_in_training(x, gamma=None, beta=None, epsilon=1e-5):
    # Momentum 0, because the square of a huge batch has no place in the running variance.
    running = RunningStatistics.start(x.shape[-1])
    return batch_norm(x, gamma, beta, running, training=True, momentum=0.0, epsilon=epsilon)


def rms_norm_with_shift(x, gamma, beta, epsilon):
    return rms_norm(x, gamma, epsilon) + 0.0 * beta


FUSED = {
    "layer_norm": layer_norm,
    "rms_norm": rms_norm_with_shift,
    "batch_norm": batch_norm_in_training,
}


def array_of(golden, key):
    return np.array(golden[key]["dec"], dtype=float).reshape(golden[key]["shape"])


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


# --- first witness: recorded values ------------------------------------------------------------


@pytest.mark.parametrize("case", REFERENCES, ids=lambda case: f"{case['norm']}: {case['case']}")
def test_references(case):
    x, gamma, beta = (parameter(case[key]) for key in ("x", "gamma", "beta"))
    y = FUSED[case["norm"]](x, gamma, beta, case["epsilon"])
    y.backward(case["upstream"])
    assert y.value == pytest.approx(np.array(case["output"]), rel=0, abs=3 * ULP)
    # What reaches x is a sum of numbers of this size, each known to a rounding.
    axis = 0 if case["norm"] == "batch_norm" else 1
    inverse = np.expand_dims(case["inverse_deviations"], axis)
    size = np.abs(np.array(case["upstream"]) * gamma.value).max(axis, keepdims=True) * inverse
    error = np.abs(x.grad - np.array(case["x_gradient"]))
    assert (error <= 3 * ULP * size + 5e-324).all()
    assert gamma.grad == pytest.approx(np.array(case["gamma_gradient"]), rel=0, abs=3 * ULP)
    beta_gradient = np.array(case["beta_gradient"])
    assert beta.grad == pytest.approx(beta_gradient * (case["norm"] != "rms_norm"), abs=3 * ULP)


@pytest.mark.parametrize(
    "case",
    [case for case in RMSNORM["cases"] if "output" in case],
    ids=lambda case: case["case"],
)
def test_golden_rms_norm(case):
    # Their 1/sqrt(v) is exp(−log(v)/2): at v = 1e300 the logarithm is 691 and costs twelve ULP.
    tolerance = 2e-14 if case["case"] == "own_big_ok" else 1e-14
    x, gain = parameter(array_of(case, "input")), parameter(array_of(case, "gain"))
    y = rms_norm(x, gain, case["epsilon"]["dec"])
    y.backward(array_of(case, "upstream"))
    answers = {"output": y.value, "input_gradient": x.grad, "gain_gradient": gain.grad}
    for key, actual in answers.items():
        expected = array_of(case, key)
        # Some gradients are small differences of large numbers: errors are counted by the largest.
        assert actual == pytest.approx(expected, rel=0, abs=tolerance * np.abs(expected).max())


def test_golden_refusal_of_a_row_without_energy():
    (case,) = [case for case in RMSNORM["cases"] if case["case"] == "crate_zero_eps0_rejected"]
    with pytest.raises(ZeroEnergyRow) as refusal:
        rms_norm(array_of(case, "input"), array_of(case, "gain"), case["epsilon"]["dec"])
    assert refusal.value.row == 0


def test_squares_that_overflow_are_rescaled_where_the_golden_program_refuses():
    (case,) = [case for case in RMSNORM["cases"] if case["case"] == "own_meansum_overflow"]
    x = parameter(array_of(case, "input"))
    y = rms_norm(x, array_of(case, "gain"), case["epsilon"]["dec"])
    y.backward(array_of(case, "upstream"))
    assert y.value.tolist() == [[1.0, 1.0]]
    assert x.grad == pytest.approx(np.array([[0.5, -0.5]]) / 1.3e154, rel=4 * ULP)


@pytest.mark.parametrize("shape", [[], [3], [2, 1], [2, 0]])
def test_golden_input_shapes_that_a_gain_of_two_refuses(shape):
    (golden,) = [case for case in RMSNORM["forward_errors_width2"] if case["input_shape"] == shape]
    assert not golden["ok"]
    with pytest.raises(WidthMismatch if shape else EmptyFeatureWidth) as refusal:
        rms_norm(np.zeros(shape), np.ones(2))
    if shape:
        assert refusal.value.subject == "gain"
        assert (refusal.value.width, refusal.value.given) == (shape[-1], (2,))
    else:
        assert refusal.value.shape == ()


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_no_rows_give_no_rows(norm):
    x, gain = parameter(np.zeros((0, 2))), parameter(np.ones(2))
    y = norm(x, gain)
    y.backward(np.zeros((0, 2)))
    assert y.shape == x.grad.shape == (0, 2)
    assert gain.grad.tolist() == [0.0, 0.0]


def test_jacobian_rows_that_the_chapter_prints():
    x = parameter([1.0, 2.0, 3.0, 4.0])
    layer_norm(x).backward([1.0, 0.0, 0.0, 0.0])
    row = [0.26833030389303414, -0.3577683720252976, -0.08944343463101137, 0.17888150276327486]
    assert x.grad == pytest.approx(row, rel=1e-14)
    x = parameter([3.0, 4.0])
    y = rms_norm(x)
    y.backward([1.0, 0.0])
    assert y.value == pytest.approx([0.8485277980128058, 1.1313703973504077], rel=1e-15)
    assert x.grad == pytest.approx([0.18101934503466866, -0.13576433907057767], rel=1e-14)


# --- second witness: the same function in elementary operations --------------------------------

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)
seeds = st.integers(0, 2**32)


def value_and_gradients(function, arrays, upstream):
    leaves = [parameter(array) for array in arrays]
    y = function(*leaves)
    y.backward(upstream)
    return [y.value, *(leaf.grad for leaf in leaves)]


def assert_equal_functions(fused, composed, arrays, upstream):
    for ours, theirs in zip(
        value_and_gradients(fused, arrays, upstream),
        value_and_gradients(composed, arrays, upstream),
        strict=True,
    ):
        # The composed version rounds its mean once, at 100 by 1e-14, and divides by a σ that is at
        # least sqrt(ε) = 0.003, in the gradient twice. A wrong formula is off by far more.
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8)


@given(shape=shapes, seed=seeds, mean=st.sampled_from([0.0, 100.0]))
@settings(max_examples=60, deadline=None)
def test_row_norms_equal_their_composed_versions(shape, seed, mean):
    x, upstream = mean + normal(seed, *shape), normal(seed + 1, *shape)
    gamma, beta = normal(seed + 2, 2, shape[-1])
    assert_equal_functions(layer_norm, composed_layer_norm, (x, gamma, beta), upstream)
    assert_equal_functions(rms_norm, composed_rms_norm, (x, gamma), upstream)
    assert_equal_functions(layer_norm, composed_layer_norm, (x,), upstream)
    assert_equal_functions(rms_norm, composed_rms_norm, (x,), upstream)


@given(rows=st.integers(2, 6), width=st.integers(1, 5), seed=seeds)
@settings(max_examples=40, deadline=None)
def test_batch_norm_equals_its_composed_version(rows, width, seed):
    x, upstream = normal(seed, rows, width), normal(seed + 1, rows, width)
    gamma, beta = normal(seed + 2, 2, width)
    fused = batch_norm_in_training
    assert_equal_functions(fused, composed_batch_norm, (x, gamma, beta), upstream)
    assert_equal_functions(fused, composed_batch_norm, (x,), upstream)


# --- third witness: central differences --------------------------------------------------------


def assert_right(function, *arrays):
    report = gradcheck(function, *arrays)
    assert report.checked == sum(array.size for array in arrays)
    assert report.ok, str(report)


@given(shape=shapes, seed=seeds)
@settings(max_examples=15, deadline=None)
def test_gradcheck_of_row_norms(shape, seed):
    x = normal(seed, *shape)
    gamma, beta = normal(seed + 2, 2, shape[-1])
    # A large epsilon keeps width one and near-constant rows smooth at the step of the check.
    assert_right(lambda *given: layer_norm(*given, epsilon=0.1), x, gamma, beta)
    assert_right(lambda *given: rms_norm(*given, epsilon=0.1), x, gamma)


@given(rows=st.integers(2, 4), width=st.integers(1, 4), seed=seeds)
@settings(max_examples=15, deadline=None)
def test_gradcheck_of_batch_norm_in_both_modes(rows, width, seed):
    x, vectors = normal(seed, rows, width), normal(seed + 1, 2, width)
    running = RunningStatistics(normal(seed + 2, width), normal(seed + 3, width) ** 2)
    assert_right(lambda *given: batch_norm_in_training(*given, epsilon=0.1), x, *vectors)
    assert_right(lambda *given: batch_norm(*given, running, False, epsilon=0.1), x, *vectors)


# --- laws --------------------------------------------------------------------------------------


@given(seed=seeds, exponent=st.integers(-300, 300), width=st.integers(2, 9))
@settings(max_examples=60, deadline=None)
def test_a_power_of_two_changes_no_bit_when_epsilon_is_scaled_too(seed, exponent, width):
    x = normal(seed, 3, width)
    scaled, epsilon = np.ldexp(x, exponent), 2.0**-17
    for norm in (layer_norm, rms_norm):
        expected = norm(x, epsilon=epsilon).value
        assert (norm(scaled, epsilon=math.ldexp(epsilon, 2 * exponent)).value == expected).all()


@given(seed=seeds, exponent=st.integers(-1000, 1000))
@settings(max_examples=60, deadline=None)
def test_with_epsilon_zero_size_does_not_matter_anywhere_in_float64(seed, exponent):
    x = normal(seed, 4, 5)
    running = RunningStatistics.start(5)
    for norm in (
        layer_norm,
        rms_norm,
        lambda x, epsilon: batch_norm(x, None, None, running, True, 0.0, epsilon),
    ):
        expected = norm(x, epsilon=0.0).value
        assert norm(np.ldexp(x, exponent), epsilon=0.0).value == pytest.approx(expected, abs=4e-16)


def test_layer_norm_ignores_shift_and_positive_scale_and_turns_with_the_sign():
    x = normal(1, 3, 8)
    expected = layer_norm(x, epsilon=0.0).value
    assert layer_norm(7.0 * x + 3.0, epsilon=0.0).value == pytest.approx(expected, abs=1e-14)
    assert layer_norm(-7.0 * x, epsilon=0.0).value == pytest.approx(-expected, abs=1e-14)
    assert rms_norm(7.0 * x, epsilon=0.0).value == pytest.approx(rms_norm(x, epsilon=0.0).value)
    assert np.abs(rms_norm(x + 3.0).value - rms_norm(x).value).max() > 0.1


def test_the_two_token_rows_differ_through_epsilon_only():
    tokens = np.array([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])
    first, second = layer_norm(tokens, epsilon=0.0).value
    assert first == pytest.approx(second, abs=4e-16)
    first, second = layer_norm(tokens).value
    assert (first - second)[0] == pytest.approx(5.3e-6, rel=0.01)


def test_output_variance_is_v_over_v_plus_epsilon():
    y = layer_norm([1.0, 2.0, 3.0, 4.0], epsilon=0.5).value
    assert y.var() == pytest.approx(1.25 / 1.75, rel=1e-15)


def test_gradient_of_layer_norm_is_orthogonal_to_ones_and_to_the_output():
    x = parameter(normal(2, 3, 8))
    y = layer_norm(x, epsilon=0.0)
    y.backward(normal(3, 3, 8))
    assert x.grad.sum(axis=-1) == pytest.approx(np.zeros(3), abs=1e-14)
    assert (x.grad * y.value).sum(axis=-1) == pytest.approx(np.zeros(3), abs=1e-14)


# --- extreme values ----------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 0.1, -1e8, 1e200, -1.7e308, 5e-324])
@pytest.mark.parametrize("width", [1, 2, 3, 1000])
def test_a_constant_row_is_exactly_beta(value, width):
    beta = normal(4, width)
    y = layer_norm(np.full((2, width), value), None, beta)
    assert (y.value == beta).all()
    with pytest.raises(ZeroEnergyRow):
        layer_norm(np.full((2, width), value), epsilon=0.0)


def test_width_one_is_beta_for_layer_norm_and_a_softened_sign_for_rms_norm():
    assert layer_norm([[3.0], [-4.0]], None, [0.5]).value.tolist() == [[0.5], [0.5]]
    assert rms_norm([[3.0], [-4.0]], epsilon=0.0).value.tolist() == [[1.0], [-1.0]]


def test_two_neighbouring_floats_are_told_apart():
    x = np.array([1e8, np.nextafter(1e8, np.inf)])
    assert layer_norm(x, epsilon=0.0).value == pytest.approx([-1.0, 1.0], rel=1e-15)


def test_huge_and_tiny_rows_beside_ordinary_ones():
    row = np.array([1.0, -2.0, 4.0])
    y = rms_norm(np.array([row * 1e200, row, row * 1e-200]), epsilon=1e-5).value
    assert y[0] == pytest.approx(rms_norm(row, epsilon=0.0).value, rel=1e-15)
    assert (y[1] == rms_norm(row).value).all()
    assert y[2] == pytest.approx(row * 1e-200 / math.sqrt(1e-5), rel=1e-15)


def test_blocks_do_not_show():
    width = 100
    rows = 2 * (BLOCK_ELEMENTS // width) + 7
    x, upstream = parameter(normal(5, rows, width)), normal(6, rows, width)
    gain, shift = parameter(normal(7, width)), parameter(normal(8, width))
    y = layer_norm(x, gain, shift)
    y.backward(upstream)
    for row in (0, BLOCK_ELEMENTS // width, rows - 1):
        alone = parameter(x.value[row])
        y_alone = layer_norm(alone, gain.value, shift.value)
        y_alone.backward(upstream[row])
        assert (y.value[row] == y_alone.value).all()
        assert x.grad[row] == pytest.approx(alone.grad, rel=0, abs=1e-15)
    expected = (upstream * layer_norm(x.value).value).sum(axis=0)
    assert gain.grad == pytest.approx(expected, abs=1e-11)
    assert shift.grad == pytest.approx(upstream.sum(axis=0), abs=1e-11)


def test_a_feature_wider_than_a_block():
    x = normal(8, 2, BLOCK_ELEMENTS + 1)
    expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5)
    assert rms_norm(x).value == pytest.approx(expected, rel=1e-13)


def test_zero_energy_is_reported_with_its_row_in_any_block_and_shape():
    width = 64
    x = normal(9, 3, BLOCK_ELEMENTS // width, width)
    x[2, 5] = 0.0
    with pytest.raises(ZeroEnergyRow) as refusal:
        rms_norm(x, epsilon=0.0)
    assert refusal.value.row == 2 * (BLOCK_ELEMENTS // width) + 5
    x[1, 3] = 7.0
    with pytest.raises(ZeroEnergyRow) as refusal:
        layer_norm(x, epsilon=0.0)
    assert refusal.value.row == BLOCK_ELEMENTS // width + 3


def test_a_gradient_beyond_float64_is_an_error_and_changes_nothing():
    x = parameter([1e-310, -3e-310])
    y = rms_norm(x, epsilon=0.0)
    with pytest.raises(NonFiniteVjp) as failure:
        y.backward([1.0, 0.0])
    assert (failure.value.operation, failure.value.operand) == ("rms_norm", 0)
    assert x.grad.tolist() == [0.0, 0.0]


# --- the tape ----------------------------------------------------------------------------------


def test_each_norm_is_one_node_and_can_run_backward_twice():
    x, gamma, beta = parameter(normal(1, 3, 4)), parameter(normal(2, 4)), parameter(normal(3, 4))
    upstream = normal(4, 3, 4)
    for name, function in FUSED.items():
        y = rms_norm(x, gamma) if name == "rms_norm" else function(x, gamma, beta)
        assert y.operation == name
        steps = y.backward(upstream, retain_graph=True, trace=True)
        assert len(steps) == 1
        once = x.grad.copy()
        y.backward(upstream)
        assert (x.grad == 2 * once).all()
        x.zero_grad()


def test_the_memory_order_of_the_input_does_not_matter():
    x, upstream = normal(1, 5, 4), normal(2, 4, 5)
    for norm in (layer_norm, rms_norm, batch_norm_in_training):
        turned, straight = parameter(x), parameter(x.T)
        y, expected = norm(transpose(turned)), norm(straight)
        y.backward(upstream)
        expected.backward(upstream)
        assert y.value == pytest.approx(expected.value, rel=1e-14, abs=1e-14)
        assert np.allclose(turned.grad.T, straight.grad, rtol=1e-13, atol=1e-14)


def test_no_grad_and_constants_record_nothing():
    with no_grad():
        assert not layer_norm(parameter([1.0, 2.0])).tracks_gradient
    assert not rms_norm(constant([1.0, 2.0])).tracks_gradient


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [layer_norm, rms_norm, batch_norm_in_training])
@pytest.mark.parametrize("epsilon", [-1e-5, math.nan, math.inf, -math.inf, 10**400])
def test_epsilon_must_be_finite_and_not_negative(norm, epsilon):
    with pytest.raises(InvalidEpsilon) as refusal:
        norm(np.ones((2, 2)), epsilon=epsilon)
    given = min(float(np.float64(epsilon)) if epsilon != 10**400 else math.inf, math.inf)
    assert refusal.value.epsilon == pytest.approx(given, nan_ok=True)


@pytest.mark.parametrize("epsilon", [True, "1e-5", None, 1j, [1e-5]])
def test_epsilon_must_be_a_real_number(epsilon):
    with pytest.raises(WrongType, match="epsilon must be a real number"):
        layer_norm(np.ones((2, 2)), epsilon=epsilon)


def test_minus_zero_is_zero():
    assert rms_norm([2.0, 2.0], epsilon=-0.0).value.tolist() == [1.0, 1.0]


def test_vectors_must_fit_the_last_axis():
    x = np.ones((2, 3))
    with pytest.raises(WidthMismatch) as refusal:
        layer_norm(x, np.ones(2), np.ones(4))
    assert (refusal.value.subject, refusal.value.width, refusal.value.given) == ("gamma", 3, (2,))
    with pytest.raises(WidthMismatch) as refusal:
        layer_norm(x, np.ones(3), np.ones((1, 3)))
    assert (refusal.value.subject, refusal.value.given) == ("beta", (1, 3))
    with pytest.raises(EmptyFeatureWidth) as empty:
        layer_norm(np.ones((2, 0)))
    assert empty.value.shape == (2, 0)
    with pytest.raises(EmptyFeatureWidth):
        layer_norm(1.0)


def test_what_the_tape_refuses_the_norms_refuse():
    with pytest.raises(WrongType):
        layer_norm(np.ones((2, 2), dtype=int))
    with pytest.raises(WrongType):
        rms_norm([1.0, 2.0], "gain")
    with pytest.raises(NonFiniteLeaf) as refusal:
        rms_norm([1.0, math.nan])
    assert refusal.value.index == 1
    with pytest.raises(NonFiniteForward) as failure:
        rms_norm([1.0, 2.0], [1.0, 1.7e308])
    assert (failure.value.operation, failure.value.index) == ("rms_norm", 1)


# --- BatchNorm's two modes and its memory ------------------------------------------------------


def memory_of(running):
    return running.mean.tolist(), running.variance.tolist(), running.count


def test_training_normalizes_with_n_and_remembers_n_minus_one():
    x = np.array([[1.0, 10.0], [3.0, 30.0], [8.0, 20.0]])
    running = RunningStatistics([1.0, 2.0], [3.0, 4.0])
    y = batch_norm(x, [2.0, 1.0], [0.0, 5.0], running, training=True, momentum=0.25)
    expected = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)
    assert y.value == pytest.approx(expected * [2.0, 1.0] + [0.0, 5.0], rel=1e-14)
    assert running.mean == pytest.approx(0.75 * np.array([1.0, 2.0]) + 0.25 * np.array([4.0, 20.0]))
    assert running.variance == pytest.approx(
        0.75 * np.array([3.0, 4.0]) + 0.25 * np.array([13.0, 100.0])
    )
    assert running.count == 1


def test_all_axes_but_the_last_are_the_batch():
    x = normal(1, 2, 3, 4)
    one, other = RunningStatistics.start(4), RunningStatistics.start(4)
    y = batch_norm(x, None, None, one, training=True).value
    flat = batch_norm(x.reshape(6, 4), None, None, other, training=True).value
    assert (y == flat.reshape(x.shape)).all()
    assert memory_of(one) == memory_of(other)


def test_evaluation_uses_the_memory_and_changes_nothing():
    running = RunningStatistics([1.0, 2.0], [4.0, 0.25], 3)
    before = memory_of(running)
    y = batch_norm([[3.0, 2.5]], [1.0, 3.0], [0.0, 1.0], running, training=False, epsilon=0.0)
    assert y.value.tolist() == [[1.0, 4.0]]
    assert memory_of(running) == before


@pytest.mark.parametrize("rows", [0, 1])
def test_a_training_batch_needs_two_values_a_feature(rows):
    running = RunningStatistics([1.0], [2.0], 3)
    with pytest.raises(BatchTooSmall) as refusal:
        batch_norm(np.ones((rows, 1)), None, None, running, training=True)
    assert refusal.value.count == rows
    assert memory_of(running) == ([1.0], [2.0], 3)


def test_a_failed_call_leaves_the_memory_as_it_was():
    running = RunningStatistics([1.0, 1.0], [2.0, 2.0], 3)
    before = memory_of(running)
    x = np.array([[1.0, 5.0], [2.0, 5.0]])
    with pytest.raises(ZeroEnergyRow) as refusal:
        batch_norm(x, None, None, running, training=True, epsilon=0.0)
    assert refusal.value.row == 1
    with pytest.raises(NonFiniteForward) as failure:
        batch_norm([[1.0, 1.0], [1.0, 1e200]], None, None, running, training=True)
    assert failure.value.operation == "batch_norm running variance"
    assert failure.value.index == 1
    with pytest.raises(WidthMismatch) as mismatch:
        batch_norm(np.ones((2, 3)), None, None, running, training=True)
    assert mismatch.value.subject == "running statistics"
    assert (mismatch.value.width, mismatch.value.given) == (3, (2,))
    assert memory_of(running) == before


def test_an_output_beyond_float64_leaves_the_memory_as_it_was():
    running = RunningStatistics.start(1)
    with pytest.raises(NonFiniteForward):
        batch_norm([[1.0], [1.0], [2.0]], [1.7e308], None, running, training=True)
    assert memory_of(running) == ([0.0], [1.0], 0)


def test_evaluation_with_a_variance_of_zero_needs_an_epsilon():
    running = RunningStatistics([0.0, 0.0], [1.0, 0.0])
    with pytest.raises(ZeroEnergyRow) as refusal:
        batch_norm(np.ones((1, 2)), None, None, running, training=False, epsilon=0.0)
    assert refusal.value.row == 1


def test_evaluation_refuses_a_variance_and_epsilon_beyond_float64():
    running = RunningStatistics([0.0, 0.0], [1.0, 1.5e308])
    with pytest.raises(NonFiniteForward) as failure:
        batch_norm(np.ones((1, 2)), None, None, running, training=False, epsilon=1.5e308)
    assert (failure.value.operation, failure.value.index) == ("batch_norm variance + epsilon", 1)


def test_settings_of_batch_norm_are_checked():
    x, running = np.ones((2, 1)), RunningStatistics.start(1)
    for momentum in (-0.1, 1.1, math.nan):
        with pytest.raises(OutOfRange, match="momentum must be"):
            batch_norm(x, None, None, running, training=True, momentum=momentum)
    with pytest.raises(WrongType, match="momentum"):
        batch_norm(x, None, None, running, training=True, momentum=True)
    with pytest.raises(WrongType, match="training"):
        batch_norm(x, None, None, running, training=1)
    with pytest.raises(WrongType, match="running"):
        batch_norm(x, None, None, None, training=True)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 1.0])
def test_every_training_batch_counts_once_whatever_it_weighs(momentum):
    running = RunningStatistics([3.0], [2.0], count=4)
    batch_norm([[1.0], [3.0]], None, None, running, training=True, momentum=momentum)
    assert running.count == 5
    assert running.mean == [3.0 - momentum * (3.0 - 2.0)]
    assert running.variance == [2.0]


def test_the_running_mean_is_that_of_the_second_pass():
    rows = 1e8 + SplitMix64(17).random((5000, 3))
    running = RunningStatistics.start(3)
    batch_norm(rows, None, None, running, training=True, momentum=1.0)
    exact = [math.fsum(column) / 5000 for column in rows.T.tolist()]
    assert np.abs(running.mean - exact).max() <= np.spacing(1e8)  # one pass is off by ten


def test_running_statistics_are_copies_and_read_only():
    mean = np.zeros(2)
    running = RunningStatistics(mean, np.ones(2))
    mean[0] = 5.0
    assert running.mean.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        running.mean[0] = 1.0


def test_assign_replaces_all_or_nothing():
    running = RunningStatistics([1.0], [2.0], 3)
    for mean, variance, count, error in [
        ([1.0], [-1.0], 0, OutOfRange),
        ([1.0], [math.nan], 0, OutOfRange),
        ([math.inf], [1.0], 0, OutOfRange),
        ([1.0], [1.0], -1, OutOfRange),
        ([1.0], [1.0], True, WrongType),
        ([1.0], [1.0], 1.5, WrongType),
        ([1], [1.0], 0, WrongType),
        ([1.0], [1.0, 2.0], 0, WidthMismatch),
        ([[1.0]], [[1.0]], 0, WidthMismatch),
    ]:
        with pytest.raises(error):
            running.assign(mean, variance, count)
    assert memory_of(running) == ([1.0], [2.0], 3)
    running.assign([4.0], [5.0], 6)
    assert memory_of(running) == ([4.0], [5.0], 6)


# --- a further witness, where it is installed --------------------------------------------------


def test_pytorch_agrees():
    torch = pytest.importorskip("torch")
    x, gamma, beta, upstream = normal(1, 6, 5), normal(2, 5), normal(3, 5), normal(4, 6, 5)
    running = RunningStatistics(normal(5, 5), normal(6, 5) ** 2)
    memory = torch.tensor(running.mean), torch.tensor(running.variance)
    functional = torch.nn.functional
    pairs = [
        (layer_norm, lambda x, *both: functional.layer_norm(x, (5,), *both)),
        (
            lambda x, gain, _: rms_norm(x, gain),
            lambda x, g, _: functional.rms_norm(x, (5,), g, 1e-5),
        ),
        (
            lambda x, *both: batch_norm(x, *both, running, training=True),
            lambda x, *both: functional.batch_norm(x, *memory, *both, training=True),
        ),
        (
            lambda x, *both: batch_norm(x, *both, running, training=False),
            lambda x, *both: functional.batch_norm(x, *memory, *both, training=False),
        ),
    ]
    for ours, theirs in pairs:
        values = value_and_gradients(ours, (x, gamma, beta), upstream)
        leaves = [torch.tensor(array, requires_grad=True) for array in (x, gamma, beta)]
        y = theirs(*leaves)
        y.backward(torch.tensor(upstream))
        for mine, leaf in zip(values[1:], leaves, strict=True):
            expected = 0.0 if leaf.grad is None else leaf.grad.numpy()
            assert mine == pytest.approx(expected, rel=1e-12, abs=1e-13)
        assert values[0] == pytest.approx(y.detach().numpy(), rel=1e-12)
    assert running.mean == pytest.approx(memory[0].numpy(), rel=1e-13)
    assert running.variance == pytest.approx(memory[1].numpy(), rel=1e-13)


@pytest.mark.parametrize(
    ("width", "error"), [("a", WrongType), (True, WrongType), (-1, OutOfRange)]
)
def test_statistics_start_at_a_width(width, error):
    with pytest.raises(error):
        RunningStatistics.start(width)


def test_a_count_may_be_an_integer_of_numpys():
    assert type(RunningStatistics([0.0], [1.0], np.int64(2)).count) is int
