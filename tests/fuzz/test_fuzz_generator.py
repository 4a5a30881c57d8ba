"""The generator against a model that knows no blocks, chunks, threads or NumPy.

Chunks are made tiny here, so that every request of a few numbers crosses the borders that a request
of a hundred thousand crosses in earnest.
"""

import os
from fractions import Fraction

from effort import runs
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from coursekit import blocks
from coursekit.errors import CourseError
from coursekit.normal import inverse_normal
from coursekit.rng import SplitMix64

WORDS = st.integers(0, 2**64 - 1)
SIZES = st.one_of(
    st.integers(0, 90), st.lists(st.integers(0, 5), min_size=0, max_size=3).map(tuple)
)
NUMBERS = st.floats(-1e3, 1e3)
# Requests that are refused, whatever the position.
REFUSED = [
    lambda rng: rng.random(-1),
    lambda rng: rng.random_raw((3, 2.0)),
    lambda rng: rng.uniform(1.0, 0.0, 30),
    lambda rng: rng.symmetric(float("nan"), 30),
    lambda rng: rng.normal(0.0, 1.0, 80, share=2.0),
    lambda rng: rng.standard_normal(2**62),
    lambda rng: rng.advance(0.5),
    lambda rng: rng.raw_at([0.5]),
    lambda rng: rng.permutation(True),
]


def word_at(state, k):
    """The k-th word after a state, written as the paper writes it."""
    z = (state + k * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def unit_at(state, k):
    return float(Fraction(word_at(state, k) // 2**11, 2**53))


def normal_at(state, k, share=1.0):
    # 2**-52·share is the width of a cell; one product of two exact numbers and that width.
    return inverse_normal((word_at(state, k) // 2**12 - (2.0**51 - 0.5)) * (share / 2**52))


class Generator(RuleBasedStateMachine):
    """The model is one integer: how many draws were made since the seed."""

    @initialize(
        seed=WORDS,
        chunk=st.sampled_from([1, 2, 5, 6, 7, 13, 64]),
        threaded=st.sampled_from([1, 8, 1000]),
        threads=st.integers(1, 3),
    )
    def begin(self, seed, chunk, threaded, threads):
        self.seed, self.drawn = seed, 0
        self.rng = SplitMix64(seed)
        self.others = []  # generators that must not move with it, and where they stand
        blocks.CHUNK, blocks.THREADED = chunk, threaded
        blocks._steps.cache_clear()
        os.environ["COURSEKIT_THREADS"] = str(threads)

    def __init__(self):
        super().__init__()
        self.kept = (blocks.CHUNK, blocks.THREADED, os.environ.get("COURSEKIT_THREADS"))

    def teardown(self):
        blocks.CHUNK, blocks.THREADED, threads = self.kept
        blocks._steps.cache_clear()
        os.environ.pop("COURSEKIT_THREADS", None)
        if threads is not None:
            os.environ["COURSEKIT_THREADS"] = threads

    def is_drawn(self, values, size, formula):
        """`values` are the next draws put through the formula, row by row, to the bit."""
        shape = size if isinstance(size, tuple) else (size,)
        assert values.shape == shape
        first, self.drawn = self.drawn + 1, self.drawn + values.size
        expected = [formula(k) for k in range(first, first + values.size)]
        assert list(map(repr, values.ravel().tolist())) == list(map(repr, expected))

    @rule()
    def one_word(self):
        self.drawn += 1
        assert self.rng.next_u64() == word_at(self.seed, self.drawn)

    @rule()
    def one_number(self):
        self.drawn += 1
        assert self.rng.next_unit_f64() == unit_at(self.seed, self.drawn)

    @rule(size=SIZES)
    def words(self, size):
        self.is_drawn(self.rng.random_raw(size), size, lambda k: word_at(self.seed, k))

    @rule(size=SIZES, low=NUMBERS, width=st.floats(0.0, 1e3))
    def uniform(self, size, low, width):
        high = low + width
        self.is_drawn(
            self.rng.uniform(low, high, size),
            size,
            lambda k: low + (high - low) * unit_at(self.seed, k),
        )

    @rule(size=SIZES, limit=st.one_of(NUMBERS, st.floats(0.0, 1e-280)))
    def symmetric(self, size, limit):
        self.is_drawn(
            self.rng.symmetric(limit, size),
            size,
            lambda k: limit * (2.0 * unit_at(self.seed, k) - 1.0),
        )

    @rule(size=SIZES, mean=NUMBERS, deviation=st.floats(0.0, 1e3), share=st.floats(0.01, 1.0))
    def normal(self, size, mean, deviation, share):
        self.is_drawn(
            self.rng.normal(mean, deviation, size, share=share),
            size,
            lambda k: mean + deviation * normal_at(self.seed, k, share),
        )

    @rule(n=st.integers(0, 40))
    def permutation(self, n):
        words = [word_at(self.seed, self.drawn + k) for k in range(1, n + 1)]
        self.drawn += n
        assert self.rng.permutation(n).tolist() == sorted(range(n), key=words.__getitem__)

    @rule(rows=st.integers(1, 6), width=st.integers(1, 9), gap=st.integers(0, 5))
    def rows_with_gaps_are_read_where_they_lie(self, rows, width, gap):
        lie = blocks.Rows(width, width + gap)
        read = blocks.affine_block(self.rng.state, rows * width, 0.0, 1.0, lie)
        places = [r * (width + gap) + c for r in range(rows) for c in range(width)]
        assert read.tolist() == [unit_at(self.seed, self.drawn + 1 + k) for k in places]

    @rule(count=st.integers(-(2**70), 2**70))
    def advance(self, count):
        self.rng.advance(count)
        self.drawn += count

    @rule(offsets=st.lists(st.integers(-(2**66), 2**66), max_size=5))
    def look_ahead(self, offsets):
        read = self.rng.raw_at(offsets).tolist()
        assert read == [word_at(self.seed, self.drawn + 1 + k) for k in offsets]

    @rule()
    def clone(self):
        self.others.append((self.rng.clone(), self.drawn))

    @rule()
    def go_on_from_a_clone(self):
        if self.others:
            twin, drawn = self.others.pop()
            self.others.append((self.rng, self.drawn))
            self.rng, self.drawn = twin, drawn

    @rule()
    def stop_and_resume(self):
        self.rng = SplitMix64.from_state(self.rng.state)

    @rule(request=st.sampled_from(REFUSED))
    def refused(self, request):
        try:
            request(self.rng)
        except CourseError:
            return
        raise AssertionError("a request that cannot be met was not refused")

    @invariant()
    def stands_where_the_model_stands(self):
        if hasattr(self, "rng"):
            for rng, drawn in [(self.rng, self.drawn), *self.others]:
                assert rng.state == (self.seed + drawn * 0x9E3779B97F4A7C15) % 2**64


TestGenerator = Generator.TestCase
TestGenerator.settings = runs(100, steps=20)
