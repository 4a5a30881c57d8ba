"""What comes back when an answer is missing or wrong, and how a mistake is told from its result.

A wrong number often says how it came about. An exercise lists what its own mistakes lead to, each
with a hint; `slip` knows those of any calculation. Only then does the general hint speak.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coursekit.checks.misconceptions import Misconception
from coursekit.checks.tolerances import Tolerance

FloatArray = NDArray[np.float64]
Hint = str | Misconception


class NotStarted(Exception):
    """There is no answer yet; the text says where it is missing."""


class Wrong(Exception):
    """The answer is not right: what was given, the form that was expected, and one hint."""

    def __init__(self, got: str, expected: str, hint: Hint) -> None:
        super().__init__(got, expected, hint)
        self.got, self.expected = got, expected
        self.hint = hint.hint if isinstance(hint, Misconception) else hint


@dataclass(frozen=True)
class Mistake:
    """What a certain mistake leads to, and the hint for it.

    `leads_to` is the wrong value, compared with the tolerance of the right one, or a function that
    is given the plain answer and tells whether this mistake was made.
    """

    leads_to: Any
    hint: Hint

    def made(self, given: Any, tolerance: Tolerance) -> bool:
        if callable(self.leads_to):
            return bool(self.leads_to(given))
        return tolerance.holds(given, np.asarray(self.leads_to, dtype=np.float64))


def slip(given: FloatArray, right: FloatArray, tolerance: Tolerance) -> str:
    """Name what often goes wrong in any calculation; return nothing when it is none of these.

    >>> slip(np.array(4.0), np.array(0.25), Tolerance(1e-9, 0.0, ""))
    'That is one over the right number.'
    """
    if not tolerance.is_narrow(right):
        return ""
    with np.errstate(all="ignore"):
        if tolerance.holds(-given, right):
            return "Only the sign is wrong."
        if right.all() and tolerance.holds(1 / given, right):
            return "That is one over the right number."
        if (right > 0).all() and tolerance.holds(np.sqrt(given), right):
            return "That is the square of the right number: a root is missing."
        if (right > 0).all() and tolerance.holds(given * given, right):
            return "That is the root of the right number: a square is missing."
        if tolerance.holds(given / 2, right) or tolerance.holds(given * 2, right):
            return "A factor of 2 is missing or too much."
        if np.allclose(given, right, rtol=2e-3, atol=0) and (given == np.round(given, 6)).all():
            return "Rounded too early: hand over the computed number with all its digits."
    return ""
