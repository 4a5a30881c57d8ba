"""One step of descent, and runs that are stopped and resumed to the same bits."""

import numpy as np
import pytest

from coursekit import storage
from coursekit.autodiff import cross_entropy, silu
from coursekit.errors import DamagedFile, NonFiniteValue, OutOfRange, ShapeMismatch, WrongType
from coursekit.layers import BatchNorm, Linear, RMSNorm, Sequence, transaction
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.rng import SplitMix64
from coursekit.training import load_run, save_run, sgd_step

# --- one step ----------------------------------------------------------------------------------


def with_gradient(values, gradient):
    one = NamedParameter.from_array("w", values)
    (one.tensor * np.array(gradient)).sum().backward()
    return NamedParameters([one])


def test_momentum_adds_up_as_the_two_equations_say():
    parameters = with_gradient([1.0, -2.0], [4.0, 8.0])
    velocity = sgd_step(parameters, 0.5, 0.75)
    assert velocity["w"].tolist() == [4.0, 8.0]
    assert parameters["w"].value.tolist() == [-1.0, -6.0]
    velocity = sgd_step(parameters, 0.5, 0.75, velocity)
    assert velocity["w"].tolist() == [7.0, 14.0]
    assert parameters["w"].value.tolist() == [-4.5, -13.0]


def test_without_momentum_the_velocity_is_the_gradient():
    parameters = with_gradient([1.0], [4.0])
    velocity = sgd_step(parameters, 0.25)
    assert sgd_step(parameters, 0.0, 0.0, velocity)["w"].tolist() == [4.0]
    assert parameters["w"].value.tolist() == [0.0]


def test_the_step_owns_its_velocity():
    parameters = with_gradient([1.0], [4.0])
    velocity = sgd_step(parameters, 0.5, 0.5)
    second = sgd_step(parameters, 0.5, 0.5, velocity)
    velocity["w"][0] = 100.0
    assert second["w"].tolist() == [6.0]
    assert parameters["w"].grad.tolist() == [4.0]


def test_a_step_beyond_float64_moves_no_parameter():
    a, b = NamedParameter.from_array("a", [1.0]), NamedParameter.from_array("b", [1.0, 1.0])
    (a.tensor.sum() + (b.tensor * np.array([0.0, -1e308])).sum()).backward()
    with pytest.raises(NonFiniteValue) as failure:
        sgd_step(NamedParameters([a, b]), 2.0)
    assert (failure.value.subject, failure.value.index) == ("b after the step", 1)
    assert a.value.tolist() == [1.0]


def test_settings_of_a_step_are_checked():
    parameters = with_gradient([1.0], [4.0])
    for rate, momentum in ((-0.1, 0.0), (0.1, -0.1), (0.1, 1.0), (np.nan, 0.0), (0.1, np.nan)):
        with pytest.raises(OutOfRange):
            sgd_step(parameters, rate, momentum)
    with pytest.raises(WrongType):
        sgd_step(parameters, True)
    with pytest.raises(ShapeMismatch) as refusal:
        sgd_step(parameters, 0.1, 0.5, {"v": np.zeros(1)})
    assert refusal.value.given == ({"w": (1,)}, {"v": (1,)})
    with pytest.raises(ShapeMismatch):
        sgd_step(parameters, 0.1, 0.5, {"w": np.zeros(2)})
    assert parameters["w"].value.tolist() == [1.0]


# --- a run -------------------------------------------------------------------------------------


def build(seed):
    rng = SplitMix64(seed)
    with transaction(rng) as trial:
        model = Sequence(
            Linear("net.0", 3, 8, trial, bias=True),
            BatchNorm("net.0.norm", 8),
            silu,
            Linear("net.1", 8, 8, trial),
            RMSNorm("net.1.norm", 8),
            Linear("net.2", 8, 2, trial, bias=True),
        )
    return model, rng


X = np.random.default_rng(1).standard_normal((40, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def train(model, rng, velocity, steps):
    for _ in range(steps):
        batch = rng.permutation(len(X))[:16]
        model.parameters.zero_grad()
        cross_entropy(model(X[batch], training=True), Y[batch]).backward()
        velocity = sgd_step(model.parameters, 0.1, 0.9, velocity)
    return velocity


def bits(model, rng, velocity):
    """Everything that decides how a run goes on."""
    return {
        "state": rng.state,
        "values": {one.name: one.value.tobytes() for one in model.parameters},
        "velocity": velocity and {name: array.tobytes() for name, array in velocity.items()},
        "running": {
            name: (one.mean.tobytes(), one.variance.tobytes(), one.count)
            for name, one in model.running.items()
        },
    }


@pytest.fixture
def saved(tmp_path):
    """A run of five steps in a file, and what it was made of."""
    model, rng = build(17)
    velocity = train(model, rng, None, 5)
    path = tmp_path / "run.safetensors"
    save_run(path, model, rng, velocity, step=5)
    return path, model, rng, velocity


def test_a_resumed_run_gives_the_bits_of_an_uninterrupted_one(saved):
    path, model, rng, velocity = saved
    velocity = train(model, rng, velocity, 7)
    resumed, other = build(99)
    again, step = load_run(path, resumed, other)
    assert step == 5
    again = train(resumed, other, again, 7)
    assert bits(resumed, other, again) == bits(model, rng, velocity)
    assert model.running["net.0.norm"].count == 12


def test_each_part_of_a_run_matters(saved):
    path, model, rng, velocity = saved
    train(model, rng, velocity, 2)
    expected = bits(model, rng, None)["values"]

    def values_after(forget_velocity=False, forget_state=False):
        resumed, other = build(99)
        again, _ = load_run(path, resumed, other)
        train(
            resumed,
            SplitMix64(99) if forget_state else other,
            None if forget_velocity else again,
            2,
        )
        return bits(resumed, other, None)["values"]

    assert values_after() == expected
    assert values_after(forget_velocity=True) != expected
    assert values_after(forget_state=True) != expected


def test_loading_clears_gradients_and_keeps_leaves(saved):
    path, model, rng, _ = saved
    leaf = model.parameters["net.0.weight"].tensor
    load_run(path, model, rng)
    assert model.parameters["net.0.weight"].tensor.is_same_node(leaf)
    assert not leaf.grad.any()


def test_a_run_without_velocity(tmp_path):
    model, rng = build(17)
    save_run(tmp_path / "start", model, rng)
    twin, other = build(18)
    assert load_run(tmp_path / "start", twin, other) == (None, 0)
    assert bits(twin, other, None) == bits(model, rng, None)


def test_equal_runs_are_equal_files(saved, tmp_path):
    path, model, rng, velocity = saved
    save_run(tmp_path / "again", model, rng, velocity, step=5)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("place", [0, 8, 300, -1])
def test_a_damaged_file_changes_nothing(saved, place):
    path, *_ = saved
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    model, rng = build(3)
    before = bits(model, rng, None)
    with pytest.raises(DamagedFile):
        load_run(path, model, rng)
    assert bits(model, rng, None) == before


def rewritten(path, change):
    """The saved file with its content changed and a digest that fits."""
    arrays, notes = storage.load_arrays(path)
    change(arrays, notes)
    storage.save_arrays(path, arrays, notes)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, notes: notes.update(kind="something else"),
        lambda arrays, notes: notes.update(state="-1"),
        lambda arrays, notes: notes.update(state="one"),
        lambda arrays, notes: notes.pop("step"),
        lambda arrays, notes: notes.update(step="-1"),
        lambda arrays, notes: notes.update(counts="[" * 100_000),
        lambda arrays, notes: notes.update(counts="[]"),
        lambda arrays, notes: notes.update(counts='{"net.0.norm": 1.5}'),
        lambda arrays, notes: arrays.pop("variance/net.0.norm"),
        lambda arrays, notes: arrays.update({"variance/net.0.norm": -np.ones(8)}),
        lambda arrays, notes: arrays.update({"parameter/net.0.bias": np.full(8, np.nan)}),
        lambda arrays, notes: arrays.update({"velocity/net.0.bias": np.full(8, np.inf)}),
    ],
)
def test_a_whole_file_that_is_no_run_changes_nothing(saved, change):
    path, *_ = saved
    rewritten(path, change)
    model, rng = build(3)
    before = bits(model, rng, None)
    with pytest.raises(DamagedFile, match="no training run"):
        load_run(path, model, rng)
    assert bits(model, rng, None) == before


def test_a_run_of_another_model_changes_nothing(saved):
    path, *_ = saved
    for model in (
        Sequence(Linear("net.0", 3, 8, SplitMix64(1), bias=True)),
        Sequence(*build(1)[0].layers[:-1], Linear("net.2", 8, 3, SplitMix64(1), bias=True)),
    ):
        rng = SplitMix64(5)
        before = bits(model, rng, None)
        with pytest.raises(ShapeMismatch) as refusal:
            load_run(path, model, rng)
        assert refusal.value.operation == "saved parameters"
        assert bits(model, rng, None) == before


def test_a_velocity_of_another_model_changes_nothing(saved):
    path, *_ = saved
    rewritten(path, lambda arrays, notes: arrays.update({"velocity/other": np.zeros(1)}))
    model, rng = build(3)
    before = bits(model, rng, None)
    with pytest.raises(ShapeMismatch) as refusal:
        load_run(path, model, rng)
    assert refusal.value.operation == "saved velocity"
    assert bits(model, rng, None) == before


def test_refused_saves_leave_the_old_file(saved):
    path, model, rng, velocity = saved
    content = path.read_bytes()
    with pytest.raises(ShapeMismatch):
        save_run(path, model, rng, {"w": np.zeros(1)})
    with pytest.raises(OutOfRange):
        save_run(path, model, rng, velocity, step=-1)
    with pytest.raises(WrongType):
        save_run(path, model, 17, velocity)
    with pytest.raises(WrongType):
        save_run(path, model.parameters, rng, velocity)
    assert path.read_bytes() == content


def test_a_missing_file_is_missing(tmp_path):
    model, rng = build(1)
    with pytest.raises(FileNotFoundError):
        load_run(tmp_path / "nothing", model, rng)
