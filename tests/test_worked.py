"""The source texts' worked cases: recorded figures, arithmetic redone, and no side effects."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from coursekit.errors import (
    InvalidEpsilon,
    NonFiniteLeaf,
    ShapeMismatch,
    WrongType,
    ZeroFanIn,
    ZeroFanOut,
)
from coursekit.worked import (
    gaussian_he_matrix,
    normalized_token_rows,
    reseeding_demonstration,
    reseeding_he_matrix,
    symmetry_probe,
    zero_symmetry_probe,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "zero_symmetry.json").read_text())


def array_of(entry):
    return np.array(entry["dec"], dtype=float).reshape(entry.get("shape", []))


def bits_of(entry):
    patterns = entry["hex"] if isinstance(entry["hex"], list) else [entry["hex"]]
    return [int(pattern, 16) for pattern in patterns]


def test_zero_symmetry_bit_for_bit():
    probe, expected = zero_symmetry_probe(), GOLDEN["zero_probe"]
    assert np.array([probe.output]).view(np.uint64).tolist() == bits_of(expected["output"])
    assert probe.gradient.ravel().view(np.uint64).tolist() == bits_of(expected["gradient"])
    assert probe.gradient.shape == (2, 2)
    assert probe.columns_equal is True


@pytest.mark.parametrize(
    ("name", "columns_equal"), [("equal_columns_probe", True), ("seed17_probe", False)]
)
def test_recorded_probes(name, columns_equal):
    expected = GOLDEN[name]
    probe = symmetry_probe(
        array_of(expected["weights"]), array_of(GOLDEN["output_weights"]), array_of(GOLDEN["input"])
    )
    assert probe.output == pytest.approx(array_of(expected["output"]).item(), rel=1e-14)
    assert probe.gradient == pytest.approx(array_of(expected["gradient"]), rel=1e-14)
    assert probe.columns_equal is columns_equal


def test_unequal_treatment_downstream_breaks_the_symmetry():
    probe = symmetry_probe(np.zeros((2, 2)), [[1.0], [2.0]], [[1.0, -1.0]])
    assert probe.gradient.tolist() == [[0.5, 1.0], [-0.5, -1.0]]
    assert probe.columns_equal is False


def test_equal_columns_of_a_wide_layer():
    column = np.array([[0.3], [-0.2], [0.9]])
    probe = symmetry_probe(np.repeat(column, 5, axis=1), np.ones((5, 1)), [[1.0, 2.0, 3.0]])
    assert probe.columns_equal
    assert np.ptp(probe.gradient[:, 0]) > 0.1


@pytest.mark.parametrize(
    ("weights", "output_weights", "x"),
    [
        (np.zeros((2, 2)), np.ones((2, 1)), np.ones((1, 3))),
        (np.zeros((2, 2)), np.ones((3, 1)), np.ones((1, 2))),
        (np.zeros((2, 2)), np.ones((2, 2)), np.ones((1, 2))),
        (np.zeros((2, 2)), np.ones((2, 1)), np.ones((2, 2))),
        (np.zeros(2), np.ones((2, 1)), np.ones((1, 2))),
    ],
)
def test_a_probe_refuses_shapes_that_do_not_fit(weights, output_weights, x):
    with pytest.raises(ShapeMismatch) as refusal:
        symmetry_probe(weights, output_weights, x)
    assert refusal.value.operation == "symmetry_probe"
    assert refusal.value.given == (x.shape, weights.shape, output_weights.shape)


def test_a_probe_refuses_nan():
    with pytest.raises(NonFiniteLeaf):
        symmetry_probe([[math.nan]], [[1.0]], [[1.0]])


def test_token_rows_as_the_definition_gives_them():
    expected = []
    for row in ([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]):
        mean = sum(row) / 4
        variance = sum((value - mean) ** 2 for value in row) / 4
        expected.append([(value - mean) / math.sqrt(variance + 1e-5) for value in row])
    assert normalized_token_rows() == pytest.approx(np.array(expected), rel=1e-15)
    with pytest.raises(InvalidEpsilon):
        normalized_token_rows(-1.0)


def box_muller(seed, count):
    """Normals as Python documents them, from its uniform numbers."""
    uniform, normals = random.Random(seed), []
    while len(normals) < count:
        angle = uniform.random() * 2.0 * math.pi
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform.random()))
        normals += [math.cos(angle) * radius, math.sin(angle) * radius]
    return np.array(normals[:count])


def test_he_matrix_is_stored_output_by_input():
    expected = box_muller(42, 8).reshape(2, 4) * math.sqrt(2 / 4)
    assert reseeding_he_matrix(fan_in=4, fan_out=2) == pytest.approx(expected, rel=1e-12)


def test_an_odd_count_leaves_no_half_pair_behind():
    assert (reseeding_he_matrix(3, 1)[0] == reseeding_he_matrix(3, 3)[0]).all()


def test_reseeding_repeats_and_a_stream_goes_on():
    shown = reseeding_demonstration(3, 3)
    assert (shown.reseeded[0] == shown.reseeded[1]).all()
    assert shown.reseeded_equal
    assert (shown.reseeded[0] == shown.continued[0]).all()
    assert not (shown.continued[0] == shown.continued[1]).any()
    assert not shown.continued_equal


def test_the_global_generator_is_left_alone():
    random.seed(7)
    before = random.getstate()
    reseeding_demonstration()
    gaussian_he_matrix(2, 2, random.Random(1))
    assert random.getstate() == before


def test_refusals():
    with pytest.raises(ZeroFanIn):
        reseeding_he_matrix(0, 2)
    with pytest.raises(ZeroFanOut):
        reseeding_he_matrix(2, 0)
    with pytest.raises(WrongType):
        reseeding_he_matrix(2, 2, seed=1.5)
    stream = random.Random(3)
    before = stream.getstate()
    with pytest.raises(ZeroFanIn):
        gaussian_he_matrix(0, 2, stream)
    assert stream.getstate() == before
