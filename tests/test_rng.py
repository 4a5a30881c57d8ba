"""The generator: words, position, blocks, bad seeds, and an outside witness."""

import copy
import math
import pickle
import shutil
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from golden import array_of, load
from hypothesis import given
from hypothesis import strategies as st

from coursekit import blocks
from coursekit.errors import AllocationFailed, OutOfRange, SeedError, WrongType
from coursekit.rng import FEW, FEW_NORMALS, SplitMix64, mix

WORDS = st.integers(0, 2**64 - 1)
INVERSE_INCREMENT = 0xF1DE83E19937733D
# Around every change of method: single draws, one block, several chunks, two threads.
SIZES = [0, 1, FEW, FEW + 1, FEW_NORMALS, FEW_NORMALS + 1, 1000, blocks.CHUNK + 1]
SIZES += [blocks.THREADED + blocks.CHUNK + 3]


def bits(values: np.ndarray) -> list[int]:
    return np.ascontiguousarray(values).view(np.uint64).ravel().tolist()


@pytest.mark.parametrize("figures", load("splitmix64"), ids=lambda figures: str(figures["seed"]))
def test_recorded_words_units_and_states(figures):
    rng = SplitMix64(figures["seed"])
    for word, state in zip(figures["next_u64"], figures["state_after_each_hex"], strict=True):
        assert rng.next_u64() == word
        assert rng.state == int(state, 16)
    rng = SplitMix64.from_seed(figures["seed"])
    units = array_of(figures["next_unit_f64"])
    assert [rng.next_unit_f64() for _ in units] == units.tolist()
    assert SplitMix64(figures["seed"]).random(len(units)).tolist() == units.tolist()


JAVA = """
class Witness {
    public static void main(String[] seeds) {
        for (String seed : seeds) {
            var words = new java.util.SplittableRandom(Long.parseUnsignedLong(seed));
            var units = new java.util.SplittableRandom(Long.parseUnsignedLong(seed));
            for (int i = 0; i < 50; i++)
                System.out.println(Long.toUnsignedString(words.nextLong()) + " "
                    + Double.toHexString(units.nextDouble()));
        }
    }
}
"""


def test_java_draws_the_same_words_and_doubles(tmp_path):
    """Java's SplittableRandom where there is a Java; the recorded words above decide anywhere."""
    seeds = [0, 1, 17, 2**63, 2**64 - 1] + [mix(k) for k in range(200)]
    java = shutil.which("java")
    if java is None:
        first = [SplitMix64(figures["seed"]).next_u64() for figures in load("splitmix64")]
        assert first == [figures["next_u64"][0] for figures in load("splitmix64")]
        return
    source = tmp_path / "Witness.java"
    source.write_text(JAVA)
    printed = subprocess.run(
        [java, str(source), *map(str, seeds)], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    ours = []
    for seed in seeds:
        words, units = SplitMix64(seed), SplitMix64(seed)
        ours += [(words.next_u64(), units.next_unit_f64()) for _ in range(50)]
    theirs = [line.split() for line in printed if line]
    assert [(int(word), float.fromhex(unit)) for word, unit in theirs] == ours


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_blocks_equal_single_draws_bit_for_bit(size, threads, monkeypatch):
    monkeypatch.setenv("COURSEKIT_THREADS", threads)
    sample = range(size) if size < 5000 else [*range(300), *range(0, size, 997), size - 1]
    words = [SplitMix64(99).advance(k).next_u64() for k in sample]
    block = SplitMix64(99)
    raw = block.random_raw(size)
    assert raw.dtype == np.uint64
    assert [int(raw[k]) for k in sample] == words
    assert block == SplitMix64(99).advance(size)

    units = [(word >> 11) * 2.0**-53 for word in words]
    scalars = [SplitMix64(99).advance(k).standard_normal() for k in sample[:400]]
    for drawn, expected in (
        (SplitMix64(99).random(size), units),
        (SplitMix64(99).uniform(-0.3, 1.7, size), [-0.3 + (1.7 - -0.3) * u for u in units]),
        (SplitMix64(99).symmetric(0.7, size), [0.7 * (2.0 * u - 1.0) for u in units]),
        (SplitMix64(99).standard_normal(size), scalars),
        (SplitMix64(99).normal(3.0, 0.1, size), [3.0 + 0.1 * z for z in scalars]),
    ):
        assert [float(drawn[k]) for k in sample][: len(expected)] == expected


@pytest.mark.parametrize("size", [None, 0, 1, FEW, FEW + 1, FEW_NORMALS, FEW_NORMALS + 1])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, size: rng.random_raw(size),
        lambda rng, size: rng.random(size),
        lambda rng, size: rng.uniform(2.0, 3.0, size),
        lambda rng, size: rng.standard_normal(size),
        lambda rng, size: rng.normal(2.0, 3.0, size, share=0.5),
    ],
)
def test_every_kind_of_draw_takes_one_word_an_element(draw, size):
    rng = SplitMix64(99)
    draw(rng, size)
    assert rng == SplitMix64(99).advance(1 if size is None else size)


def test_one_number_is_the_first_of_many():
    units = SplitMix64(5).random(2)
    assert SplitMix64(5).random() == SplitMix64(5).uniform() == units[0]
    assert SplitMix64(5).uniform(size=2).tolist() == units.tolist()
    assert SplitMix64(5).uniform(2.0, 5.0) == 2.0 + 3.0 * units[0]
    normal = SplitMix64(5).standard_normal()
    assert SplitMix64(5).normal() == SplitMix64(5).normal(size=1)[0] == normal
    assert SplitMix64(5).normal(2.0, 3.0) == 2.0 + 3.0 * normal
    assert SplitMix64(5).random_raw() == SplitMix64(5).random_raw(1)[0]


@pytest.mark.parametrize("size", [None, 3, 100])
def test_no_width_at_all_leaves_one_value(size):
    rng = SplitMix64(5)
    assert np.all(rng.uniform(2.0, 2.0, size) == 2.0)
    assert np.all(rng.normal(2.0, 0.0, size) == 2.0)
    assert np.all(rng.symmetric(0.0, 3) == 0.0)


@pytest.mark.parametrize("size", [10, 1000])
def test_a_share_cuts_at_its_quantiles_and_keeps_the_order(size):
    whole, cut = (SplitMix64(5).normal(size=size, share=share) for share in (1.0, 0.5))
    assert np.abs(cut).max() < 0.6744897501960818 < np.abs(whole).max()  # the upper quartile
    assert np.argsort(cut).tolist() == np.argsort(whole).tolist()
    assert SplitMix64(5).normal(share=0.5) == cut[0]
    with pytest.raises(TypeError):
        SplitMix64(5).normal(0.0, 1.0, size, 0.5)  # what it means must be said


@pytest.mark.parametrize("size", [1, FEW, FEW + 1])
def test_few_symmetric_draws_have_the_bits_of_the_formula(size):
    units = SplitMix64(3).random(size)
    expected = [0.3 * (2.0 * u - 1.0) for u in units.tolist()]
    assert SplitMix64(3).symmetric(0.3, size).tolist() == expected


@pytest.mark.parametrize("draw", ["random", "standard_normal", "random_raw"])
def test_shapes_fill_row_by_row(draw):
    flat, shaped = SplitMix64(3), SplitMix64(3)
    values = getattr(shaped, draw)((3, 4, 5))
    assert values.shape == (3, 4, 5)
    assert values.flags.c_contiguous
    np.testing.assert_array_equal(values.ravel(), getattr(flat, draw)(60))
    assert flat == shaped


@pytest.mark.parametrize("limit", [1e-300, 5e-324, 1e-273, -0.5, 0.0, 1e308])
def test_one_product_is_the_formula_for_extreme_limits(limit):
    units = SplitMix64(4).random(500)
    expected = [limit * (2.0 * float(u) - 1.0) for u in units]
    assert bits(SplitMix64(4).symmetric(limit, 500)) == bits(np.array(expected))


def test_algebra_is_not_a_promise_about_bits():
    u = SplitMix64(17).random(10_000)
    ours, other = SplitMix64(17).symmetric(0.3, 10_000), -0.3 + 0.6 * u
    differing = int(np.count_nonzero(ours != other))
    assert 4000 < differing < 6000
    np.testing.assert_allclose(ours, other, rtol=0, atol=1e-16)


@given(WORDS, st.integers(-(2**70), 2**70), st.integers(0, 50))
def test_advance_moves_as_draws_do_and_back(state, far, near):
    rng = SplitMix64.from_state(state)
    assert rng.clone().advance(far).advance(-far) == rng
    walked = rng.clone()
    for _ in range(near):
        walked.next_u64()
    assert walked == rng.clone().advance(near)
    steps = (rng.clone().advance(far).state - state) * INVERSE_INCREMENT
    assert (steps - far) % 2**64 == 0


def test_advance_facts():
    rng = SplitMix64(17).advance(10**9)
    assert (rng.state, rng.next_u64()) == (13833118346071675409, 11922084437427769674)
    moved = SplitMix64(17)
    moved.next_u64()
    assert moved.advance(2**64 - 1) == SplitMix64(17)


@given(WORDS, st.lists(st.integers(-(2**65), 2**65), max_size=20))
def test_raw_at_reads_any_position_and_moves_none(state, offsets):
    rng = SplitMix64.from_state(state)
    read = rng.raw_at(offsets)
    assert read.tolist() == [rng.clone().advance(k).next_u64() for k in offsets]
    assert rng.state == state


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_raw_at_keeps_the_shape(dtype):
    rng = SplitMix64(5)
    offsets = np.array([[3, 0], [1, 2]], dtype=dtype)
    assert rng.raw_at(offsets).ravel().tolist() == [
        int(rng.clone().random_raw(4)[k]) for k in (3, 0, 1, 2)
    ]
    assert rng.raw_at(offsets).shape == (2, 2)
    assert rng.raw_at([]).shape == (0,)
    assert int(rng.raw_at(-1)) == rng.clone().advance(-1).next_u64()


def test_the_mixer_runs_backwards():
    def unshift(word, shift):
        result = word
        for _ in range(64 // shift):
            result = word ^ (result >> shift)
        return result

    def unmix(word):
        word = unshift(word, 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
        word = unshift(word, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
        return unshift(word, 30)

    for first, seed in {
        0: 7046029254386353131,
        2**64 - 1: 3558559446808474027,
        2047: 10169276841892499002,
        2**63: 3453682501520545093,
    }.items():
        assert SplitMix64(seed).next_u64() == first
        assert (unmix(first) - 0x9E3779B97F4A7C15) % 2**64 == seed


@given(WORDS)
def test_copies_are_equal_and_independent(state):
    rng = SplitMix64.from_state(state)
    twins = [rng.clone(), copy.copy(rng), copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))]
    twins.append(eval(repr(rng)))
    assert all(twin == rng and twin is not rng for twin in twins)
    rng.next_u64()
    assert all(twin.state == state and twin != rng for twin in twins)
    assert rng != state


def test_equal_generators_are_not_keys():
    with pytest.raises(TypeError, match="unhashable"):
        hash(SplitMix64(1))


@given(st.integers(0, 300), WORDS)
def test_permutation_is_one_and_takes_n_draws(n, state):
    rng = SplitMix64.from_state(state)
    order = rng.permutation(n)
    assert sorted(order.tolist()) == list(range(n))
    assert rng == SplitMix64.from_state(state).advance(n)


def test_permutations_of_three_are_equally_likely():
    rng, counts = SplitMix64(17), {}
    for _ in range(6000):
        order = tuple(rng.permutation(3).tolist())
        counts[order] = counts.get(order, 0) + 1
    # Each count is binomial: mean 1000, standard deviation 28.9; five of them either way.
    assert len(counts) == 6
    assert all(abs(count - 1000) < 5 * 28.9 for count in counts.values())


@pytest.mark.parametrize("make", [SplitMix64, SplitMix64.from_seed, SplitMix64.from_state])
@pytest.mark.parametrize("value", [True, np.True_, 1.0, np.float64(1), "1", None, [1], 1 + 0j])
def test_seeds_of_a_wrong_type_are_refused(make, value):
    with pytest.raises(TypeError) as caught:
        make(value)
    assert isinstance(caught.value, WrongType)
    assert (caught.value.expected, caught.value.given) == ("an integer", value)
    assert type(value).__name__ in str(caught.value)


@pytest.mark.parametrize("make", [SplitMix64, SplitMix64.from_seed, SplitMix64.from_state])
@pytest.mark.parametrize("value", [-1, 2**64, -(2**64), 10**30, np.int64(-1)])
def test_seeds_out_of_range_are_refused_not_masked(make, value):
    with pytest.raises(SeedError) as caught:
        make(value)
    assert caught.value.given == value
    assert str(int(value)) in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("value", [0, 2**64 - 1, np.uint64(2**64 - 1), np.int8(3)])
def test_every_64_bit_integer_is_a_seed(value):
    assert SplitMix64(value).state == int(value)
    assert type(SplitMix64(value).state) is int


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (lambda rng: rng.random(-1), OutOfRange),
        (lambda rng: rng.random((2, -1)), OutOfRange),
        (lambda rng: rng.random(2.0), WrongType),
        (lambda rng: rng.random(True), WrongType),
        (lambda rng: rng.random("3"), WrongType),
        (lambda rng: rng.random(b"3"), WrongType),
        (lambda rng: rng.random((1,) * 65), OutOfRange),
        (lambda rng: rng.standard_normal((1,) * 65), OutOfRange),
        (lambda rng: rng.random_raw((2**70, 0)), OutOfRange),
        (lambda rng: rng.random_raw(2**62), AllocationFailed),
        (lambda rng: rng.standard_normal(2**70), AllocationFailed),
        (lambda rng: rng.random((10**6, 10**6)), AllocationFailed),
        (lambda rng: rng.uniform(0.0, math.inf, 3), OutOfRange),
        (lambda rng: rng.uniform(math.nan, 1.0), OutOfRange),
        (lambda rng: rng.uniform(-1e308, 1e308, 3), OutOfRange),
        (lambda rng: rng.uniform(1.0, 0.0, 3), OutOfRange),
        (lambda rng: rng.uniform("0", 1.0, 3), WrongType),
        (lambda rng: rng.symmetric(10**400, 3), OutOfRange),
        (lambda rng: rng.symmetric(True, 3), WrongType),
        (lambda rng: rng.normal(0.0, -1.0, 3), OutOfRange),
        (lambda rng: rng.normal(0.0, 1e308, 3), OutOfRange),
        (lambda rng: rng.normal(-1.7e308, 1e307), OutOfRange),
        (lambda rng: rng.normal(0.0, 1.0, 3, share=0.0), OutOfRange),
        (lambda rng: rng.normal(0.0, 1.0, 3, share=1.1), OutOfRange),
        (lambda rng: rng.permutation(2.5), WrongType),
        (lambda rng: rng.permutation(-1), OutOfRange),
        (lambda rng: rng.advance(1.0), WrongType),
        (lambda rng: rng.advance(True), WrongType),
        (lambda rng: rng.raw_at([0.5]), WrongType),
        (lambda rng: rng.raw_at([True]), WrongType),
        (lambda rng: rng.raw_at(["a"]), WrongType),
        (lambda rng: rng.raw_at([2**70, 0.5]), WrongType),
    ],
)
def test_a_refused_request_leaves_the_state(request_, error):
    rng = SplitMix64(17)
    with pytest.raises(error):
        request_(rng)
    assert rng.state == 17


def test_a_failure_inside_a_block_reaches_the_caller(monkeypatch):
    rng = SplitMix64(17)

    def broken(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(blocks, "_words", broken)
    monkeypatch.setenv("COURSEKIT_THREADS", "2")
    with pytest.raises(MemoryError, match="no room"):
        rng.random(blocks.THREADED * 2)
    assert rng.state == 17


def test_a_failure_of_a_helper_alone_reaches_the_caller(monkeypatch):
    rng, whole = SplitMix64(17), blocks._words

    def broken_in_the_second_chunk(state, start, *rest):
        if start == blocks.CHUNK:  # the first chunk of the helper
            raise MemoryError("no room for the helper")
        whole(state, start, *rest)

    monkeypatch.setattr(blocks, "_words", broken_in_the_second_chunk)
    monkeypatch.setenv("COURSEKIT_THREADS", "2")
    with pytest.raises(MemoryError, match="no room for the helper"):
        rng.random(blocks.THREADED * 2)
    assert rng.state == 17


@pytest.mark.parametrize("draw", ["random", "standard_normal"])
def test_a_block_needs_little_more_memory_than_its_result(draw):
    getattr(SplitMix64(1), draw)(blocks.CHUNK)  # the table of steps is made once
    tracemalloc.start()
    try:
        result = getattr(SplitMix64(1), draw)(2**21)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - result.nbytes < 8 * 2**20


def test_one_thread_or_two_is_asked_of_the_environment(monkeypatch):
    for given_, expected in (("1", 1), ("2", 2), ("7", 7)):
        monkeypatch.setenv("COURSEKIT_THREADS", given_)
        assert blocks._threads() == expected
    for unusable in ("", "0", "-1", "many"):
        monkeypatch.setenv("COURSEKIT_THREADS", unusable)
        assert 1 <= blocks._threads() <= blocks.MOST_THREADS


def test_uniform_numbers_have_the_moments_of_the_uniform_distribution():
    n = 200_000
    u = SplitMix64(2024).random(n)
    assert 0.0 <= u.min() < u.max() < 1.0
    # Standard errors: sqrt(1/12n) for the mean, sqrt(1/180n) for the mean square about ½.
    assert abs(u.mean() - 0.5) < 4 * math.sqrt(1 / (12 * n))
    assert abs(np.mean((u - 0.5) ** 2) - 1 / 12) < 4 * math.sqrt(1 / (180 * n))
    assert abs(np.mean(u[1:] * u[:-1]) - 0.25) < 4 * 0.22 / math.sqrt(n)


def test_importing_the_generator_loads_numpy_and_nothing_heavier():
    code = "import sys, coursekit.rng; print(sorted({'psutil', 'matplotlib'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("size", [None, 3, 100])
def test_a_normal_that_could_leave_float64_is_refused_and_no_other(size):
    rng = SplitMix64(17)
    assert np.isfinite(rng.normal(0.0, 2.0e307, size)).all()  # 8.2095 times that is 1.64e308
    state = rng.state
    with pytest.raises(OutOfRange):
        rng.normal(0.0, 2.3e307, size)  # and 8.2095 times that is 1.89e308
    assert rng.state == state
