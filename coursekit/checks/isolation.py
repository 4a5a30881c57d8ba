"""Run an answer so that it cannot hang, print into, or break the check that tries it.

The answer runs in a thread of its own, because that works in a notebook on Linux, macOS and
Windows alike (a timer signal exists on two of them, and a process could not receive the functions
of a notebook). When its time is up, an exception is set in that thread; Python raises it at the
next loop or call, so that a `while True` ends, also one that swallows every `Exception`. What it
prints goes nowhere, its warnings are silent.

Not promised: an end to a call that never comes back to Python, such as `sum` over an endless
iterator. A call that waits without holding Python up, such as a long sleep, is left behind.
"""

import contextvars
import ctypes
import os
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

PATIENCE = 1.0  # seconds to wait for an answer that has been told to end
_NAP = 0.1


class OutOfTime(BaseException):
    """Raised inside an answer when its time is up. No `except Exception` stops it."""


@dataclass(frozen=True)
class Finished(Generic[T]):
    """The work came to its end in time."""

    value: T


@dataclass(frozen=True)
class Failed:
    """The work raised."""

    error: BaseException


@dataclass(frozen=True)
class TimeUp:
    """The work took too long; `stopped` tells whether it has ended since."""

    stopped: bool


def isolated(work: Callable[[], T], seconds: float) -> Finished[T] | Failed | TimeUp:
    """Call `work` with no arguments, silently, for at most `seconds`.

    An interrupt by the user ends the work too, and then goes on its way.

    >>> isolated(lambda: 6 * 7, seconds=5.0)
    Finished(value=42)
    """
    outcome: list[Finished[T] | Failed] = []

    def run() -> None:
        try:
            outcome.append(Finished(work()))
        except BaseException as error:
            outcome.append(Failed(error))

    with (
        open(os.devnull, "w", encoding="utf-8", errors="replace") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        context = contextvars.copy_context()  # NumPy's error state and the tape's are kept there
        ended = threading.Lock()
        ended.acquire()
        thread = threading.Thread(target=_contained, args=(context, run, ended), daemon=True)
        thread.start()
        try:
            in_time = _wait(thread, ended, seconds)
        except BaseException:
            _stop(thread, ended)
            raise
        if not in_time:
            return TimeUp(stopped=_stop(thread, ended))
    return outcome[0] if outcome else TimeUp(stopped=True)


def _contained(
    context: contextvars.Context, run: Callable[[], None], ended: threading.Lock
) -> None:
    with suppress(OutOfTime):  # which may come between the end of the work and of the thread
        try:
            context.run(run)
        finally:
            ended.release()


def _wait(thread: threading.Thread, ended: threading.Lock, seconds: float) -> bool:
    """Wait in short naps, between which Python notices an interrupt; return whether it has ended.

    Not by `join`: where an interrupt hits it, Python 3.11 takes a running thread for a stopped one.
    """
    deadline = time.monotonic() + seconds
    while thread.is_alive() and (left := deadline - time.monotonic()) > 0:
        if ended.acquire(timeout=min(left, _NAP)):
            ended.release()
            return True
    return not thread.is_alive()


def _stop(thread: threading.Thread, ended: threading.Lock) -> bool:
    """Raise `OutOfTime` in `thread`, again and again; return whether it has ended."""
    set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        set_exception(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(OutOfTime))
        if _wait(thread, ended, _NAP / 2):
            return True
    return False
