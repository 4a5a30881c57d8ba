"""Layers own named parameters, draw all or nothing, and compute what their formula says."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit import initializers
from coursekit.autodiff import constant, parameter, silu, tanh
from coursekit.autodiff.gradcheck import gradcheck
from coursekit.errors import (
    AllocationFailed,
    BatchTooSmall,
    DuplicateName,
    EmptyFeatureWidth,
    EmptyName,
    InvalidEpsilon,
    InvalidNameCharacter,
    NonFiniteLeaf,
    OutOfRange,
    ShapeMismatch,
    WidthMismatch,
    WrongType,
    ZeroFanIn,
    ZeroFanOut,
)
from coursekit.layers import (
    BatchNorm,
    Embedding,
    LayerNorm,
    Linear,
    RMSNorm,
    Sequence,
    perceptron,
    transaction,
)
from coursekit.rng import SplitMix64

NEW_ERRORS = json.loads((Path(__file__).parent / "golden" / "rmsnorm.json").read_text())[
    "new_errors"
]


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


# --- Linear and Embedding ----------------------------------------------------------------------


def test_the_text_s_two_parameters_come_from_one_stream():
    rng = SplitMix64(17)
    query = Linear("decoder.block.0.attention.query", 2, 2, rng)
    assert rng.state == 0x78DDE6E5FD29F065
    table = Embedding("token_embedding", 4, 2, rng)
    assert rng.state == 0x6A99B4B1F77DD10D
    assert query.parameters.names == ("decoder.block.0.attention.query.weight",)
    assert query.weight.value.round(12).tolist() == [
        [0.004950883736, -0.265932089217],
        [-0.420504358848, -0.676313443233],
    ]
    assert table.parameters.names == ("token_embedding.weight",)
    assert query.weight.rule == table.weight.rule == "xavier_uniform"


def test_linear_computes_x_w_plus_b_and_its_gradients():
    layer = Linear("layer", 3, 2, SplitMix64(1), bias=True)
    assert layer.parameters.names == ("layer.weight", "layer.bias")
    assert layer.bias.value.tolist() == [0.0, 0.0]
    layer.bias.tensor.assign([1.0, -1.0])
    x, upstream = parameter(normal(1, 4, 3)), normal(2, 4, 2)
    y = layer(x)
    y.backward(upstream)
    weight = layer.weight.value
    assert y.value == pytest.approx(x.value @ weight + [1.0, -1.0], rel=1e-14)
    assert x.grad == pytest.approx(upstream @ weight.T, rel=1e-13)
    assert layer.weight.grad == pytest.approx(x.value.T @ upstream, rel=1e-13)
    assert layer.bias.grad == pytest.approx(upstream.sum(axis=0), rel=1e-13)


def test_any_sampler_can_fill_the_weight():
    he = Linear("layer", 3, 2, SplitMix64(1), weight=initializers.he_normal)
    assert (he.weight.value == initializers.he_normal(3, 2, SplitMix64(1))).all()
    assert he.weight.rule == "he_normal"
    wide = partial(initializers.xavier_uniform, gain=2.0)
    scaled = Linear("layer", 3, 2, rng := SplitMix64(1), weight=wide)
    assert (scaled.weight.value == wide(3, 2, SplitMix64(1))).all()
    assert rng == SplitMix64(1).advance(6)
    zeros = Linear("layer", 3, 2, rng, weight=lambda fan_in, fan_out, _: np.zeros((3, 2)))
    assert not zeros.weight.value.any()


def test_embedding_looks_rows_up_and_adds_gradients_of_repeated_ids():
    table = Embedding("tokens", 4, 2, SplitMix64(5))
    y = table([[3, 0], [3, 3]])
    assert (y.value[1, 0] == table.weight.value[3]).all()
    y.backward(np.ones((2, 2, 2)))
    assert table.weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [3.0, 3.0]]
    with pytest.raises(OutOfRange):
        table([4])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda rng: Linear("Bad", 2, 2, rng), InvalidNameCharacter),
        (lambda rng: Linear("", 0, 0, rng), EmptyName),
        (lambda rng: Linear("layer", 0, 0, rng), ZeroFanIn),
        (lambda rng: Linear("layer", 2, 0, rng), ZeroFanOut),
        (lambda rng: Linear("layer", 2, 2, rng, bias=1), WrongType),
        (lambda rng: Linear("layer", 2**40, 2**20, rng), AllocationFailed),
        (lambda rng: Linear("layer", 2, 2, rng, weight=wrong_shape), ShapeMismatch),
        (lambda rng: Linear("layer", 2, 2, rng, weight=not_finite), NonFiniteLeaf),
        (lambda rng: Embedding("Bad", 2, 2, rng), InvalidNameCharacter),
        (lambda rng: Embedding("table", 0, 2, rng), ZeroFanIn),
        (lambda rng: perceptron("net", [2, 3, 0], rng, tanh), ZeroFanOut),
        (lambda rng: perceptron("net", [2], rng, tanh), OutOfRange),
    ],
)
def test_a_refused_construction_takes_no_draws(make, error):
    rng = SplitMix64(17)
    with pytest.raises(error):
        make(rng)
    assert rng == SplitMix64(17)


def wrong_shape(fan_in, fan_out, rng):
    return rng.random((fan_in, fan_out + 1))


def not_finite(fan_in, fan_out, rng):
    return np.inf * (1 + rng.random((fan_in, fan_out)))


def test_a_transaction_moves_the_generator_at_its_end_or_not_at_all():
    rng = SplitMix64(17)
    with transaction(rng) as trial:
        Linear("a", 2, 2, trial)
        assert rng == SplitMix64(17)
    assert rng == SplitMix64(17).advance(4)
    with pytest.raises(ZeroFanIn), transaction(rng) as trial:  # noqa: PT012
        Linear("a", 2, 2, trial)
        Linear("b", 0, 2, trial)
    assert rng == SplitMix64(17).advance(4)
    for make in (lambda: Linear("a", 2, 2, np.random.default_rng(1)), lambda: Linear("a", 2, 2, 3)):
        with pytest.raises(WrongType, match="generator"):
            make()


# --- norms -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", NEW_ERRORS, ids=lambda case: f"{case['gain_name']} {case['epsilon']}"
)
def test_golden_constructions_of_rms_norm(case):
    prefix = case["gain_name"].removesuffix(".gain")
    epsilon = float(case["epsilon"]["dec"])
    width = case["feature_width"]
    if case["ok"]:
        layer = RMSNorm(prefix, width, epsilon)
        assert layer.gain.value.tolist() == case["gain"]["dec"]
        assert layer.parameters.names == (case["gain_name"],)
        return
    expected = {
        "InvalidEpsilon": InvalidEpsilon,
        "EmptyFeatureWidth": EmptyFeatureWidth,
        "Initialization": (EmptyName, InvalidNameCharacter),
        "GainAllocationFailed": AllocationFailed,
    }
    with pytest.raises(expected[case["variant"]]):
        RMSNorm(prefix, width, epsilon)


def test_norms_start_as_the_bare_function_and_own_their_vectors():
    x = normal(3, 4, 5)
    layer_norm, rms_norm = LayerNorm("block.norm", 5), RMSNorm("block.norm", 5)
    assert layer_norm.parameters.names == ("block.norm.gamma", "block.norm.beta")
    assert rms_norm.parameters.names == ("block.norm.gain",)
    deviation = x - x.mean(axis=1, keepdims=True)
    variance = (deviation**2).mean(axis=1, keepdims=True)
    assert layer_norm(x).value == pytest.approx(deviation / np.sqrt(variance + 1e-5), rel=1e-13)
    mean_square = (x**2).mean(axis=1, keepdims=True)
    assert rms_norm(x).value == pytest.approx(x / np.sqrt(mean_square + 1e-5), rel=1e-13)
    rms_norm.gain.tensor.assign(np.full(5, 3.0))
    assert rms_norm(x).value == pytest.approx(3 * x / np.sqrt(mean_square + 1e-5), rel=1e-13)


def test_epsilon_reaches_the_function():
    for norm in (LayerNorm("n", 2, epsilon=3.0), BatchNorm("n", 2, epsilon=3.0)):
        y = norm(np.array([[1.0, -1.0], [-1.0, 1.0]]), training=True)
        assert y.value == pytest.approx(np.array([[0.5, -0.5], [-0.5, 0.5]]), rel=1e-15)
    assert RMSNorm("n", 2, epsilon=3.0)([1.0, -1.0]).value.tolist() == [0.5, -0.5]


def test_an_input_of_another_width_is_refused():
    for norm, subject in ((LayerNorm("n", 2), "gamma"), (RMSNorm("n", 2), "gain")):
        with pytest.raises(WidthMismatch) as refusal:
            norm(np.ones((3, 4)))
        assert (refusal.value.subject, refusal.value.width) == (subject, 4)


@pytest.mark.parametrize("make", [LayerNorm, RMSNorm, BatchNorm])
def test_norms_check_epsilon_then_width_then_name(make):
    with pytest.raises(InvalidEpsilon):
        make("", 0, epsilon=-1.0)
    with pytest.raises(EmptyFeatureWidth) as refusal:
        make("", 0)
    assert refusal.value.shape == (0,)
    with pytest.raises(EmptyName):
        make("", 2)
    with pytest.raises(OutOfRange):
        make("norm", -1)
    with pytest.raises(WrongType):
        make("norm", 2.0)


def test_batch_norm_asks_which_mode_and_remembers_only_in_training():
    norm = BatchNorm("norm", 2, momentum=0.5)
    x = np.array([[0.0, 2.0], [2.0, 6.0]])
    with pytest.raises(WrongType, match="training"):
        norm(x)
    norm(x, training=False)
    assert norm.statistics.count == 0
    norm(x, training=True)
    assert norm.statistics.mean.tolist() == [0.5, 2.0]
    assert norm.statistics.variance.tolist() == [1.5, 4.5]
    assert norm.running == {"norm": norm.statistics}
    with pytest.raises(BatchTooSmall):
        norm(x[:1], training=True)
    assert norm.statistics.count == 1
    with pytest.raises(OutOfRange, match="momentum"):
        BatchNorm("norm", 2, momentum=1.5)


# --- Sequence ----------------------------------------------------------------------------------


def test_a_sequence_calls_in_order_and_concatenates_parameters():
    rng = SplitMix64(17)
    first, norm = Linear("a", 2, 3, rng, bias=True), LayerNorm("n", 3)
    inner = Sequence(norm, tanh)
    network = Sequence(first, inner, last := Linear("z", 3, 1, rng))
    assert network.parameters.names == ("a.weight", "a.bias", "n.gamma", "n.beta", "z.weight")
    x = normal(4, 5, 2)
    assert (network(x).value == last(tanh(norm(first(x)))).value).all()
    assert network.running == {}
    assert repr(inner) == "Sequence(n.gamma [3], n.beta [3])"


def test_training_reaches_a_batch_norm_inside():
    network = Sequence(silu, Sequence(BatchNorm("inner", 2)), BatchNorm("outer", 2))
    with pytest.raises(WrongType, match="training"):
        network(np.ones((2, 2)))
    network(normal(5, 4, 2), training=True)
    network(normal(6, 4, 2), training=False)
    assert {name: one.count for name, one in network.running.items()} == {"inner": 1, "outer": 1}


def test_a_sequence_refuses_double_names_and_what_cannot_be_called():
    layer = Linear("a", 2, 2, SplitMix64(1))
    with pytest.raises(DuplicateName) as refusal:
        Sequence(LayerNorm("n", 2), layer, tanh, layer)
    assert (refusal.value.name, refusal.value.first, refusal.value.repeated) == ("a.weight", 2, 3)
    with pytest.raises(WrongType, match="layer 1"):
        Sequence(layer, "tanh")


def test_an_empty_sequence_returns_its_input():
    x = constant([1.0, 2.0])
    assert Sequence()(x) is x


def test_perceptron_has_an_activation_between_every_two_layers():
    network = perceptron("net", (3, 4, 2), rng := SplitMix64(9), tanh, bias=False)
    first, last = network.layers[0], network.layers[2]
    assert network.layers[1] is tanh
    assert len(network.layers) == 3
    assert network.parameters.names == ("net.0.weight", "net.1.weight")
    assert rng == SplitMix64(9).advance(3 * 4 + 4 * 2)
    x = normal(7, 5, 3)
    assert (network(x).value == last(tanh(first(x))).value).all()


# --- every layer against central differences ---------------------------------------------------


def assert_right_gradients(layer, x=None, **call):
    """Check the gradient of every parameter, and of `x` if it is an array of numbers."""

    def function(*tensors):
        given = list(tensors)
        first = given.pop(0) if x is not None else None
        for one, tensor in zip(layer.parameters, given, strict=True):
            one._tensor = tensor
        return layer(**call) if first is None else layer(first, **call)

    arrays = [one.value + 0.1 * normal(1, *one.shape) for one in layer.parameters]
    report = gradcheck(function, *([] if x is None else [x]), *arrays)
    assert report.checked == sum(array.size for array in arrays) + (0 if x is None else x.size)
    assert report.ok, str(report)


sizes = st.integers(1, 4)


@given(lead=st.lists(sizes, max_size=2), fan_in=sizes, fan_out=sizes, bias=st.booleans())
@settings(max_examples=15, deadline=None)
def test_gradcheck_of_linear(lead, fan_in, fan_out, bias):
    layer = Linear("layer", fan_in, fan_out, SplitMix64(fan_in), bias=bias)
    assert_right_gradients(layer, normal(2, *lead, fan_in))


@given(ids=st.lists(st.integers(0, 2), min_size=1, max_size=5), width=sizes)
@settings(max_examples=10, deadline=None)
def test_gradcheck_of_embedding(ids, width):
    assert_right_gradients(Embedding("table", 3, width, SplitMix64(width)), ids=ids)


@given(lead=st.lists(sizes, max_size=2), width=sizes)
@settings(max_examples=10, deadline=None)
def test_gradcheck_of_row_norm_layers(lead, width):
    x = normal(width, *lead, width)
    assert_right_gradients(LayerNorm("norm", width, epsilon=0.1), x)
    assert_right_gradients(RMSNorm("norm", width, epsilon=0.1), x)


@given(rows=st.integers(2, 4), width=sizes, training=st.booleans())
@settings(max_examples=10, deadline=None)
def test_gradcheck_of_batch_norm_layer(rows, width, training):
    layer = BatchNorm("norm", width, epsilon=0.1)
    assert_right_gradients(layer, normal(rows, rows, width), training=training)


def test_gradcheck_of_a_whole_network():
    rng = SplitMix64(17)
    network = Sequence(
        Linear("a", 3, 4, rng, bias=True),
        BatchNorm("a.norm", 4, epsilon=0.1),
        silu,
        LayerNorm("b", 4, epsilon=0.1),
        tanh,
        RMSNorm("c", 4),
        Linear("d", 4, 2, rng),
    )
    assert_right_gradients(network, normal(3, 5, 3), training=True)
