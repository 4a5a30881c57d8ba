"""The study of chapter 11: its data, its network, its runs, and the table that it made."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from coursekit.errors import DamagedFile, DuplicateName, UnknownChoice
from coursekit.study import (
    CHECKPOINTS,
    COLUMNS,
    STARTS,
    DeepNetwork,
    Setting,
    load_digits,
    load_results,
    row,
    settings,
    train,
)

DATA = Path(__file__).parent.parent / "notebooks" / "data"


@pytest.fixture(scope="module")
def digits():
    return load_digits(DATA / "digits.csv.gz")


def test_the_split_is_fixed_whole_and_centred(digits):
    assert digits.pixels.shape == (1437, 64)
    assert digits.test_pixels.shape == (360, 64)
    both = np.concatenate([digits.labels, digits.test_labels])
    assert np.bincount(both).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert digits.labels[:8].tolist() == [9, 5, 6, 7, 8, 3, 3, 3]
    np.testing.assert_allclose(digits.pixels.mean(axis=0), 0.0, atol=1e-12)
    spread = digits.pixels.std(axis=0)
    assert np.isclose(spread, 1.0).sum() + (spread == 0).sum() == 64


@pytest.mark.parametrize("content", ["1,2,3\n4,5,6\n", "a,b\n", "1,2\n3\n"])
def test_a_table_of_something_else_is_refused(tmp_path, content):
    path = tmp_path / "digits.csv.gz"
    path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(DamagedFile) as caught:
        load_digits(path)
    assert caught.value.path == str(path)


def test_parameters_are_declared_from_entry_to_exit_and_draw_their_count():
    network = DeepNetwork(Setting("xavier", normalization="layer"), depth=2, width=8)
    assert network.parameters.names[:4] == (
        "entry.weight",
        "entry.bias",
        "block.0.weight",
        "block.0.bias",
    )
    assert network.parameters.names[-2:] == ("exit.weight", "exit.bias")
    assert [one.shape for one in network.weights] == [(64, 8), (8, 8), (8, 8), (8, 10)]


@pytest.mark.parametrize("field", ["start", "activation", "normalization"])
def test_unknown_names_are_answered_with_the_list(field):
    with pytest.raises(UnknownChoice) as caught:
        DeepNetwork(Setting(**{"start": "xavier", field: "none such"}))
    assert caught.value.given == "none such"
    assert caught.value.subject == field


@pytest.mark.parametrize("start", STARTS)
def test_starts_are_multiples_of_named_rules(start):
    # Of a square matrix: He's limit is √(6/32), Xavier's √(6/64).
    ratio = {"zero": 0.0, "small": 0.25, "xavier": 1.0, "he": math.sqrt(2.0), "oversized": 2.0}
    drawn = DeepNetwork(Setting(start)).weights[3].value
    base = DeepNetwork(Setting("xavier")).weights[3].value
    np.testing.assert_allclose(drawn, ratio[start] * base, rtol=1e-14)


def test_residual_blocks_add_what_they_computed(digits):
    x = digits.pixels[:5]
    network = DeepNetwork(Setting("small", residual=True), depth=3, width=8)
    before = network.entry(x).value
    for value, after in network.hidden(x):
        np.testing.assert_array_equal(after.value, before + value.value)
        before = after.value
    plain = DeepNetwork(Setting("small"), depth=3, width=8)
    assert all(value.is_same_node(after) for value, after in plain.hidden(x))


def test_a_run_repeats_itself(digits):
    first, second = (train(Setting("xavier"), digits, steps=5, depth=2) for _ in range(2))
    assert first == second
    assert len(first.losses) == 5
    assert len(first.gradient_norms) == len(first.update_ratios) == 4


def test_zero_never_moves_and_every_unit_is_dead(digits):
    run = train(Setting("zero", "relu"), digits, steps=4, depth=2)
    assert run.losses[0] == pytest.approx(math.log(10))
    assert run.gradient_norms == [0.0] * 4
    assert run.update_ratios == [0.0] * 4
    assert (run.dead, run.saturated) == (1.0, 0.0)


def test_a_run_that_leaves_float64_is_a_result(digits):
    run = train(Setting("oversized", "relu", residual=True), digits, steps=60)
    assert run.failure.startswith("NonFinite")
    assert 0 < len(run.losses) < 60
    assert run.accuracy == 0.0
    assert math.isnan(run.dead)


def test_the_update_ratio_is_rate_times_gradient_over_weight(digits):
    run = train(Setting("he"), digits, steps=1, depth=2, rate=0.5)
    sizes = [np.linalg.norm(w.value) for w in DeepNetwork(Setting("he"), depth=2).weights]
    expected = [0.5 * g / s for g, s in zip(run.gradient_norms, sizes, strict=True)]
    np.testing.assert_allclose(run.update_ratios, expected, rtol=1e-12)


def test_the_table_has_every_setting_once():
    table = load_results(DATA / "starts.csv")
    assert list(table) == settings()
    assert len(table) == 5 * 3 * 3 * 2 * 3


@pytest.mark.parametrize(
    "setting",
    [
        Setting("xavier", "tanh"),
        Setting("small", "silu", "none", True, 18),
        Setting("he", "tanh", "layer", False, 19),
        Setting("zero", "relu", "batch", True, 17),
    ],
)
def test_rows_of_the_table_are_what_a_run_gives(digits, setting):
    recorded = load_results(DATA / "starts.csv")[setting]
    again = row(setting, train(setting, digits, steps=CHECKPOINTS[4] + 1))
    for step in CHECKPOINTS[:5]:  # the later ones would add seconds, not certainty
        name = f"loss_{step}"
        assert float(again[name]) == pytest.approx(float(recorded[name]), rel=2e-3)


def test_a_table_with_other_columns_is_refused(tmp_path):
    path = tmp_path / "starts.csv"
    path.write_text(",".join(COLUMNS[:-1]) + "\n")
    with pytest.raises(DamagedFile):
        load_results(path)


def test_names_stay_unique():
    network = DeepNetwork(Setting("xavier", normalization="batch"), depth=3)
    assert len(set(network.parameters.names)) == len(network.parameters)
    with pytest.raises(DuplicateName):
        type(network.parameters)([*network.parameters, network.parameters[0]])
