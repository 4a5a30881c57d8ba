"""Offsets are sums of draws: a plan has the bits of a sequence, and needs none of it."""

import math
import tracemalloc

import numpy as np
import pytest
from golden import array_of, load
from hypothesis import given
from hypothesis import strategies as st

from coursekit import blocks, errors
from coursekit.initializers import xavier_scale, xavier_uniform
from coursekit.parameters import NamedParameter
from coursekit.rng import SplitMix64
from coursekit.sharded.plan import Declared, Plan, decoder, tiles

LARGE = decoder(layers=32, width=4096, hidden=11008, vocabulary=32000)
MIXED = [
    ("embedding.weight", (7, 4), "lecun_normal"),
    ("norm.gain", 4, "ones"),
    ("query.weight", (4, 4)),
    ("query.bias", 4, "zeros"),
    ("recurrent.weight", (5, 3), "orthogonal", {"gain": 2.0}),
    ("skip.weight", (3, 3), "identity", {"gain": 0.5}),
    ("hidden.weight", (3, 6), "he_uniform", {"mode": "fan_out"}),
    ("scale", (), "constant", {"value": 0.1}),
    ("output.weight", (6, 2), "truncated_normal", {"factor": 2.0}),
]
lines = st.tuples(
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.sampled_from(["xavier_uniform", "he_normal", "truncated_normal", "orthogonal", "zeros"]),
)


def in_sequence(description, rng):
    """Declare the same parameters one after another, as a model on one machine does."""
    for name, shape, *more in description:
        rule, options = more[0] if more else "xavier_uniform", more[1] if len(more) > 1 else {}
        construct = getattr(NamedParameter, rule)
        if rule in ("zeros", "ones", "constant"):
            yield construct(name, shape, **options)
        elif rule == "identity":
            yield construct(name, shape[0], **options)
        else:
            yield construct(name, *shape, rng, **options)


def check_against_sequence(description, seed):
    rng = SplitMix64(seed)
    plan = Plan(description, seed)
    declared = list(in_sequence(description, rng))
    assert list(plan) == [one.name for one in declared]
    for one in reversed(declared):
        assert plan[one.name].shape == one.shape
        assert plan[one.name].rule == one.rule
        assert plan[one.name][()].tobytes() == one.value.tobytes()
    assert plan.state == rng.state
    assert plan.draws == sum(start.draws for start in plan.values())
    assert plan.element_count == sum(one.value.size for one in declared)


def test_a_plan_has_the_bits_of_a_sequence_for_every_kind_of_rule():
    check_against_sequence(MIXED, 17)


@given(st.lists(lines, max_size=8), st.integers(0, 2**64 - 1))
def test_a_plan_has_the_bits_of_any_sequence(drawn, seed):
    check_against_sequence([(f"p.{i}", *line) for i, line in enumerate(drawn)], seed)


def test_the_worked_example_lies_where_it_was_published():
    plan = Plan([("query", (2, 2)), Declared("table", (4, 2))], seed=17)
    assert [start.offset for start in plan.values()] == [0, 4]
    assert (plan["table"].state, plan.state) == (0x78DDE6E5FD29F065, 0x6A99B4B1F77DD10D)
    published = array_of(load("xavier_uniform")[0]["values"])
    assert plan["query"][:].tobytes() == published.tobytes()


def test_parameter_7000_starts_without_the_first_6999(monkeypatch):
    description = [(f"layer.{i}.weight", (3 + i % 5, 4)) for i in range(1, 7002)]
    rng = SplitMix64(17)
    *_, expected, _last = (xavier_uniform(*shape, rng) for _, shape in description)
    drawn = []
    words = blocks._words
    monkeypatch.setattr(blocks, "_words", lambda *a: (drawn.append(a[2].size), words(*a)))
    plan = Plan(description, 17)
    assert not drawn
    found = plan["layer.7000.weight"][:]
    assert found.tobytes() == expected.tobytes()
    assert sum(drawn) == expected.size
    assert plan.state == rng.state


# --- a model that is never whole -----------------------------------------------------------------


def test_seven_billion_weights_are_planned_in_little_memory():
    tracemalloc.start()
    try:
        plan = Plan(LARGE, 17)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert plan.element_count == 6_738_415_616
    assert plan.draws == plan.element_count - (2 * 32 + 1) * 4096
    assert peak < 2**20
    last = plan["output.weight"]
    assert last.offset + last.draws == plan.draws


def test_a_random_sample_of_its_blocks_is_what_single_draws_give():
    plan = Plan(LARGE, 17)
    sampled = [start for start in plan.values() if start.draws]
    pick = SplitMix64(1000)
    for _ in range(60):
        start = sampled[pick.next_u64() % len(sampled)]
        row, column = (pick.next_u64() % length for length in start.shape)
        rows, columns = (
            range(first, min(first + side, length))
            for first, side, length in zip((row, column), (3, 5), start.shape, strict=True)
        )
        block = start[rows.start : rows.stop, columns.start : columns.stop]
        offset = sum(s.size for s in sampled[: sampled.index(start)])
        limit = xavier_scale(*start.shape).uniform_limit
        for r in rows:
            rng = SplitMix64(17).advance(offset + r * start.shape[1] + column)
            expected = [limit * (2.0 * rng.next_unit_f64() - 1.0) for _ in columns]
            assert block[r - row].tolist() == expected


def test_a_decoder_is_described_in_the_order_in_which_it_computes():
    names = [line.name for line in decoder(layers=2, width=8, hidden=16, vocabulary=10)]
    assert len(names) == len(set(names)) == 1 + 2 * 9 + 2
    assert (names[0], names[-1]) == ("token_embedding.weight", "output.weight")
    assert names[2:6] == [
        f"decoder.block.0.attention.{role}.weight" for role in ("query", "key", "value", "output")
    ]
    shapes = {line.name: line.shape for line in LARGE}
    assert shapes["decoder.block.31.feedforward.down.weight"] == (11008, 4096)
    assert shapes["decoder.block.31.feedforward.norm.gain"] == 4096


@pytest.mark.parametrize("counts", [(0, 1, 1, 1), (1, -1, 1, 1), (1, 1, 1, 0)])
def test_a_decoder_of_nothing_is_refused(counts):
    with pytest.raises(errors.OutOfRange):
        decoder(*counts)
    with pytest.raises(errors.WrongType):
        decoder(1, 1.0, 1, 1)


# --- as a collection, and its refusals -----------------------------------------------------------


def test_a_plan_is_a_mapping_in_declaration_order():
    plan = Plan(MIXED, 2**64 - 1)
    assert list(plan) == [line[0] for line in MIXED]
    assert len(plan) == 9
    assert "scale" in plan
    assert plan.get("bias") is None
    assert plan.seed == 2**64 - 1
    assert repr(plan) == f"Plan(9 parameters, {plan.draws} draws, seed={2**64 - 1})"
    with pytest.raises(KeyError):
        plan["bias"]
    assert (Plan([], 17).draws, Plan([], 17).state) == (0, 17)


@pytest.mark.parametrize(
    ("description", "seed", "error", "fields"),
    [
        ([], -1, errors.SeedError, {"subject": "seed"}),
        ([], 2**64, errors.SeedError, {"given": 2**64}),
        ([], True, errors.WrongType, {}),
        ([("a", (1, 1)), "b"], 1, errors.WrongType, {"subject": "line 1"}),
        ([("a",)], 1, errors.WrongType, {"subject": "line 0"}),
        ([("a", (1, 1), "zeros", {}, 1)], 1, errors.WrongType, {}),
        (
            [("a", 1, "ones"), ("b", (1, 1)), ("b", (0, 0)), ("a", 1, "ones")],
            1,
            errors.ZeroFanIn,
            {},
        ),
        (
            [("a", 1, "ones"), ("b", (1, 1)), ("b", 1, "ones"), ("a", 1, "ones")],
            1,
            errors.DuplicateName,
            {"name": "b", "first": 1, "repeated": 2},
        ),
        (
            [("a", (2**31, 2**32)), ("b", (2**31, 2**32))],
            1,
            errors.OutOfRange,
            {"subject": "draws of a plan", "given": 2**64},
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(description, seed, error, fields):
    with pytest.raises(error) as refused:
        Plan(description, seed)
    assert {name: getattr(refused.value, name) for name in fields} == fields


def test_a_plan_may_use_all_but_one_draw_of_the_stream():
    plan = Plan([("a", (2**31, 2**32)), ("b", (2**32 - 1, 2**31)), ("c", (2**31 - 1, 1))], 17)
    assert plan.draws == 2**64 - 1
    assert SplitMix64.from_state(plan.state).advance(1).state == 17


# --- tiles ---------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 11)), min_size=1, max_size=3),
)
def test_tiles_cover_every_element_once(axes):
    shape, chunk = zip(*axes, strict=True)
    covered = np.zeros(shape, dtype=int)
    for key in tiles(shape, chunk):
        assert all(0 < side <= most for side, most in zip(covered[key].shape, chunk, strict=True))
        covered[key] += 1
    assert (covered == 1).all()
    assert len(tiles(shape, chunk)) == math.prod(-(-n // c) for n, c in axes)


@pytest.mark.parametrize("chunk", [(2,), (2, 0), (2, -1), (1, 1, 1)])
def test_a_chunk_that_cuts_nothing_is_refused(chunk):
    with pytest.raises(errors.OutOfRange):
        tiles((4, 4), chunk)
