"""A block has the bits of the whole: for every rule, cut, place, seed and number of threads."""

import hashlib
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit import blocks, errors, initializers
from coursekit.parameters import NamedParameter
from coursekit.rng import SplitMix64
from coursekit.sharded.blockwise import FIXED, SAMPLED, Declared, Start, placed

BLOCKWISE = [rule for rule in SAMPLED if rule != "orthogonal"]
OPTIONS = {
    "xavier_uniform": [{}, {"gain": 5 / 3}],
    "xavier_normal": [{}, {"gain": 2.0}],
    "he_uniform": [{}, {"mode": "fan_out"}],
    "he_normal": [{}, {"mode": "fan_avg"}],
    "lecun_uniform": [{}],
    "lecun_normal": [{}],
    "truncated_normal": [{}, {"factor": 2.0, "mode": "fan_geo_avg", "corrected": False}],
}


def start(shape, rule="xavier_uniform", options=None, *, offset=0, seed=17) -> Start:
    return placed(Declared("weight", shape, rule, options or {}), offset, seed)


def whole(shape, rule, options, offset, seed):
    """The matrix as one machine draws it, through the constructor that models use."""
    rng = SplitMix64(seed).advance(offset)
    return getattr(NamedParameter, rule)("weight", *shape, rng, **options).value


@st.composite
def cuts(draw, length):
    if draw(st.booleans()):
        return draw(st.integers(-length, length - 1))
    ends = st.none() | st.integers(-length - 2, length + 2)
    step = draw(st.none() | st.sampled_from([1, 2, -1, -3]))
    return slice(draw(ends), draw(ends), step)


@st.composite
def requests(draw):
    rule = draw(st.sampled_from(BLOCKWISE))
    options = draw(st.sampled_from(OPTIONS[rule]))
    shape = (draw(st.integers(1, 30)), draw(st.integers(1, 30)))
    key = (draw(cuts(shape[0])), draw(cuts(shape[1])))
    offset, seed = draw(st.integers(0, 2**70)), draw(st.integers(0, 2**64 - 1))
    return shape, rule, options, offset, seed, key


@given(requests())
def test_a_block_is_what_numpy_cuts_out_of_the_whole(request_):
    *place, key = request_
    expected = whole(*place)[key]
    shape, rule, options, offset, seed = place
    block = start(shape, rule, options, offset=offset, seed=seed)[key]
    assert np.shape(block) == expected.shape
    assert np.asarray(block).tobytes() == expected.tobytes()


def test_blocks_in_any_order_give_the_published_matrix():
    matrix = start((64, 64))
    put_together = np.empty((64, 64))
    for row in reversed(range(0, 64, 24)):
        for column in (40, 0, 20, 60):
            key = slice(row, row + 24), slice(column, column + 20)
            put_together[key] = matrix[key]
    assert hashlib.sha256(put_together.astype("<f8").tobytes()).hexdigest() == (
        "8ef85578428c002eaa449b729fc92ee26fd51bc0ca4a74bce82bfbd61adb3783"
    )


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("rule", ["he_uniform", "truncated_normal"])
def test_large_blocks_do_not_depend_on_threads_or_the_length_of_their_rows(
    monkeypatch, threads, rule
):
    monkeypatch.setenv("COURSEKIT_THREADS", threads)
    tall, wide = (3000, 301), (4, blocks.CHUNK + 900)
    for shape, key in ((tall, np.s_[5:2900, 3:190]), (wide, np.s_[1:, 7 : blocks.CHUNK + 100])):
        assert math.prod(start(shape)[key].shape) > blocks.THREADED
        found = start(shape, rule)[key]
        assert found.tobytes() == whole(shape, rule, {}, 0, 17)[key].tobytes()


def test_a_limit_so_small_that_products_underflow_has_the_same_blocks():
    rows = blocks.Rows(width=2, stride=5)
    units = [SplitMix64(17).advance(place).next_unit_f64() for place in (0, 1, 5, 6, 10, 11)]
    found = blocks.symmetric_block(17, 6, 2.0**-1020, rows)
    assert found.tolist() == [2.0**-1020 * (2.0 * u - 1.0) for u in units]


def test_only_the_block_is_drawn(monkeypatch):
    drawn = []
    words = blocks._words

    def counting(state, first, out, *rest):
        drawn.append(out.size)
        words(state, first, out, *rest)

    monkeypatch.setattr(blocks, "_words", counting)
    start((10_000, 10_000), offset=10**15)[9_000:9_003, 70:170]
    assert sum(drawn) == 300


def test_a_matrix_that_fits_nowhere_has_blocks_all_the_same():
    shape = (2**31, 2**31)
    matrix = start(shape, offset=5)
    corner = matrix[-2:, -1:]
    limit = initializers.xavier_scale(*shape).uniform_limit
    for row, found in zip((2**31 - 2, 2**31 - 1), corner.ravel().tolist(), strict=True):
        rng = SplitMix64(17).advance(5 + row * 2**31 + 2**31 - 1)
        assert found == limit * (2.0 * rng.next_unit_f64() - 1.0)
    with pytest.raises(errors.AllocationFailed) as refused:
        matrix[:]
    assert refused.value.elements == 2**62


# --- orthogonal, and what is not drawn -----------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_an_orthogonal_matrix_is_made_whole_or_not_at_all(shape):
    matrix = start(shape, "orthogonal", {"gain": 2.0}, offset=7)
    assert matrix.draws == 15
    expected = whole(shape, "orthogonal", {"gain": 2.0}, 7, 17)
    assert matrix[:].tobytes() == matrix[:, ::1].tobytes() == expected.tobytes()
    assert matrix[::-1].tobytes() == expected[::-1].tobytes()  # encloses the whole
    with pytest.raises(errors.NotBlockwise) as refused:
        matrix[:2]
    assert refused.value.args == ("orthogonal", shape, (2, shape[1]))


@pytest.mark.parametrize(
    ("shape", "rule", "options", "expected"),
    [
        (4, "zeros", {}, np.zeros(4)),
        ((2, 3, 4), "ones", {}, np.ones((2, 3, 4))),
        ((2, 3), "constant", {"value": -0.5}, np.full((2, 3), -0.5)),
        ((), "constant", {"value": 3}, np.array(3.0)),
        ((5, 5), "identity", {}, np.eye(5)),
        ((5, 5), "identity", {"gain": 0.25}, 0.25 * np.eye(5)),
    ],
)
def test_fixed_values_take_no_draw_and_have_blocks(shape, rule, options, expected):
    fixed = start(shape, rule, options)
    assert (fixed.draws, fixed.ndim, fixed.size) == (0, expected.ndim, expected.size)
    assert fixed.dtype == expected.dtype
    for key in ((), slice(1, 3), slice(None, None, -2)) if expected.ndim else ((),):
        assert fixed[key].tolist() == expected[key].tolist()
    if expected.ndim == 2:
        assert fixed[1:, 0:1].tolist() == expected[1:, 0:1].tolist()


def test_every_initializer_of_the_package_has_a_place_here():
    public = {name for name in initializers.__all__ if hasattr(NamedParameter, name)}
    assert public == {*SAMPLED, *FIXED}
    assert set(OPTIONS) == set(BLOCKWISE)


# --- what a start is -----------------------------------------------------------------------------


def test_a_start_knows_its_place_and_travels():
    table = start((4, 2), offset=4)
    assert (table.offset, table.state, table.draws) == (4, 0x78DDE6E5FD29F065, 8)
    assert (len(table), table.shape, table.ndim, table.size) == (4, (4, 2), 2, 8)
    twin = pickle.loads(pickle.dumps(table))
    assert twin == table
    assert twin[1:, :1].tobytes() == table[1:, :1].tobytes()
    assert "weight" in repr(table)
    assert "_law" not in repr(table)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ((0, 0, 0), errors.OutOfRange),
        (4, IndexError),
        ((0, -3), IndexError),
        (1.0, errors.WrongType),
        (True, errors.WrongType),
        ("all", errors.WrongType),
        (None, errors.WrongType),
        ([0, 1], errors.WrongType),
    ],
)
def test_what_names_no_block_is_refused(key, error):
    with pytest.raises(error):
        start((4, 2))[key]


@pytest.mark.parametrize(
    ("line", "error", "fields"),
    [
        (("Decoder", (0, 0)), errors.InvalidNameCharacter, {"index": 0, "byte": 0x44}),
        (("weight", (0, 0)), errors.ZeroFanIn, {"fan_in": 0}),
        (("weight", (2, 0)), errors.ZeroFanOut, {"fan_out": 0}),
        (("weight", (2**63, 2**63)), errors.FanSumOverflow, {"fan_in": 2**63}),
        (("weight", (2**32, 2**32)), errors.ShapeProductOverflow, {"fan_in": 2**32}),
        (("weight", (2**32, 2**32), "he_normal"), errors.ShapeProductOverflow, {}),
        (("weight", (2, 3, 4)), errors.OutOfRange, {"given": (2, 3, 4)}),
        (("weight", (2, 2.0)), errors.WrongType, {"given": 2.0}),
        (("weight", (2, -2)), errors.OutOfRange, {"given": (2, -2)}),
        (("weight", (2, 2), "glorot"), errors.UnknownChoice, {"given": "glorot"}),
        (("weight", (2, 2), "variance_scaling"), errors.UnknownChoice, {"subject": "rule"}),
        (
            ("weight", (2, 2), "he_normal", {"gain": 2.0}),
            errors.UnknownChoice,
            {"subject": "option of he_normal", "given": "gain", "known": ("mode",)},
        ),
        (("weight", (2, 2), "zeros", {"rng": 1}), errors.UnknownChoice, {"known": ("none",)}),
        (("weight", (2, 2), "xavier_uniform", {"gain": 0.0}), errors.OutOfRange, {"given": 0.0}),
        (("weight", (2, 2), "orthogonal", {"gain": -1.0}), errors.OutOfRange, {"given": -1.0}),
        (("weight", (2, 2), "he_normal", {"mode": "fan"}), errors.UnknownChoice, {"given": "fan"}),
        (("weight", (2, 2), "he_normal", 2.0), errors.WrongType, {"subject": "options"}),
        (("weight", 2, "constant"), errors.OutOfRange, {"subject": "options of constant"}),
        (("weight", 2, "constant", {"value": math.nan}), errors.OutOfRange, {}),
        (("weight", (2, 3), "identity"), errors.OutOfRange, {"given": (2, 3)}),
    ],
)
def test_a_line_that_asks_for_nothing_possible_is_refused(line, error, fields):
    with pytest.raises(error) as refused:
        placed(Declared(*line), 0, 17)
    assert {name: getattr(refused.value, name) for name in fields} == fields
