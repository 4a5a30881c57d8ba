"""SplitMix64: the generator that every random number of the course comes from.

Chapter 2 builds it bit by bit. Its whole memory is one 64-bit integer, the state. A draw adds a
fixed odd constant to the state and mixes a copy of the result until it looks random. The state
is therefore a position: it can be written down, restored, moved forward and moved back.

Source: G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators,
OOPSLA 2014. Java's `java.util.SplittableRandom` draws the same words and doubles.

Promised: the same bits for the same seed and the same calls, on every machine. Not promised:
secrecy (the mixing runs backwards as easily), or different weights for different seeds.
"""

from __future__ import annotations

import math
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coursekit import blocks
from coursekit.arguments import Size, checked_integer, checked_real, checked_shape
from coursekit.blocks import INCREMENT, MASK, MIX_ONE, MIX_TWO, UNIT
from coursekit.errors import OutOfRange, SeedError, WrongType
from coursekit.normal import inverse_normal

FloatArray: TypeAlias = NDArray[np.float64]
# Up to here a loop over single draws is faster than setting up a block.
FEW = 24
FEW_NORMALS = 64
LARGEST_NORMAL = 8.21  # no standard normal draw is as large


class SplitMix64:
    """A generator whose state is one 64-bit integer.

    Args:
        seed: the state before the first draw, an integer from 0 to 2**64 − 1; 0 is a seed like
            any other.

    Raises:
        WrongType: a seed that is a bool or no integer (a `TypeError`).
        SeedError: a seed below 0, or 2**64 and above. It is never masked into range.

    >>> rng = SplitMix64(17)
    >>> rng.next_unit_f64()
    0.502021189821688
    >>> rng
    SplitMix64(0x9e3779b97f4a7c26)

    Source: Steele, Lea, Flood (2014).
    """

    __slots__ = ("_state",)
    __hash__ = None  # type: ignore[assignment]  # equality follows the state, which moves

    def __init__(self, seed: int) -> None:
        self._state = _word(seed, "seed")

    @classmethod
    def from_seed(cls, seed: int) -> SplitMix64:
        """Start at a seed: `SplitMix64(seed)` under the name that says why."""
        return cls(seed)

    @classmethod
    def from_state(cls, state: int) -> SplitMix64:
        """Resume at a recorded `state`; the next draw is the one that followed it then."""
        rng = cls.__new__(cls)
        rng._state = _word(state, "state")
        return rng

    @property
    def state(self) -> int:
        """The 64-bit position; the next draw adds the increment to it."""
        return self._state

    def next_u64(self) -> int:
        """Return the next 64-bit word. Draws consumed: 1.

        >>> hex(SplitMix64(0).next_u64())
        '0xe220a8397b1dcdaf'
        """
        self._state = (self._state + INCREMENT) & MASK
        return mix(self._state)

    def next_unit_f64(self) -> float:
        """Return the next number of [0, 1), a multiple of 2**-53. Draws consumed: 1.

        The 53 high bits of the word fill the 53 bits of a float64 exactly.
        """
        return (self.next_u64() >> 11) * UNIT

    # --- many draws at once -------------------------------------------------------------------

    @overload
    def random_raw(self, size: None = None) -> int: ...
    @overload
    def random_raw(self, size: Size) -> NDArray[np.uint64]: ...
    def random_raw(self, size: Size | None = None) -> int | NDArray[np.uint64]:
        """Return 64-bit words: an int without `size`, else a uint64 array of that shape.

        Args:
            size: an int, or the lengths of the axes; elements follow in row-major order.

        Raises:
            WrongType: a length that is a bool or no integer.
            OutOfRange: a negative length.
            AllocationFailed: more elements than memory can hold. The state stays as it was.

        Draws consumed: one an element.

        >>> SplitMix64(0).random_raw(2)
        array([16294208416658607535,  7960286522194355700], dtype=uint64)
        """
        if size is None:
            return self.next_u64()
        shape = checked_shape(size, "size")
        count = math.prod(shape)
        words = blocks.raw_block(self._state, count)
        self.advance(count)
        return words.reshape(shape)

    @overload
    def random(self, size: None = None) -> float: ...
    @overload
    def random(self, size: Size) -> FloatArray: ...
    def random(self, size: Size | None = None) -> float | FloatArray:
        """Return numbers of [0, 1): `next_unit_f64` for every element. See `random_raw`.

        >>> SplitMix64(17).random(2)
        array([0.50202119, 0.39143368])
        """
        return self.uniform(0.0, 1.0, size)

    @overload
    def uniform(self, low: float, high: float, size: None = None) -> float: ...
    @overload
    def uniform(self, low: float, high: float, size: Size) -> FloatArray: ...
    def uniform(
        self, low: float = 0.0, high: float = 1.0, size: Size | None = None
    ) -> float | FloatArray:
        """Return low + (high − low)·u for each draw u of [0, 1).

        Args:
            low, high: the ends of the interval; `high` itself is reached by rounding only.
            size: as in `random_raw`.

        Raises:
            WrongType, OutOfRange: an end that is no finite number, a span that overflows or is
                negative, or a bad size. AllocationFailed: as in `random_raw`. The state stays.

        Draws consumed: one an element.
        """
        low, high = checked_real(low, "low"), checked_real(high, "high")
        span = checked_real(high - low, "high - low")
        if span < 0.0:
            raise OutOfRange("high", f"at least low, which is {low}", high)
        if size is None:
            return low + span * self.next_unit_f64()
        shape = checked_shape(size, "size")
        count = math.prod(shape)
        if count <= FEW:
            few = [low + span * ((word >> 11) * UNIT) for word in self._few(count)]
            return np.array(few, dtype=np.float64).reshape(shape)
        values = blocks.affine_block(self._state, count, low, span)
        self.advance(count)
        return values.reshape(shape)

    def symmetric(self, limit: float, size: Size) -> FloatArray:
        """Return limit·(2u − 1) for each draw u: the form in which weights are sampled.

        `uniform(-limit, limit)` is the same formula on paper and differs in the last bit of about
        half of all draws. +limit itself is never reached.

        Args:
            limit: half the width of the interval, in the unit of the result.
            size: as in `random_raw`.

        Raises:
            As `uniform`. Draws consumed: one an element.

        >>> SplitMix64(17).symmetric(1.0, 2)
        array([ 0.00404238, -0.21713264])
        """
        limit = checked_real(limit, "limit")
        shape = checked_shape(size, "size")
        count = math.prod(shape)
        if count <= FEW:
            few = [limit * (2.0 * ((word >> 11) * UNIT) - 1.0) for word in self._few(count)]
            return np.array(few, dtype=np.float64).reshape(shape)
        values = blocks.symmetric_block(self._state, count, limit)
        self.advance(count)
        return values.reshape(shape)

    @overload
    def standard_normal(self, size: None = None) -> float: ...
    @overload
    def standard_normal(self, size: Size) -> FloatArray: ...
    def standard_normal(self, size: Size | None = None) -> float | FloatArray:
        """Return numbers of the standard normal distribution, each from one draw.

        The 52 high bits of the word name one of 2**52 equal cells of (0, 1); the midpoint of the
        cell goes through the inverse distribution function (`coursekit.normal`). The largest
        value that can occur is 8.2095.

        Args, Raises, Draws consumed: as `random_raw`.

        >>> SplitMix64(17).standard_normal(3)
        array([ 0.00506639, -0.27558431, -0.44452974])
        """
        return self.normal(0.0, 1.0, size)

    @overload
    def normal(
        self, mean: float, standard_deviation: float, size: None = None, *, share: float = ...
    ) -> float: ...
    @overload
    def normal(
        self, mean: float, standard_deviation: float, size: Size, *, share: float = ...
    ) -> FloatArray: ...
    def normal(
        self,
        mean: float = 0.0,
        standard_deviation: float = 1.0,
        size: Size | None = None,
        *,
        share: float = 1.0,
    ) -> float | FloatArray:
        """Return mean + standard_deviation·z for each standard normal draw z.

        Args:
            share: below 1, only this middle share of the probability is used, so that z ends at
                its quantiles: 0.9545 cuts at two standard deviations.
            size: as in `random_raw`.

        Raises:
            WrongType, OutOfRange: a parameter that is no finite number, a negative standard
                deviation, a share outside (0, 1], draws that could overflow, or a bad size.
            AllocationFailed: as in `random_raw`. The state stays as it was.

        Draws consumed: one an element.
        """
        mean = checked_real(mean, "mean")
        scale = checked_real(standard_deviation, "standard deviation")
        if scale < 0.0:
            raise OutOfRange("standard deviation", "at least 0", standard_deviation)
        checked_real(abs(mean) + LARGEST_NORMAL * scale, "largest normal draw")
        share = checked_real(share, "share")
        if not 0.0 < share <= 1.0:
            raise OutOfRange("share", "above 0 and at most 1", share)
        if size is None:
            return mean + scale * _standard_normal(self.next_u64(), share)
        shape = checked_shape(size, "size")
        count = math.prod(shape)
        if count <= FEW_NORMALS:
            few = [mean + scale * _standard_normal(word, share) for word in self._few(count)]
            return np.array(few, dtype=np.float64).reshape(shape)
        values = blocks.normal_block(self._state, count, mean, scale, share)
        self.advance(count)
        return values.reshape(shape)

    def permutation(self, n: int) -> NDArray[np.intp]:
        """Return the numbers 0 … n − 1 in random order: the order of n words by size.

        Two equal words keep their order; among n words that happens with probability below
        n²/2**65. Draws consumed: n.

        >>> SplitMix64(17).permutation(5)
        array([4, 3, 2, 1, 0])
        """
        return np.argsort(self.random_raw(checked_integer(n, "n")), kind="stable")

    # --- position -----------------------------------------------------------------------------

    def advance(self, count: int) -> SplitMix64:
        """Move as if `count` draws had been made, and return the generator itself.

        Args:
            count: any integer; a negative one goes back. The cost does not depend on it.

        Raises:
            WrongType: a count that is a bool or no integer.

        >>> SplitMix64(17).advance(10**9).next_u64()
        11922084437427769674
        """
        self._state = (self._state + checked_integer(count, "count") * INCREMENT) & MASK
        return self

    def raw_at(self, offsets: ArrayLike) -> NDArray[np.uint64]:
        """Return the words at these offsets after the current state, which does not move.

        Args:
            offsets: integers of any shape; 0 is the next draw, −1 the last one made.

        Returns:
            Words, uint64, of the shape of `offsets`.

        Raises:
            WrongType: offsets that are no integers.

        Draws consumed: none.

        >>> SplitMix64(0).raw_at([1, 0])
        array([ 7960286522194355700, 16294208416658607535], dtype=uint64)
        """
        # Python integers of any size stay exact only as objects.
        array = offsets if isinstance(offsets, np.ndarray) else np.array(offsets, dtype=object)
        if array.dtype == object:
            wrapped = [checked_integer(offset, "offset") & MASK for offset in array.ravel()]
            words = np.array(wrapped, dtype=np.uint64)
        elif array.dtype.kind in "iu":
            words = array.astype(np.uint64).ravel()
        else:
            raise WrongType("offsets", "integers", offsets)
        return blocks.words_at(self._state, words).reshape(array.shape)

    def clone(self) -> SplitMix64:
        """Return a second generator at the same position; the two then move independently."""
        return SplitMix64.from_state(self._state)

    __copy__ = clone

    def __eq__(self, other: object) -> bool:
        return self._state == other._state if isinstance(other, SplitMix64) else NotImplemented

    def __repr__(self) -> str:
        return f"SplitMix64(0x{self._state:016x})"

    def _few(self, count: int) -> list[int]:
        """Draw a few words one by one: word k is the mixed form of state + k·G."""
        words = [mix((self._state + k * INCREMENT) & MASK) for k in range(1, count + 1)]
        self._state = (self._state + count * INCREMENT) & MASK
        return words


def mix(word: int) -> int:
    """Return the mixed form of a 64-bit integer: a bijection, so no two words collide.

    >>> hex(mix(INCREMENT))
    '0xe220a8397b1dcdaf'
    """
    word = ((word ^ (word >> 30)) * MIX_ONE) & MASK
    word = ((word ^ (word >> 27)) * MIX_TWO) & MASK
    return word ^ (word >> 31)


def _standard_normal(word: int, share: float) -> float:
    cell = word >> 12
    return inverse_normal((cell - (2.0**51 - 0.5)) * (2.0**-52 * share))


def _word(value: int, subject: str) -> int:
    number = checked_integer(value, subject)
    if not 0 <= number <= MASK:
        raise SeedError(subject, number)
    return number
