"""What an insertion does to a later parameter, as explorer and picture of chapter 6 tell it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coursekit.explorers.replay import BIAS, MATRIX, PLACES, REFUSED, compute
from coursekit.figures.replay import stream_owners
from coursekit.figures.twin import numbers

seeds = st.integers(0, 2**64 - 1)


@given(seeds, st.integers(1, 12), st.sampled_from(PLACES[:2]))
def test_a_matrix_of_n_weights_makes_the_table_slide_by_n(seed: int, n: int, place: str) -> None:
    found = compute(seed, MATRIX, place, n)
    assert found.slide == n
    kept = max(0, 8 - n)
    assert found.now[:kept].tobytes() == found.before[8 - kept :].tobytes()


@given(seeds, st.integers(1, 12), st.sampled_from([BIAS, REFUSED]), st.sampled_from(PLACES))
def test_zeros_and_refused_requests_move_nothing(seed: int, n: int, kind: str, place: str) -> None:
    found = compute(seed, kind, place, n)
    assert found.slide == 0
    assert found.now.tobytes() == found.before.tobytes()


def test_what_is_declared_last_moves_nothing() -> None:
    found = compute(17, MATRIX, PLACES[2], 9)
    assert (found.slide, found.owners[-1]) == (0, ("new", 9))
    assert np.array_equal(found.now, found.before)


def test_the_picture_gives_each_owner_its_draws_and_leaves_out_who_takes_none() -> None:
    told = numbers(stream_owners({"one": [("query", 4), ("bias", 0), ("table", 8)]}))
    assert 'bars "query" (sky): 4; standing on 0.5' in told
    assert 'bars "table" (orange): 8; standing on 4.5' in told
    assert "bias" not in told
