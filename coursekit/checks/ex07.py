"""Exercise 7, collect named parameters: order, clone, reconstruction, shared gradient."""

from collections.abc import Sequence

import numpy as np

from coursekit.checks.answers import Answer, Function
from coursekit.checks.misconceptions import (
    CLONE_IS_A_COPY,
    DECIMALS_ARE_BITS,
    FRESH_SEED_EACH_LAYER,
    OUTPUT_FIRST,
)
from coursekit.checks.mistakes import Mistake
from coursekit.checks.parts import part
from coursekit.checks.tolerances import EXACT
from coursekit.checks.wording import call_as
from coursekit.initializers import xavier_uniform
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.report import QUERY, TABLE
from coursekit.rng import SplitMix64

KEY = "decoder.block.0.attention.key.weight"
SHAPES = {QUERY: (2, 2), KEY: (2, 2), TABLE: (4, 2)}
SEEDS = (17, 18, 0, 2**64 - 1)


def drawn(shape: tuple[int, int], seed: int, offset: int = 0) -> bytes:
    """Return the bits of a Xavier matrix that takes its draws after `offset` others."""
    rng = SplitMix64(seed)
    rng.advance(offset)
    return xavier_uniform(*shape, rng).tobytes()


# --- a and d: what a collection holds, and from which draws --------------------------------------


@part("ex07.a", "a collection of query and table, in declaration order")
def collection(answer: Answer) -> str:
    declare = answer.function("seed")
    for seed in SEEDS:
        given = declare(seed)
        held = _held(given, [QUERY, TABLE])
        if held[QUERY] != drawn((2, 2), seed) or held[TABLE] != drawn((4, 2), seed, 4):
            given.reject(
                f"query from draws 1 to 4 of seed {seed}, table from 5 to 12", _why(held, seed)
            )
    return "One stream, two parameters, and an order that is part of the start."


@part("ex07.d", "a key declared in between that moves no old weight")
def key_in_between(answer: Answer) -> str:
    declare = answer.function("seed")
    for seed in SEEDS:
        given = declare(seed)
        held = _held(given, [QUERY, KEY, TABLE])
        expected = f"query and table of seed {seed} as in part a, key from draws 13 to 16"
        if held[TABLE] == drawn((4, 2), seed, 8):
            given.reject(expected, "The table has slid by four draws: in which order do you draw?")
        if held[QUERY] != drawn((2, 2), seed) or held[TABLE] != drawn((4, 2), seed, 4):
            given.reject(expected, _why(held, seed))
        if held[KEY] == held[QUERY]:
            given.reject(expected, FRESH_SEED_EACH_LAYER)
        if held[KEY] == drawn((2, 2), seed, 4):
            given.reject(expected, "The key has draws that the table has too: both share numbers.")
        if held[KEY] != drawn((2, 2), seed, 12):
            given.reject(expected, "The key takes the next four draws of the same generator.")
    return "Twelve weights stay: the order of drawing is one thing, that of declaring another."


def _held(given: Answer, names: Sequence[str]) -> dict[str, bytes]:
    """Return the bits of each parameter, having made sure of type, order, names and shapes."""
    expected = f"NamedParameters of {' and '.join(names)}, in this order"
    found = given.value
    if isinstance(found, (list, tuple, dict)):
        given.reject(expected, "Hand the list to NamedParameters, which looks at the names.")
    if not isinstance(found, NamedParameters):
        given.reject(expected, "NamedParameters takes a list of parameters.")
    if set(found.names) != set(names):
        missing = [name for name in names if name not in found.names]
        given.reject(
            expected, f"There is no {missing[0]}." if missing else "It holds one too many."
        )
    if list(found.names) != list(names):
        given.reject(expected, "The order of the list is the order of declaration: it is another.")
    for one in found:
        shape = SHAPES[one.name]
        if one.shape != shape:
            turned = one.shape == shape[::-1]
            hint = OUTPUT_FIRST if turned else f"{one.name} has the shape {one.shape}."
            given.reject(f"{expected}, of shapes {[SHAPES[name] for name in names]}", hint)
    return {one.name: one.value.tobytes() for one in found}


def _why(held: dict[str, bytes], seed: int) -> str:
    """Say how query and table got other weights than those of one stream in this order."""
    query, table = held[QUERY], held[TABLE]
    if query == drawn((2, 2), seed, 8) and table == drawn((4, 2), seed):
        return "The table was drawn first: the order of construction decides who gets which draw."
    if query == drawn((2, 2), seed) and table == drawn((4, 2), seed):
        return FRESH_SEED_EACH_LAYER.hint
    if query in (drawn((2, 2), other) for other in SEEDS if other != seed):
        return f"These are the weights of another seed than {seed}: is the argument used?"
    return "Start one generator at the seed and hand it to xavier_uniform twice."


# --- b: same leaf, same bits, neither -------------------------------------------------------------

KINDS = ("same leaf", "same bits", "neither")


@part("ex07.b", "tell the same leaf from the same bits")
def kinship(answer: Answer) -> str:
    tell = answer.function("one, other")
    query = NamedParameter.xavier_uniform("a", 2, 2, SplitMix64(17))
    rebuilt = NamedParameter.xavier_uniform("a", 2, 2, SplitMix64(17))
    query.tensor.sum().backward()  # gradients differ from here on; values do not
    _ask(tell, "a, its clone", query, query.clone(), "same leaf", CLONE_IS_A_COPY.hint)
    _ask(tell, "a, a rebuilt", query, rebuilt, "same bits", _REBUILT)
    renamed = NamedParameter.from_array("b", query.value)
    _ask(tell, "a, b with a copy of its values", query, renamed, "same bits", _NAMES)
    other = NamedParameter.xavier_uniform("a", 2, 2, SplitMix64(18))
    _ask(tell, "a, a of seed 18", query, other, "neither", _NAMES)
    nudged = query.value.copy()
    nudged[1, 1] = np.nextafter(nudged[1, 1], 0.0)
    beside = NamedParameter.from_array("a", nudged)
    _ask(tell, "a, a with one last bit changed", query, beside, "neither", DECIMALS_ARE_BITS.hint)
    square, row, flat = (NamedParameter.zeros("z", shape) for shape in ((2, 2), (1, 2), 4))
    _ask(tell, "zeros [2, 2], zeros [1, 2]", square, row, "neither", _SHAPES)
    _ask(tell, "zeros [2, 2], zeros [4]", square, flat, "neither", _SHAPES)
    early = rebuilt.clone()
    rebuilt.tensor.assign(2.0 * rebuilt.value)
    _ask(tell, "b rebuilt and trained, its early clone", rebuilt, early, "same leaf", _REBUILT)
    return "Names, values and leaves are three things, and only the leaf is shared in training."


_REBUILT = (
    "A rebuilt parameter has equal values in a leaf of its own; ask the tensors, not the names."
)
_NAMES = "Names tell the role; two parameters of one name may hold different numbers."
_SHAPES = "Arrays of two shapes are not equal, even if NumPy can stretch one over the other."


def _ask(
    tell: Function, words: str, one: NamedParameter, other: NamedParameter, right: str, hint: str
) -> None:
    error = tell.refusal(one, other)
    if isinstance(error, ValueError) and one.shape != other.shape:
        Answer(error, f"{tell.name}({words})").reject(f"{right!r}", _SHAPES)
    for pair in ((one, other), (other, one)):
        given = call_as(words, tell, *pair)
        if given.choice(KINDS) != right:
            given.reject(f"{right!r}", hint)


# --- c: whose gradient is it ----------------------------------------------------------------------


@part("ex07.c", "three gradients, after each of three steps")
def gradients(answer: Answer) -> str:
    right = np.array([[5.0, 5.0, 0.0], [5.0, 5.0, 7.0], [0.0, 0.0, 7.0]])
    answer.expect(
        right,
        EXACT,
        "Count the leaves first: how many are there, and who looks at which?",
        [
            Mistake([[2, 3, 0], [2, 3, 7], [2, 0, 7]], CLONE_IS_A_COPY),
            Mistake([[2, 3, 0], [2, 3, 7], [0, 0, 7]], CLONE_IS_A_COPY),
            Mistake([[5, 5, 0], [5, 5, 7], [5, 0, 7]], CLONE_IS_A_COPY),
            Mistake(
                [[5, 5, 5], [12, 12, 12], [0, 0, 0]],
                "Equal values share no gradient: rebuilt has its own leaf.",
            ),
            Mistake(
                [[5, 5, 0], [5, 5, 7], [0, 0, 0]],
                "The collection holds one leaf; rebuilt is not in it.",
            ),
            Mistake(
                lambda given: bool((given[0] == [3, 3, 0]).all()),
                "A sum of two uses adds both gradients: none replaces the other.",
            ),
            Mistake(
                lambda given: bool((given[0] == [6, 6, 0]).all()),
                "The uses are added in the sum, so their gradients are added too.",
            ),
            Mistake(
                right.T, "A row for each step, with query, clone and rebuilt from left to right."
            ),
        ],
        form="3 rows, one for each step, of 3 gradients",
    )
    return "Two leaves, three handles: a clone and its original see every change together."
