"""Pictures of chapter 13: every draw has one owner, and the picture tells the same as the count."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coursekit import figures
from coursekit.explorers.sharded import SHAPE, compute
from coursekit.figures.sharded import MOST_LETTERS, dealt, last_block, ownership, runs

sides = st.tuples(st.integers(1, 9), st.integers(1, 9))


@given(sides, sides, st.integers(1, 4))
def test_runs_are_the_stream_cut_where_the_owner_changes(shape, chunk, workers):
    owners = dealt(shape, chunk, workers)
    found = runs(owners)
    told = [owner for owner, _, length in found for _ in range(length)]
    assert told == owners.ravel().tolist()
    assert [first for _, first, _ in found] == np.cumsum([0] + [n for *_, n in found])[:-1].tolist()
    assert all(a[0] != b[0] for a, b in itertools.pairwise(found))


def test_blocks_are_dealt_in_turn_and_whole_rows_make_one_run():
    assert dealt((4, 4), (2, 2), 3).tolist() == [[0, 0, 1, 1]] * 2 + [[2, 2, 0, 0]] * 2
    assert runs(dealt(SHAPE, (4, 12), 2)) == [(0, 0, 48), (1, 48, 48)]


def test_the_picture_tells_the_runs_that_it_draws():
    told = figures.numbers(ownership((6, 8), (3, 4), workers=3))
    line = 'bars "worker B, length of its runs" (orange): 4, 4, 4; standing on 3.5, 11.5, 19.5'
    assert line in told
    assert told.count("text: A") == 2 + 6
    many = figures.numbers(ownership(SHAPE, (1, 1), workers=2))
    assert SHAPE[0] * SHAPE[1] > MOST_LETTERS
    assert many.count("text: ") == 2  # one letter a worker, no more


def test_the_cost_is_drawn_as_it_was_counted():
    told = figures.numbers(last_block([100, 1000, 10_000], [90, 900, 9000], [64] * 3, [1, 2, 3]))
    assert '"in sequence, counted" (orange): (100, 90), (1000, 900), (10000, 9000)' in told
    assert '"by position, counted" (green): (100, 64), (1000, 64), (10000, 64)' in told
    assert 'open dots "draws of the model, by formula" (black): (100, 1)' in told


def test_the_explorer_compares_what_it_drew(monkeypatch):
    from coursekit.explorers import sharded

    assert compute(workers=4, rows=3, columns=5).same_bits
    other = sharded.Plan([("weight", SHAPE)], seed=18)["weight"]
    monkeypatch.setattr(sharded, "START", other)
    assert not compute(workers=4, rows=3, columns=5).same_bits
