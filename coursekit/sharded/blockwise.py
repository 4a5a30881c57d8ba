"""One parameter, drawn block by block from its place on the stream.

Chapter 13 teaches this module. A weight that takes exactly one draw is a function of seed, offset,
row, column and the width of its matrix. So a block of a matrix needs none of the draws outside the
block, and whoever computes it, whenever, gets the bits that the whole matrix has there.

No formula is repeated here. An initializer, called with a generator that only listens, says which
draws it would make and with which numbers (`_Listener`); `blocks` then makes them at any position.

Not promised: blocks of `orthogonal`, where each element depends on all draws of its matrix, nor
speed for blocks of single elements.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coursekit import blocks, initializers
from coursekit.arguments import Size, checked_integer, checked_lengths, checked_shape
from coursekit.blocks import Rows
from coursekit.errors import (
    NotBlockwise,
    OutOfRange,
    ShapeProductOverflow,
    UnknownChoice,
    WrongType,
)
from coursekit.parameters import validate_name
from coursekit.rng import SplitMix64

FloatArray: TypeAlias = NDArray[np.float64]
Ranges: TypeAlias = tuple[range, ...]
# A block, from the state before the parameter's first draw, its shape, and what is wanted of it.
Law: TypeAlias = Callable[[int, tuple[int, ...], Ranges], FloatArray]

SAMPLED = (
    "xavier_uniform",
    "xavier_normal",
    "he_uniform",
    "he_normal",
    "lecun_uniform",
    "lecun_normal",
    "truncated_normal",
    "orthogonal",
)
FIXED = ("zeros", "ones", "constant", "identity")
_OWN_ARGUMENTS = ("fan_in", "fan_out", "rng", "shape", "n")


@dataclass(frozen=True)
class Declared:
    """One line of a model description: a name, a shape and a rule.

    Fields:
        name: as `parameters.validate_name` allows it.
        shape: [fan_in, fan_out] for a sampled rule; any lengths for zeros, ones and constant.
        rule: the name of an initializer.
        options: its further arguments by name, such as {"gain": 2.0}.
    """

    name: str
    shape: Size
    rule: str = "xavier_uniform"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Start:
    """The start of one parameter: an array of which only the wanted block is ever drawn.

    Brackets mean what they mean to NumPy, and the bits are those of the whole array:

    >>> table = placed(Declared("table", (4, 2)), offset=4, seed=17)
    >>> table[2:, 1:].tolist() == table[:][2:, 1:].tolist()
    True

    Fields: those of `Declared`; `offset`, draws before its first one; `state`, the generator's
    state there. Made by `placed` and by `plan.Plan`.
    """

    name: str
    shape: tuple[int, ...]
    rule: str
    options: Mapping[str, Any]
    offset: int
    state: int
    _law: Law = field(repr=False, compare=False)

    dtype = np.dtype(np.float64)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def draws(self) -> int:
        """How many draws the parameter takes: one an element if it is sampled, else none."""
        return self.size if self.rule in SAMPLED else 0

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> FloatArray:
        """Return what NumPy would cut out of the whole array, drawing the enclosing block only.

        Args:
            key: for each axis a slice or an integer; missing axes are taken whole.

        Raises:
            OutOfRange: more axes than there are. IndexError: an integer beyond the end.
            WrongType: anything else between the brackets.
            AllocationFailed: a block that memory cannot hold.
            NotBlockwise: a part of an orthogonal matrix.

        Draws consumed: none that anybody else sees; no generator moves.
        """
        given = key if isinstance(key, tuple) else (key,)
        if len(given) > self.ndim:
            raise OutOfRange("block", f"of at most {self.ndim} axes", key)
        given += (slice(None),) * (self.ndim - len(given))
        cuts = [_cut(one, length) for one, length in zip(given, self.shape, strict=True)]
        kept = tuple(enclosing for enclosing, _ in cuts)
        checked_shape(_lengths(kept), "block")
        block: Any = self._law(self.state, self.shape, kept)
        wanted: FloatArray = block[tuple(inside for _, inside in cuts)]
        return wanted

    def __dask_tokenize__(self) -> object:
        # What the numbers depend on, and nothing that differs from process to process.
        return ("coursekit", self.state, self.shape, self.rule, sorted(self.options.items()))


def placed(line: Declared, offset: int, seed: int) -> Start:
    """Return the start that a declaration has after `offset` draws of a seed.

    Raises:
        what `validate_name` raises; UnknownChoice: an unknown rule or option; WrongType,
        OutOfRange: a shape that does not fit the rule; what the initializer raises, in its order;
        ShapeProductOverflow. Memory is not asked for: a start takes none.

    Draws consumed: none.

    >>> placed(Declared("table", (4, 2)), offset=4, seed=17)[0].round(12).tolist()
    [-0.965481949522, -0.837049349261]
    """
    validate_name(line.name)
    if line.rule not in (*SAMPLED, *FIXED):
        raise UnknownChoice("rule", line.rule, (*SAMPLED, *FIXED))
    options = _checked_options(line.rule, line.options)
    shape = checked_lengths(line.shape, "shape")
    law = _law_of(line.rule, shape, options)
    state = SplitMix64(seed).advance(offset).state
    return Start(line.name, shape, line.rule, options, offset, state, law)


# --- laws: how a block of each kind comes about ---------------------------------------------------


def _law_of(rule: str, shape: tuple[int, ...], options: Mapping[str, Any]) -> Law:
    """Return the law of a rule, after every check that the initializer makes."""
    initializer = getattr(initializers, rule)
    if rule in SAMPLED:
        if len(shape) != 2:
            raise OutOfRange("shape of a sampled parameter", "[fan_in, fan_out]", shape)
        listener = _Listener(0)
        initializer(*shape, listener, **options)
        return listener.law if rule != "orthogonal" else partial(_whole, initializer, options)
    if rule != "identity":
        return partial(_filled, float(initializer((), **options)))
    if len(shape) != 2 or shape[0] != shape[1]:
        raise OutOfRange("shape of an identity", "two equal lengths", shape)
    return partial(_diagonal, float(initializer(1, **options)[0, 0]))


class _Listener(SplitMix64):
    """A generator that notes what an initializer asks of it, and draws nothing."""

    __slots__ = ("law",)
    law: Law

    def symmetric(self, limit: float, size: Size) -> FloatArray:
        return self._note(size, blocks.symmetric_block, limit)

    def normal(
        self,
        mean: float = 0.0,
        standard_deviation: float = 1.0,
        size: Size | None = None,
        *,
        share: float = 1.0,
    ) -> Any:
        return self._note(size or (), blocks.normal_block, mean, standard_deviation, share)

    def _note(self, size: Size, block: Callable[..., FloatArray], *numbers: float) -> FloatArray:
        fan_in, fan_out = checked_lengths(size, "size")
        if fan_in * fan_out >= 2**64:
            raise ShapeProductOverflow(fan_in, fan_out)
        self.law = partial(_drawn, block, numbers)
        return np.empty((0, 0))


def _drawn(
    block: Callable[..., FloatArray],
    numbers: tuple[float, ...],
    state: int,
    shape: tuple[int, ...],
    kept: Ranges,
) -> FloatArray:
    (rows, columns), width = kept, shape[1]
    count = len(rows) * len(columns)
    first = SplitMix64.from_state(state).advance(rows.start * width + columns.start)
    lie = Rows(len(columns), width)
    return block(first.state, count, *numbers, rows=lie).reshape(_lengths(kept))


def _whole(
    initializer: Callable[..., FloatArray],
    options: Mapping[str, Any],
    state: int,
    shape: tuple[int, ...],
    kept: Ranges,
) -> FloatArray:
    if _lengths(kept) != shape:
        raise NotBlockwise(initializer.__name__, shape, _lengths(kept))
    return initializer(*shape, SplitMix64.from_state(state), **options)


def _filled(value: float, _state: int, _shape: tuple[int, ...], kept: Ranges) -> FloatArray:
    return np.full(_lengths(kept), value)


def _diagonal(gain: float, _state: int, _shape: tuple[int, ...], kept: Ranges) -> FloatArray:
    rows, columns = kept
    return gain * np.eye(len(rows), len(columns), k=rows.start - columns.start)


# --- what stands between the brackets, and beside the rule ----------------------------------------


def _cut(index: Any, length: int) -> tuple[range, Any]:
    """Return the range that encloses what an index means, and the index within that range."""
    if not isinstance(index, slice):
        place = range(length)[checked_integer(index, "index")]
        return range(place, place + 1), 0
    chosen = range(length)[index]
    if not chosen:
        return range(0), slice(None)
    first, last = sorted((chosen[0], chosen[-1]))
    return range(first, last + 1), slice(None, None, chosen.step)


def _lengths(kept: Ranges) -> tuple[int, ...]:
    return tuple(map(len, kept))


def _checked_options(rule: str, options: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(options, Mapping):
        raise WrongType("options", "a mapping from names to values", options)
    arguments = inspect.signature(getattr(initializers, rule)).parameters
    known = tuple(name for name in arguments if name not in _OWN_ARGUMENTS)
    for name in options:
        if name not in known:
            raise UnknownChoice(f"option of {rule}", name, known or ("none",))
    if rule == "constant" and "value" not in options:
        raise OutOfRange("options of constant", "a value", dict(options))
    return dict(options)
