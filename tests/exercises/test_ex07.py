"""Exercise 7, collect named parameters."""

import numpy as np
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.checks import examine
from coursekit.checks.ex07 import KEY
from coursekit.checks.misconceptions import (
    CLONE_IS_A_COPY,
    DECIMALS_ARE_BITS,
    FRESH_SEED_EACH_LAYER,
    OUTPUT_FIRST,
)
from coursekit.initializers import xavier_uniform
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.report import QUERY, TABLE
from coursekit.rng import SplitMix64

FANS = {QUERY: (2, 2), TABLE: (4, 2), KEY: (2, 2)}


def declared(drawn, listed=None, *, rule="xavier_uniform", fans=None, fresh=False):
    """Return a function of a seed that draws in one order and declares in another."""

    def declare(seed):
        rng = SplitMix64(seed)
        made = {}
        for name in drawn:
            stream = SplitMix64(seed) if fresh else rng
            made[name] = getattr(NamedParameter, rule)(name, *(fans or FANS)[name], stream)
        return NamedParameters([made[name] for name in listed or drawn])

    return declare


def by_position(seed):
    """Construct in the order of declaration, each parameter at its own place on the stream."""
    made = []
    for name, offset in ((QUERY, 0), (KEY, 12), (TABLE, 4)):
        rng = SplitMix64(seed)
        rng.advance(offset)
        made.append(NamedParameter.from_array(name, xavier_uniform(*FANS[name], rng)))
    return NamedParameters(made)


def key_that_overlaps(seed):
    query, table = declared([QUERY, TABLE])(seed)
    rng = SplitMix64(seed)
    rng.advance(4)
    return NamedParameters([query, NamedParameter.xavier_uniform(KEY, 2, 2, rng), table])


def key_of_another_seed(seed):
    query, table = declared([QUERY, TABLE])(seed)
    key = NamedParameter.xavier_uniform(KEY, 2, 2, SplitMix64((seed + 1) % 2**64))
    return NamedParameters([query, key, table])


def fresh_key(seed):
    query, table = declared([QUERY, TABLE])(seed)
    key = NamedParameter.xavier_uniform(KEY, 2, 2, SplitMix64(seed))
    return NamedParameters([query, key, table])


def swapped_names(seed):
    query, table = declared([QUERY, TABLE])(seed)
    return NamedParameters(
        [
            NamedParameter.from_array(TABLE, query.value),
            NamedParameter.from_array(QUERY, table.value),
        ]
    )


def told_by(same_bits, same_leaf=lambda one, other: one.tensor.is_same_node(other.tensor)):
    """Return a function that tells kinship by these two questions."""

    def tell(one, other):
        if same_leaf(one, other):
            return "same leaf"
        return "same bits" if same_bits(one, other) else "neither"

    return tell


def equal(one, other):
    return np.array_equal(one.value, other.value)


def trial_by_assignment(one, other):
    """Change one leaf and look at the other; put everything back."""
    before, shape = one.value.copy(), one.shape
    one.tensor.assign(before + 1.0)
    shared = other.shape == shape and bool((other.value == before + 1.0).all())
    one.tensor.assign(before)
    if shared:
        return "same leaf"
    return "same bits" if other.value.shape == shape and equal(one, other) else "neither"


RIGHT = [
    Right("ex07.a", "in a loop", declared((QUERY, TABLE))),
    Right("ex07.a", "from arrays", lambda seed: by_position(seed)[::2]),
    Right(
        "ex07.b", "by Python's is", told_by(equal, lambda one, other: one.tensor is other.tensor)
    ),
    Right(
        "ex07.b",
        "by memory and bytes",
        told_by(
            lambda a, b: (a.shape, a.value.tobytes()) == (b.shape, b.value.tobytes()),
            lambda a, b: np.shares_memory(a.value, b.value),
        ),
    ),
    Right("ex07.b", "by a change and its undoing", trial_by_assignment),
    Right("ex07.c", "an array", np.array([[5.0, 5.0, 0.0], [5.0, 5.0, 7.0], [0.0, 0.0, 7.0]])),
    Right("ex07.c", "tuples", ((5, 5, 0), (5, 5, 7), (0, 0, 7))),
    Right("ex07.d", "each at its place on the stream", by_position),
    Right("ex07.d", "drawn last", declared([QUERY, TABLE, KEY], [QUERY, KEY, TABLE])),
]

WRONG = [
    Wrong("ex07.a", "a fresh seed", declared([QUERY, TABLE], fresh=True), FRESH_SEED_EACH_LAYER),
    Wrong("ex07.a", "table drawn first", declared([TABLE, QUERY], [QUERY, TABLE]), "drawn first"),
    Wrong("ex07.a", "table declared first", declared([QUERY, TABLE], [TABLE, QUERY]), "is another"),
    Wrong(
        "ex07.a",
        "[fan_out, fan_in]",
        declared([QUERY, TABLE], fans=FANS | {TABLE: (2, 4)}),
        OUTPUT_FIRST,
    ),
    Wrong("ex07.a", "seed 17 always", lambda seed: declared([QUERY, TABLE])(17), "is the argument"),
    Wrong(
        "ex07.a", "normal weights", declared([QUERY, TABLE], rule="xavier_normal"), "Start one gen"
    ),
    Wrong("ex07.a", "a list", lambda seed: list(declared([QUERY, TABLE])(seed)), "to NamedParam"),
    Wrong("ex07.a", "no table", declared([QUERY]), f"There is no {TABLE}."),
    Wrong("ex07.a", "names exchanged", swapped_names, "it is another"),
    Wrong("ex07.a", "called at once", declared([QUERY, TABLE])(17), "the function itself"),
    Wrong("ex07.b", "by name", told_by(lambda a, b: a.name == b.name), "Names tell the role"),
    Wrong("ex07.b", "bits only", lambda a, b: "same bits", CLONE_IS_A_COPY),
    Wrong("ex07.b", "by the objects", told_by(equal, lambda a, b: a is b), CLONE_IS_A_COPY),
    Wrong("ex07.b", "by name and value", told_by(equal, equal), "in a leaf of its own"),
    Wrong(
        "ex07.b",
        "allclose",
        told_by(lambda a, b: a.shape == b.shape and np.allclose(a.value, b.value)),
        DECIMALS_ARE_BITS,
    ),
    Wrong(
        "ex07.b",
        "stretched",
        told_by(lambda a, b: bool((a.value == b.value).all())),
        "even if NumPy can stretch one",
    ),
    Wrong(
        "ex07.b",
        "bytes without shape",
        told_by(lambda a, b: a.value.tobytes() == b.value.tobytes()),
        "Arrays of two shapes are not equal",
    ),
    Wrong(
        "ex07.b",
        "by gradients",
        told_by(lambda a, b: equal(a, b) and np.array_equal(a.grad, b.grad)),
        "A rebuilt parameter has equal values",
    ),
    Wrong("ex07.b", "of one parameter", lambda one: "neither", "cannot be called with"),
    Wrong("ex07.b", "in other words", lambda a, b: "clone", "Choose one of these"),
    Wrong("ex07.c", "copy", [[2, 3, 0], [2, 3, 7], [2, 0, 7]], CLONE_IS_A_COPY),
    Wrong("ex07.c", "zeroed as a copy", [[5, 5, 0], [5, 5, 7], [5, 0, 7]], CLONE_IS_A_COPY),
    Wrong("ex07.c", "equal, so shared", [[5, 5, 5], [12, 12, 12], [0, 0, 0]], "its own leaf"),
    Wrong("ex07.c", "all zeroed", [[5, 5, 0], [5, 5, 7], [0, 0, 0]], "rebuilt is not in it"),
    Wrong("ex07.c", "the last one counts", [[3, 3, 0], [3, 3, 7], [0, 0, 7]], "replaces the other"),
    Wrong("ex07.c", "multiplied", [[6, 6, 0], [6, 6, 7], [0, 0, 7]], "their gradients are added"),
    Wrong("ex07.c", "columns for rows", [[5, 5, 0], [5, 5, 0], [0, 7, 7]], "A row for each step"),
    Wrong("ex07.c", "the last row only", [0, 0, 7], "Its shape is (3,)."),
    Wrong("ex07.d", "drawn between", declared([QUERY, KEY, TABLE]), "slid by four draws"),
    Wrong("ex07.d", "declared last", declared([QUERY, TABLE, KEY]), "it is another"),
    Wrong("ex07.d", "a fresh seed", fresh_key, FRESH_SEED_EACH_LAYER),
    Wrong("ex07.d", "draws of the table", key_that_overlaps, "draws that the table has too"),
    Wrong("ex07.d", "seed + 1", key_of_another_seed, "next four draws of the same generator"),
    Wrong("ex07.d", "without the key", declared([QUERY, TABLE]), f"There is no {KEY}."),
    Wrong(
        "ex07.d",
        "drawn first",
        declared([KEY, QUERY, TABLE], [QUERY, KEY, TABLE]),
        "slid by four draws",
    ),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


def test_calls_are_told_by_what_is_compared_not_by_how_it_is_stored():
    assert "got kinship(a, its clone) = " in examine("ex07.b", named(lambda a, b: "neither")).line
    assert (
        "kinship(a, its clone) returns nothing" in examine("ex07.b", named(lambda a, b: None)).line
    )
    assert "got kinship(a, its clone) raising" in examine("ex07.b", named(lambda a, b: a.no)).line


def named(function):
    function.__name__ = "kinship"
    return function
