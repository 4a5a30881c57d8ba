"""Layouts of other frameworks: the same numbers, and the same results where they are installed."""

import importlib.util
import math
import sys

import numpy as np
import pytest

from coursekit import autodiff, errors
from coursekit.exports import flax_tree, torch_arrays, torch_state_dict
from coursekit.layers import BatchNorm, Embedding, LayerNorm, Linear, RMSNorm, Sequence
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.rng import SplitMix64

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None,
    reason="PyTorch is not installed; the NumPy form of its layers decides",
)
needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None,
    reason="JAX is not installed; the NumPy form of its layers decides",
)
IDS = np.array([[0, 4, 2], [4, 4, 1]])
TABLE = "token_embedding.weight"


def network() -> Sequence:
    """Return a small network with one of everything, none of it at its starting value."""
    rng = SplitMix64(17)
    made = Sequence(
        Embedding("token_embedding", 5, 4, rng),
        LayerNorm("block.0.norm", 4),
        Linear("block.0.up", 4, 6, rng, bias=True),
        autodiff.tanh,
        RMSNorm("block.1.norm", 6),
        Linear("block.1.down", 6, 3, rng),
    )
    for one in made.parameters:
        one.tensor.assign(one.value + rng.uniform(-0.5, 0.5, one.shape))
    return made


def expected() -> np.ndarray:
    return network()(IDS).value


# --- PyTorch -------------------------------------------------------------------------------------


def test_names_shapes_and_types_are_those_of_pytorch():
    arrays = torch_arrays(network().parameters, lookups=[TABLE])
    assert {name: array.shape for name, array in arrays.items()} == {
        "token_embedding.weight": (5, 4),
        "block.0.norm.weight": (4,),
        "block.0.norm.bias": (4,),
        "block.0.up.weight": (6, 4),
        "block.0.up.bias": (6,),
        "block.1.norm.weight": (6,),
        "block.1.down.weight": (3, 6),
    }
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}
    assert all(array.flags.c_contiguous and array.flags.writeable for array in arrays.values())


def test_float64_keeps_every_bit_and_float32_rounds_to_the_nearest():
    parameters = network().parameters
    weight = parameters["block.0.up.weight"].value
    exact = torch_arrays(parameters, dtype="float64")["block.0.up.weight"]
    assert exact.tobytes() == np.ascontiguousarray(weight.T).tobytes()
    rounded = torch_arrays(parameters)["block.0.up.weight"]
    nearest = [[float(np.float32(value)) for value in row] for row in weight.T.tolist()]
    assert rounded.tolist() == nearest


def test_pytorchs_layers_written_in_numpy_give_the_same_numbers():
    p = torch_arrays(network().parameters, dtype="float64", lookups=[TABLE])
    h = p["token_embedding.weight"][IDS]
    centred = h - h.mean(-1, keepdims=True)
    h = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    h = h * p["block.0.norm.weight"] + p["block.0.norm.bias"]
    h = np.tanh(h @ p["block.0.up.weight"].T + p["block.0.up.bias"])
    h = h / np.sqrt((h**2).mean(-1, keepdims=True) + 1e-5) * p["block.1.norm.weight"]
    assert np.allclose(h @ p["block.1.down.weight"].T, expected(), rtol=0, atol=1e-13)


@needs_torch
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-5)])
def test_pytorch_computes_the_same_numbers(dtype, tolerance):
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.token_embedding = nn.Embedding(5, 4)
            up = {"norm": nn.LayerNorm(4, eps=1e-5), "up": nn.Linear(4, 6)}
            down = {"norm": nn.RMSNorm(6, eps=1e-5), "down": nn.Linear(6, 3, bias=False)}
            self.block = nn.ModuleList([nn.ModuleDict(up), nn.ModuleDict(down)])

        def forward(self, ids):
            first, second = self.block
            h = torch.tanh(first["up"](first["norm"](self.token_embedding(ids))))
            return second["down"](second["norm"](h))

    model = Block().to(getattr(torch, dtype))
    state = torch_state_dict(network().parameters, dtype=dtype, lookups=[TABLE])
    assert {tensor.dtype for tensor in state.values()} == {getattr(torch, dtype)}
    model.load_state_dict(state, strict=True)
    with torch.no_grad():
        found = model(torch.from_numpy(IDS)).numpy()
    assert np.allclose(found, expected(), rtol=0, atol=tolerance)


@needs_torch
def test_batch_norm_finds_its_parameters_too():
    import torch

    ours = BatchNorm("norm", 3)
    ours.gamma.tensor.assign(np.array([1.0, 2.0, -0.5]))
    ours.beta.tensor.assign(np.array([0.1, 0.0, 3.0]))
    x = SplitMix64(17).standard_normal((8, 3))
    theirs = torch.nn.Sequential()
    theirs.add_module("norm", torch.nn.BatchNorm1d(3, dtype=torch.float64))
    theirs.load_state_dict(torch_state_dict(ours.parameters, dtype="float64"), strict=False)
    found = theirs(torch.from_numpy(x)).detach().numpy()
    assert np.allclose(found, ours(x, training=True).value, rtol=0, atol=1e-12)


# --- JAX -----------------------------------------------------------------------------------------


def test_the_tree_splits_names_at_dots_and_keeps_the_layout():
    tree = flax_tree(network().parameters, dtype="float64", lookups=[TABLE])
    assert list(tree) == ["token_embedding", "block"]
    assert set(tree["block"]["0"]["norm"]) == {"scale", "bias"}
    assert set(tree["block"]["0"]["up"]) == {"kernel", "bias"}
    kernel = tree["block"]["1"]["down"]["kernel"]
    assert kernel.tobytes() == network().parameters["block.1.down.weight"].value.tobytes()
    assert tree["token_embedding"]["embedding"].shape == (5, 4)
    narrow = flax_tree(network().parameters)
    assert narrow["token_embedding"]["kernel"].dtype == np.float32


def flax_forward(tree, np_or_jnp):
    """Compute what Flax's Embed, LayerNorm, Dense and RMSNorm compute."""
    xp, block = np_or_jnp, tree["block"]
    h = tree["token_embedding"]["embedding"][IDS]
    centred = h - h.mean(-1, keepdims=True)
    h = centred / xp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    h = h * block["0"]["norm"]["scale"] + block["0"]["norm"]["bias"]
    h = xp.tanh(h @ block["0"]["up"]["kernel"] + block["0"]["up"]["bias"])
    h = h / xp.sqrt((h**2).mean(-1, keepdims=True) + 1e-5) * block["1"]["norm"]["scale"]
    return h @ block["1"]["down"]["kernel"]


def test_flaxs_layers_written_in_numpy_give_the_same_numbers():
    tree = flax_tree(network().parameters, dtype="float64", lookups=[TABLE])
    assert np.allclose(flax_forward(tree, np), expected(), rtol=0, atol=1e-13)


@needs_jax
def test_jax_takes_the_tree_and_computes_the_same_numbers():
    import jax

    tree = jax.tree.map(jax.numpy.asarray, flax_tree(network().parameters, lookups=[TABLE]))
    found = jax.jit(lambda one: flax_forward(one, jax.numpy))(tree)
    assert found.dtype == np.float32
    assert np.allclose(found, expected(), rtol=0, atol=1e-5)


@pytest.mark.skipif(
    importlib.util.find_spec("flax") is None,
    reason="Flax is not installed; the NumPy form of its layers decides",
)
def test_flax_finds_every_leaf_by_its_name():
    from flax import linen

    class Head(linen.Module):
        @linen.compact
        def __call__(self, ids):
            h = linen.Embed(5, 4, name="token_embedding")(ids)
            return linen.Dense(3, name="output")(linen.LayerNorm(epsilon=1e-5, name="norm")(h))

    rng = SplitMix64(17)
    ours = Sequence(
        Embedding("token_embedding", 5, 4, rng),
        LayerNorm("norm", 4),
        Linear("output", 4, 3, rng, bias=True),
    )
    tree = flax_tree(ours.parameters, lookups=[TABLE])
    found = Head().apply({"params": tree}, IDS)
    assert np.allclose(found, ours(IDS).value, rtol=0, atol=1e-5)


# --- what both have in common --------------------------------------------------------------------


@pytest.mark.parametrize("export", [torch_arrays, flax_tree])
def test_an_export_shares_no_memory_with_the_model(export):
    parameters = network().parameters
    before = parameters["block.0.norm.gamma"].value.copy()
    exported = export(parameters, dtype="float64")
    leaf = exported.get("block.0.norm.weight")
    leaf = exported["block"]["0"]["norm"]["scale"] if leaf is None else leaf
    leaf += 1.0
    assert (parameters["block.0.norm.gamma"].value == before).all()


def named(**arrays):
    return NamedParameters(
        NamedParameter.from_array(name.replace("__", "."), value) for name, value in arrays.items()
    )


@pytest.mark.parametrize("export", [torch_arrays, flax_tree])
@pytest.mark.parametrize(
    ("parameters", "options", "error", "fields"),
    [
        ({"a": np.ones(1)}, {}, errors.WrongType, {"subject": "parameters"}),
        (named(a=[1.0]), {"dtype": "bfloat16"}, errors.UnknownChoice, {"given": "bfloat16"}),
        (named(a=[1.0]), {"lookups": ["b"]}, errors.OutOfRange, {"given": "b"}),
        (named(a=[1.0]), {"lookups": "a"}, errors.WrongType, {"subject": "lookups"}),
        (named(a=np.ones((1, 1, 1))), {}, errors.OutOfRange, {"given": (1, 1, 1)}),
        (
            named(a=[1.0, -1e300]),
            {},
            errors.NonFiniteValue,
            {"subject": "a as float32", "index": 1, "value": -math.inf},
        ),
    ],
)
def test_what_has_no_place_in_the_other_framework_is_refused(
    export, parameters, options, error, fields
):
    with pytest.raises(error) as refused:
        export(parameters, **options)
    assert {name: getattr(refused.value, name) for name in fields} == fields


def test_two_parameters_that_would_get_one_name_are_refused():
    twins = named(norm__gain=[1.0], other=[0.0], norm__weight=[2.0])
    with pytest.raises(errors.DuplicateName) as refused:
        torch_arrays(twins)
    assert refused.value.args == ("norm.weight", 0, 2)
    twins = named(norm__gain=[1.0], norm__gamma=[2.0])
    with pytest.raises(errors.OutOfRange) as same_leaf:
        flax_tree(twins)
    assert same_leaf.value.given == "norm.gamma"


@pytest.mark.parametrize("order", [("a", "a__b"), ("a__b", "a")])
def test_a_place_of_the_tree_holds_an_array_or_a_branch(order):
    parameters = named(**{name: [1.0] for name in order})
    with pytest.raises(errors.OutOfRange) as refused:
        flax_tree(parameters)
    assert refused.value.given == order[1].replace("__", ".")


def test_without_pytorch_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(errors.PackageMissing) as missing:
        torch_state_dict(network().parameters)
    assert missing.value.args == ("torch", "run pip install torch")
    assert "\n" not in str(missing.value)
