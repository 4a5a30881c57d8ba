"""Many draws of SplitMix64 at once, equal bit for bit to drawing them one by one.

Chapter 2 shows that draw k is a function of position alone: mix(state + (k + 1)·G). So any block
of draws can be computed without the draws before it, in any order, by any number of threads. This
module does so with NumPy, in chunks that stay in the processor's cache. A rectangle cut out of a
matrix is a block too, with gaps between its rows (`Rows`); chapter 13 lives on that.

Source: G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators,
OOPSLA 2014 (the generator); the block form follows from its second line.
Not promised: a particular number of threads. `COURSEKIT_THREADS` limits it; no bit depends on it.
"""

import math
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.normal import inverse_normal_block

Words = NDArray[np.uint64]
FloatArray = NDArray[np.float64]
# Turns one chunk of words into its part of the result. The scratch arrays are free for use.
Finish = Callable[[Words, NDArray[np.generic], list[FloatArray]], None]

MASK = 2**64 - 1
INCREMENT = 0x9E3779B97F4A7C15
MIX_ONE = 0xBF58476D1CE4E5B9
MIX_TWO = 0x94D049BB133111EB
UNIT = 2.0**-53

CHUNK = 1 << 16  # draws: small enough for the cache, large enough to outlast a thread switch
THREADED = 1 << 17  # below this many draws a second thread costs more than it brings
MOST_THREADS = 2  # a third would mostly wait for the interpreter lock

# Zero-dimensional arrays: NumPy would convert a Python int at every call.
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11, _SHIFT_12 = (
    np.array(shift, dtype=np.uint64) for shift in (30, 27, 31, 11, 12)
)
_MIX_ONE, _MIX_TWO = np.array(MIX_ONE, dtype=np.uint64), np.array(MIX_TWO, dtype=np.uint64)


class Rows(NamedTuple):
    """How a block lies on the stream: rows of `width` draws that begin `stride` draws apart.

    Rows 4 and 5, columns 2 to 6, of a matrix [8, 10] are two rows of width 5, stride 10. Where no
    `Rows` are given, the draws follow one another without a gap.
    """

    width: int
    stride: int


def raw_block(state: int, count: int) -> Words:
    """Return the `count` words that follow `state`."""
    result = np.empty(count, dtype=np.uint64)
    _fill(state, result, _copy)
    return result


def affine_block(
    state: int, count: int, low: float, span: float, rows: Rows | None = None
) -> FloatArray:
    """Return low + span·u for `count` draws u in [0, 1)."""

    def finish(words: Words, part: NDArray[np.generic], _: list[FloatArray]) -> None:
        np.right_shift(words, _SHIFT_11, out=words)
        np.multiply(words.view(np.int64), UNIT, out=part)
        if (low, span) != (0.0, 1.0):
            np.multiply(part, span, out=part)
            np.add(part, low, out=part)

    return _filled(state, count, finish, rows=rows)


def symmetric_block(state: int, count: int, limit: float, rows: Rows | None = None) -> FloatArray:
    """Return limit·(2u − 1) for `count` draws.

    With k = 2**53·u an integer, 2u − 1 = (k − 2**52)·2**-52 without rounding. Scaling by a power
    of two moves no bit either, so one product of limit·2**-52 and k − 2**52 rounds as the formula
    does, provided that nothing underflows.
    """
    if 0.0 < abs(limit) < 2.0**-900:
        return np.multiply(affine_block(state, count, -1.0, 2.0, rows), limit)
    unit_limit = limit * 2.0**-52

    def finish(words: Words, part: NDArray[np.generic], _: list[FloatArray]) -> None:
        np.right_shift(words, _SHIFT_11, out=words)
        np.subtract(words.view(np.int64), 2.0**52, out=part)
        np.multiply(part, unit_limit, out=part)

    return _filled(state, count, finish, rows=rows)


def normal_block(
    state: int,
    count: int,
    mean: float,
    standard_deviation: float,
    share: float,
    rows: Rows | None = None,
) -> FloatArray:
    """Return mean + standard_deviation·z for `count` normal draws z, cut to a middle share."""

    def finish(words: Words, part: NDArray[np.generic], scratch: list[FloatArray]) -> None:
        q, r, bottom = (spare[: words.size] for spare in scratch)
        np.right_shift(words, _SHIFT_12, out=words)
        # The midpoint of cell k of 2**52 equal cells, less one half: (2k + 1 − 2**52)·2**-53.
        np.subtract(words.view(np.int64), 2.0**51 - 0.5, out=q)
        np.multiply(q, 2.0**-52 * share, out=q)
        inverse_normal_block(q, part, r, bottom)  # type: ignore[arg-type]
        np.multiply(part, standard_deviation, out=part)
        np.add(part, mean, out=part)

    return _filled(state, count, finish, spares=3, rows=rows)


def words_at(state: int, offsets: Words) -> Words:
    """Return the words at these offsets after `state`, offset 0 being the next draw."""
    words = offsets + np.uint64(1)
    np.multiply(words, np.uint64(INCREMENT), out=words)
    np.add(words, np.uint64(state), out=words)
    _mix(words, np.empty_like(words))
    return words


def _filled(
    state: int, count: int, finish: Finish, spares: int = 0, rows: Rows | None = None
) -> FloatArray:
    result = np.empty(count, dtype=np.float64)
    _fill(state, result, finish, spares, rows)
    return result


def _fill(
    state: int,
    result: NDArray[np.generic],
    finish: Finish,
    spares: int = 0,
    rows: Rows | None = None,
) -> None:
    """Fill `result`, the calling thread and its helper taking one stretch each.

    Stretches, not every other chunk: two threads that touch one page for the first time wait for
    one another.
    """
    count = result.size
    workers = min(_threads(), math.ceil(count / THREADED))
    stretch = CHUNK * math.ceil(count / max(workers, 1) / CHUNK)
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            size = min(CHUNK, count)
            words = _aligned(size, np.uint64)
            scratch = [_aligned(size, np.float64) for _ in range(max(spares, 1))]
            spare = scratch[0].view(np.uint64)  # free until the words are mixed
            end = min(count, (worker + 1) * stretch)
            for start in range(worker * stretch, end, CHUNK):
                part = result[start : min(start + CHUNK, end)]
                _words(state, start, words[: part.size], spare[: part.size], rows)
                finish(words[: part.size], part, scratch)
        except BaseException as failure:
            failures.append(failure)

    helpers = [threading.Thread(target=work, args=(worker,)) for worker in range(1, workers)]
    for helper in helpers:
        helper.start()
    if count:
        work(0)
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]


def _words(state: int, start: int, words: Words, spare: Words, rows: Rows | None) -> None:
    """Write the draws start, start + 1, … of a block after `state` into `words`."""
    _place(state, start, words, rows)
    _mix(words, spare)


def _place(state: int, start: int, words: Words, rows: Rows | None) -> None:
    """Write into `words` the states that those draws mix."""
    if rows is None or rows.width == rows.stride:
        np.add(_steps()[: words.size], _state_at(state, start), out=words)
        return
    while words.size:
        row, column = divmod(start, rows.width)
        origin = _state_at(state, row * rows.stride + column)
        whole = words.size // rows.width if column == 0 else 0
        if whole:
            here = words[: whole * rows.width].reshape(whole, rows.width)
            starts = np.arange(whole, dtype=np.uint64) * np.uint64(rows.stride * INCREMENT & MASK)
            np.add(_steps()[: rows.width], (starts + origin)[:, np.newaxis], out=here)
        else:  # the end of a row, or its beginning
            here = words[: rows.width - column]
            np.add(_steps()[: here.size], origin, out=here)
        start, words = start + here.size, words[here.size :]


def _state_at(state: int, draws: int) -> Any:
    return np.array((state + draws * INCREMENT) & MASK, dtype=np.uint64)


def _mix(words: Words, spare: Words) -> None:
    """The three mixing lines of `SplitMix64.next_u64`, on an array, modulo 2**64."""
    np.right_shift(words, _SHIFT_30, out=spare)
    np.bitwise_xor(words, spare, out=words)
    np.multiply(words, _MIX_ONE, out=words)
    np.right_shift(words, _SHIFT_27, out=spare)
    np.bitwise_xor(words, spare, out=words)
    np.multiply(words, _MIX_TWO, out=words)
    np.right_shift(words, _SHIFT_31, out=spare)
    np.bitwise_xor(words, spare, out=words)


def _copy(words: Words, part: NDArray[np.generic], _: list[FloatArray]) -> None:
    part[...] = words


@cache
def _steps() -> Words:
    """G, 2G, … CHUNK·G modulo 2**64: how far each draw of a chunk lies from its origin."""
    return np.arange(1, CHUNK + 1, dtype=np.uint64) * np.uint64(INCREMENT)


def _aligned(count: int, dtype: type) -> NDArray[Any]:
    """Scratch that begins on a cache line: a fifth faster in NumPy's vector loops."""
    memory = np.empty(8 * count + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + 8 * count].view(dtype)


def _threads() -> int:
    limit = os.environ.get("COURSEKIT_THREADS", "")
    if limit.isdecimal() and int(limit) > 0:
        return int(limit)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MOST_THREADS)
