"""Parameters with names, and starts that can be replayed.

Chapter 6 teaches this module. A parameter is a leaf of the tape (`coursekit.autodiff`) and a name
that outlives the process: the leaf is *this* array in *this* run, the name is the role that a
layer or a file means. A collection refuses the same name twice and keeps the order in which
parameters were declared, because on one generator that order decides which draws each of them
gets. A request that is refused leaves the generator where it was, so that the corrected request
gets the draws that the refused one was meant to get.

The grammar of names, the order of the checks and the meaning of a failed request follow the first
source text of the course. Not promised: that a name says anything true about its parameter, and
that two processes may save to one path at once (the last one wins).
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coursekit import initializers, storage
from coursekit.autodiff import Tensor, parameter
from coursekit.errors import (
    CourseError,
    DamagedFile,
    DuplicateName,
    EmptyName,
    EmptyNameSegment,
    InvalidNameCharacter,
    WrongType,
)
from coursekit.rng import SplitMix64

Array: TypeAlias = NDArray[np.float64]
P = ParamSpec("P")
Made = TypeVar("Made", bound=Callable[..., object])

_DOT = ord(".")
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")


def validate_name(name: str) -> None:
    """Accept a name of non-empty segments of a-z, 0-9 and `_`, separated by dots.

    The first byte that breaks the rule decides: an empty segment is reported at the dot that ends
    it, or at the end of the name. Positions count UTF-8 bytes, so that they mean the same in a
    file and in another language.

    Raises: `WrongType` (not text), `EmptyName`, then whichever comes first in the name of
    `EmptyNameSegment` and `InvalidNameCharacter`.
    Draws consumed: none.

    >>> validate_name("decoder.block.0.attention.query.weight")
    >>> validate_name("decoder..weight")
    Traceback (most recent call last):
      ...
    coursekit.errors.initialization.EmptyNameSegment: parameter name must have a character in ...
    """
    if not isinstance(name, str):
        raise WrongType("parameter name", "text", name)
    if not name:
        raise EmptyName()
    # A lone surrogate is no character, but it has three bytes that can be pointed at.
    encoded = name.encode("utf-8", "surrogatepass")
    segment_is_empty = True
    for index, byte in enumerate(encoded):
        if byte == _DOT:
            if segment_is_empty:
                raise EmptyNameSegment(index)
            segment_is_empty = True
        elif byte in _NAME_BYTES:
            segment_is_empty = False
        else:
            raise InvalidNameCharacter(index, byte)
    if segment_is_empty:
        raise EmptyNameSegment(len(encoded))


def _filled(initializer: Callable[P, Array]) -> Callable[Concatenate[str, P], NamedParameter]:
    """Put a name before the arguments of an initializer that draws nothing."""

    def construct(name: str, *arguments: P.args, **options: P.kwargs) -> NamedParameter:
        validate_name(name)
        return NamedParameter._of(name, initializer(*arguments, **options), initializer.__name__)

    return _described(construct, initializer)  # type: ignore[return-value]  # `name=` works too


def _sampled(
    initializer: Callable[Concatenate[int, int, SplitMix64, P], Array],
) -> Callable[Concatenate[str, int, int, SplitMix64, P], NamedParameter]:
    """Put a name before the arguments of a sampler, and move the generator last or not at all.

    Checked in this order: the name; then by the sampler fan-in, fan-out, their sum, the element
    count and the storage; then the leaf.
    """

    def construct(
        name: str, fan_in: int, fan_out: int, rng: SplitMix64, *options: P.args, **more: P.kwargs
    ) -> NamedParameter:
        validate_name(name)
        trial = rng.clone() if isinstance(rng, SplitMix64) else rng  # the sampler refuses others
        weights = initializer(fan_in, fan_out, trial, *options, **more)
        made = NamedParameter._of(name, weights, initializer.__name__)
        rng._state = trial._state  # nothing can fail any more
        return made

    return _described(construct, initializer)  # type: ignore[return-value]  # as above


def _described(construct: Made, initializer: Callable[..., Array]) -> Made:
    """Give a constructor the name, the signature and the help text of its initializer."""
    name = inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
    given = inspect.signature(initializer).parameters.values()
    about: Any = construct
    about.__name__ = initializer.__name__
    about.__qualname__ = f"NamedParameter.{initializer.__name__}"
    about.__doc__ = f"Make a named parameter with `initializers.{initializer.__name__}`."
    about.__signature__ = inspect.Signature([name, *given], return_annotation="NamedParameter")
    return construct


class NamedParameter:
    """One name, one leaf of the tape, and the rule that gave the leaf its first value.

    >>> rng = SplitMix64(17)
    >>> query = NamedParameter.xavier_uniform("decoder.block.0.attention.query.weight", 2, 2, rng)
    >>> query.value.round(12).tolist()
    [[0.004950883736, -0.265932089217], [-0.420504358848, -0.676313443233]]
    >>> query.clone().tensor.is_same_node(query.tensor)
    True
    >>> rebuilt = NamedParameter.from_array(query.name, query.value)
    >>> rebuilt.tensor.is_same_node(query.tensor)
    False
    """

    __slots__ = ("_name", "_rule", "_tensor")
    _name: str
    _tensor: Tensor
    _rule: str

    def __init__(self) -> None:
        raise TypeError("a NamedParameter is made by from_array or by the name of an initializer")

    @classmethod
    def _of(cls, name: str, array: ArrayLike, rule: str) -> NamedParameter:
        made = object.__new__(cls)
        made._name, made._tensor, made._rule = name, parameter(array), rule
        return made

    @classmethod
    def from_array(cls, name: str, array: ArrayLike) -> NamedParameter:
        """Make a leaf from values that are already there; they are copied.

        Raises: as `validate_name`, then as `coursekit.autodiff.parameter` (`WrongType`,
        `NonFiniteLeaf`).
        Draws consumed: none.

        >>> NamedParameter.from_array("output.bias", [0.5, -0.5])
        NamedParameter('output.bias', shape=(2,), rule='array')
        """
        validate_name(name)
        return cls._of(name, array, "array")

    # --- one constructor for each initializer: a name, then the same arguments -----------------

    xavier_uniform = staticmethod(_sampled(initializers.xavier_uniform))
    xavier_normal = staticmethod(_sampled(initializers.xavier_normal))
    he_uniform = staticmethod(_sampled(initializers.he_uniform))
    he_normal = staticmethod(_sampled(initializers.he_normal))
    lecun_uniform = staticmethod(_sampled(initializers.lecun_uniform))
    lecun_normal = staticmethod(_sampled(initializers.lecun_normal))
    truncated_normal = staticmethod(_sampled(initializers.truncated_normal))
    orthogonal = staticmethod(_sampled(initializers.orthogonal))
    zeros = staticmethod(_filled(initializers.zeros))
    ones = staticmethod(_filled(initializers.ones))
    constant = staticmethod(_filled(initializers.constant))
    identity = staticmethod(_filled(initializers.identity))

    # --- what a parameter shows ----------------------------------------------------------------

    @property
    def name(self) -> str:
        """The stable external name."""
        return self._name

    @property
    def tensor(self) -> Tensor:
        """The leaf itself: what layers compute with."""
        return self._tensor

    @property
    def rule(self) -> str:
        """The name of the constructor that gave the first value. Training does not change it."""
        return self._rule

    @property
    def value(self) -> Array:
        """The leaf's present value, read-only."""
        return self._tensor.value

    @property
    def grad(self) -> Array | None:
        """The leaf's accumulated gradient, read-only; zeros before any backward pass."""
        return self._tensor.grad

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value; [fan_in, fan_out] for a weight matrix."""
        return self._tensor.shape

    def clone(self) -> NamedParameter:
        """Return a second handle on the same leaf: same name, same value, same gradient."""
        twin = object.__new__(NamedParameter)
        twin._name, twin._tensor, twin._rule = self._name, self._tensor, self._rule
        return twin

    def __repr__(self) -> str:
        return f"NamedParameter({self._name!r}, shape={self.shape}, rule={self._rule!r})"


class NamedParameters(Sequence[NamedParameter]):
    """An immutable collection in declaration order, in which every name occurs once.

    Args:
        parameters: any iterable of `NamedParameter`; the order is kept.
    Raises:
        WrongType: an element is something else.
        DuplicateName: with the first name that occurs a second time and both positions, so that
            `[a, b, b, a]` gives `(b, 1, 2)`.

    >>> both = NamedParameters([NamedParameter.zeros("b", 2), NamedParameter.ones("a", (1, 3))])
    >>> both.names, both[0].name, both["a"].shape, "c" in both, both.get("c")
    (('b', 'a'), 'b', (1, 3), False, None)
    """

    __slots__ = ("_by_name", "_parameters", "_seed", "_state")

    def __init__(self, parameters: Iterable[NamedParameter] = ()) -> None:
        kept = tuple(parameters)
        position: dict[str, int] = {}
        for index, candidate in enumerate(kept):
            if not isinstance(candidate, NamedParameter):
                raise WrongType(f"element {index}", "a NamedParameter", candidate)
            first = position.setdefault(candidate.name, index)
            if first != index:
                raise DuplicateName(candidate.name, first, index)
        self._parameters = kept
        self._by_name = dict(zip(position, kept, strict=True))
        self._seed: int | None = None
        self._state: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in declaration order."""
        return tuple(self._by_name)

    @property
    def element_count(self) -> int:
        """How many numbers training can change: the sum of all element counts."""
        return sum(one.value.size for one in self._parameters)

    @property
    def seed(self) -> int | None:
        """The seed that `save` noted in the file this collection was loaded from, else None."""
        return self._seed

    @property
    def state(self) -> int | None:
        """The generator state that `save` noted in the file, else None."""
        return self._state

    def get(self, name: str) -> NamedParameter | None:
        """Return the parameter of this name, or None."""
        return self._by_name.get(name)

    def zero_grad(self) -> None:
        """Set every gradient to zeros, as is due before the next backward pass."""
        for one in self._parameters:
            one.tensor.zero_grad()

    def save(
        self, path: str | os.PathLike[str], *, seed: int | None = None, state: int | None = None
    ) -> None:
        """Write names, values and rules to a safetensors file, whole or not at all.

        Gradients are not saved. Equal content gives equal bytes.

        Args:
            path: where to; an existing file is replaced in one step (`storage.save_arrays`).
            seed: the generator's seed, to be kept as a note.
            state: the generator's state after the last draw, for a start that is continued later.
        Raises:
            TypeError, SeedError: a seed or state that the generator would refuse.
            OSError: the disk refuses; the old file is still there.

        >>> import tempfile
        >>> rng = SplitMix64(17)
        >>> start = NamedParameters([NamedParameter.xavier_uniform("weight", 2, 2, rng)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     start.save(f"{folder}/start.safetensors", seed=17, state=rng.state)
        ...     again = NamedParameters.load(f"{folder}/start.safetensors")
        >>> again, again.seed, again.state == rng.state
        (NamedParameters([NamedParameter('weight', shape=(2, 2), rule='xavier_uniform')]), 17, True)
        >>> (again["weight"].value == start["weight"].value).all()
        np.True_
        """
        notes = {"rule": json.dumps([one.rule for one in self._parameters])}
        if seed is not None:
            notes["seed"] = str(SplitMix64.from_seed(seed).state)
        if state is not None:
            notes["state"] = str(SplitMix64.from_state(state).state)
        arrays = {one.name: one.value for one in self._parameters}
        storage.save_arrays(path, arrays, notes)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NamedParameters:
        """Read what `save` wrote: names, order, bits, rules, and the noted seed and state.

        The leaves are new ones with zero gradients.

        Raises:
            OSError: the file cannot be opened.
            DamagedFile: it is not, or no longer, what `save` wrote. Nothing is kept of it.
        """
        arrays, notes = storage.load_arrays(path)
        try:
            rules = json.loads(notes["rule"])
            if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
                raise ValueError("its rules are no list of names")
            for name in arrays:
                validate_name(name)
            loaded = cls(
                NamedParameter._of(name, array, rule)
                for (name, array), rule in zip(arrays.items(), rules, strict=True)
            )
            loaded._seed, loaded._state = (
                SplitMix64(int(notes[key])).state if key in notes else None
                for key in ("seed", "state")
            )
        except (CourseError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise DamagedFile(os.fspath(path), f"no parameters: {error}") from error
        return loaded

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[NamedParameter]:
        return iter(self._parameters)

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return item in self._by_name
        return item in self._parameters

    @overload
    def __getitem__(self, key: int | str) -> NamedParameter: ...
    @overload
    def __getitem__(self, key: slice) -> NamedParameters: ...
    def __getitem__(self, key: int | str | slice) -> NamedParameter | NamedParameters:
        if isinstance(key, str):
            return self._by_name[key]
        if isinstance(key, slice):
            return NamedParameters(self._parameters[key])
        return self._parameters[key]

    def __repr__(self) -> str:
        return f"NamedParameters([{', '.join(map(repr, self._parameters))}])"
