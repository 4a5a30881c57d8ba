"""Read an answer in the form that a question asks for, and compare it with the right one.

An answer may be any object, also one that lies about itself. So it is turned first into plain
Python numbers, strings or a fresh float64 array, and only those are compared. Whatever is not as it
should be ends in `Wrong` (what was given, which form was expected, one hint) or in `NotStarted`.
Nothing here changes the answer, except by calling it if it is a function.
"""

import copy
import inspect
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from coursekit.autodiff import Tensor
from coursekit.checks.calls import answer_to_error, name_of, unchanged, written
from coursekit.checks.describe import class_name, describe, one_line
from coursekit.checks.isolation import OutOfTime
from coursekit.checks.misconceptions import OUTPUT_FIRST
from coursekit.checks.mistakes import Hint, Mistake, NotStarted, Wrong, slip
from coursekit.checks.tolerances import Tolerance

FloatArray = NDArray[np.float64]


class Answer:
    """One object that a learner handed over, or that a learner's function returned.

    Args:
        value: the object.
        label: how it is called in the line that the learner reads, such as `scale(4, 2)`.
    """

    def __init__(self, value: object, label: str = "") -> None:
        self.value = value
        self.label = label

    def __repr__(self) -> str:
        return f"Answer({describe(self.value)})"

    def got(self) -> str:
        """Say what it is, in one line."""
        shown = describe(self.value)
        return f"{one_line(self.label)} = {shown}" if self.label else shown

    def reject(self, expected: str, hint: Hint) -> NoReturn:
        """Raise `Wrong` with what was given."""
        raise Wrong(self.got(), expected, hint)

    def require_started(self) -> None:
        """Raise `NotStarted` for the dots, None, and collections that still hold the dots."""
        if self.value is None:
            raise NotStarted(f"{self.label or 'the answer'} is None so far.")
        if self.value is NotImplemented or _holds_dots(self.value):
            raise NotStarted(f"{self.label or 'the answer'} still holds the dots.")

    # --- one value ----------------------------------------------------------------------------

    def number(self, expected: str = "one real number") -> float:
        """Return it as a finite float; True is no number, and neither is a string of digits."""
        value = self._plain()
        kind = type(value)
        if callable(value):
            self.reject(expected, "That is a function: hand over what it returns.")
        if isinstance(value, (str, bytes)):
            self.reject(expected, "Leave the quotation marks out.")
        if isinstance(value, (list, tuple, np.ndarray)):
            self.reject(expected, "Hand over the number itself, in no list or array.")
        if kind is bool or not isinstance(value, _REAL):
            self.reject(expected, f"A {class_name(value)} is not a real number.")
        try:
            number = float(value)
        except (OverflowError, ValueError):
            number = math.inf
        if not math.isfinite(number):
            self.reject(expected, _NOT_FINITE)
        return number

    def integer(self, expected: str = "one integer") -> int:
        """Return it as a Python integer; 2.0 is none."""
        value = self._plain()
        if type(value) is int:
            return value
        if type(value) is float and value.is_integer():
            self.reject(expected, f"Its type is float: write {value:.0f} without a point.")
        self.number(expected)
        self.reject(expected, "It has to be whole, as a count or a seed is.")

    def truth(self, expected: str = "True or False") -> bool:
        """Return it as a bool; 1 and "True" are none."""
        value = self._plain()
        if type(value) is bool:
            return value
        if isinstance(value, np.ndarray):
            self.reject(expected, "That judges element by element: sum it up in one.")
        self.reject(expected, "Write True or False, without quotation marks.")

    def text(self, expected: str = "a text in quotation marks") -> str:
        """Return it as a plain string."""
        value = self._plain()
        if isinstance(value, str):
            return str.__str__(value)
        self.reject(expected, "Put it in quotation marks.")

    def choice(self, options: Sequence[str]) -> str:
        """Return the option that is named, whatever its case and surrounding blanks."""
        expected = f"one of {', '.join(options)}, in quotation marks"
        given = self.text(expected).strip().lower()
        for option in options:
            if option.lower() == given:
                return option
        self.reject(expected, "Choose one of these, spelled as they are.")

    def choices(self, options: Sequence[str]) -> frozenset[str]:
        """Return the options that are named in a list, tuple or set, in any order."""
        expected = f"a list of some of {', '.join(options)}, in quotation marks"
        if not isinstance(self.value, (list, tuple, set, frozenset)):
            self.reject(expected, "Write them in square brackets, also if it is only one.")
        try:
            return frozenset(Answer(one).choice(options) for one in self.value)
        except Wrong as wrong:
            self.reject(expected, wrong.hint)

    def _plain(self) -> Any:
        """Turn NumPy's scalars, arrays without axes, and tensors without axes into Python's."""
        value = self.value
        if isinstance(value, Tensor):
            value = value.value
        if isinstance(value, np.ndarray) and value.shape == ():
            value = value.reshape(-1)[0]
        if isinstance(value, np.floating):
            return float(value)
        return value.item() if isinstance(value, np.generic) else value

    # --- several values -----------------------------------------------------------------------

    def array(self, *shape: int | None, expected: str = "") -> FloatArray:
        """Return it as a fresh float64 array of this shape; None stands for any length.

        Tensors, arrays and nested lists of real numbers are read alike.
        """
        form = ", ".join("any" if n is None else str(n) for n in shape)
        expected = expected or f"real numbers in the shape ({form}{',' * (len(shape) == 1)})"
        value = self.value.value if isinstance(self.value, Tensor) else self.value
        if callable(value):
            self.reject(expected, "That is a function: hand over what it returns.")
        try:
            found = np.asarray(value)
        except ValueError:
            self.reject(expected, "Its rows have unequal lengths.")
        if found.dtype.kind not in "iuf":
            self.reject(expected, "Every element has to be a real number.")
        if len(found.shape) != len(shape) or any(
            n is not None and n != m for n, m in zip(shape, found.shape, strict=True)
        ):
            turned = tuple(shape) == found.shape[::-1] and len(shape) == 2
            self.reject(expected, OUTPUT_FIRST if turned else f"Its shape is {tuple(found.shape)}.")
        plain = np.array(found, dtype=np.float64, order="C", subok=False)
        if not np.isfinite(plain).all():
            self.reject(expected, _NOT_FINITE)
        return plain

    def items(self, count: int, expected: str = "") -> list["Answer"]:
        """Return the elements of a list, tuple or array of `count`, each as an answer."""
        expected = expected or f"a list of {count}"
        value = self.value
        if not isinstance(value, (list, tuple, np.ndarray)) or getattr(value, "shape", None) == ():
            self.reject(expected, "Write the elements in square brackets, in the order asked for.")
        elements = list(value)
        if len(elements) != count:
            self.reject(
                expected, f"There are {len(elements)} elements where {count} are asked for."
            )
        label = self.label or "answer"
        answers = [Answer(one, f"{label}[{place}]") for place, one in enumerate(elements)]
        for answer in answers:
            answer.require_started()
        return answers

    def integers(self, count: int, expected: str = "") -> list[int]:
        """Return its elements as Python integers, exact up to any size."""
        expected = expected or f"a list of {count} integers"
        return [one.integer(expected) for one in self.items(count, expected)]

    def entries(self, keys: Sequence[str], expected: str = "") -> dict[str, "Answer"]:
        """Return the values of a dict with exactly these keys, each as an answer."""
        expected = expected or f"a dict with the keys {', '.join(keys)}"
        value = self.value
        if not isinstance(value, dict):
            self.reject(expected, "Fill in the dict of the exercise and hand it over.")
        missing = [key for key in keys if key not in value]
        if missing:
            self.reject(expected, f"There is no entry {missing[0]!r}.")
        if len(value) > len(keys):
            self.reject(expected, f"It has {len(value)} entries where {len(keys)} are asked for.")
        label = self.label or "answer"
        answers = {key: Answer(value[key], f"{label}[{key!r}]") for key in keys}
        for answer in answers.values():
            answer.require_started()
        return answers

    def function(self, signature: str) -> "Function":
        """Return it as a function of these arguments, such as "fan_in, fan_out"."""
        expected = f"a function of ({signature})"
        if not callable(self.value):
            self.reject(expected, "Hand over the function itself: its name, no brackets after it.")
        count = len(signature.split(",")) if signature else 0
        try:
            inspect.signature(self.value).bind(*[None] * count)
        except TypeError:
            self.reject(expected, "It cannot be called with these arguments.")
        except Exception:
            pass  # a callable that hides its signature is tried as it is
        return Function(self.value, self.label or name_of(self.value))

    # --- comparison -----------------------------------------------------------------------------

    def expect(
        self,
        right: float | FloatArray,
        tolerance: Tolerance,
        hint: Hint,
        mistakes: Sequence[Mistake] = (),
        form: str = "",
    ) -> None:
        """Raise `Wrong` unless it is `right` within `tolerance`.

        Args:
            right: a number or an array; its shape is the form that is expected.
            hint: for a wrong answer that no mistake below explains.
            mistakes: tried in order; then the usual slips of any calculation.
            form: what the number is, in words.
        """
        target = np.asarray(right, dtype=np.float64)
        shape = f"an array of shape {target.shape}" if target.shape else "one number"
        expected = f"{form or shape}, {tolerance.said}"
        given = self.array(*target.shape, expected=expected) if target.shape else None
        plain = np.asarray(self.number(expected)) if given is None else given
        if tolerance.holds(plain, target):
            return
        for mistake in mistakes:
            if mistake.made(plain if target.shape else float(plain), tolerance):
                self.reject(expected, mistake.hint)
        self.reject(expected, slip(plain, target, tolerance) or hint)


_REAL = (int, float, Fraction, Decimal)
_COPY = "Work on a copy: the caller goes on using what was passed in."
_NOT_FINITE = "NaN comes from 0/0 or ∞ − ∞, infinity from a division by 0 or an overflow."


class Function:
    """A learner's function: called on copies, watched, and its failures answered.

    A call passes on exactly the objects it is given. A generator may move on; an array, list or
    dict that has changed afterwards is answered with `Wrong`.
    """

    def __init__(self, function: Callable[..., object], name: str) -> None:
        self._function, self.name = function, name

    def __call__(self, *arguments: object) -> Answer:
        """Return what the function returns; dots, None and missing names mean not started."""
        label = self.called_with(*arguments)
        before = copy.deepcopy(arguments)
        error = None
        try:
            value = self._function(*arguments)
        except OutOfTime:
            raise
        except NotImplementedError:
            raise NotStarted(f"{label} raises NotImplementedError.") from None
        except BaseException as caught:
            error = caught
        if error is not None:
            answer_to_error(error, label)
        for place, (old, new) in enumerate(zip(before, arguments, strict=True)):
            if not unchanged(old, new):
                got = f"{label} that changed its argument {place} to {describe(new)}"
                raise Wrong(got, "a function that leaves its arguments alone", _COPY)
        if value is None:
            raise NotStarted(f"{label} returns nothing: it has to end with return.")
        answer = Answer(value, label)
        answer.require_started()
        return answer

    def refusal(self, *arguments: object) -> BaseException | None:
        """Return what the function raises on these arguments, None if it returns."""
        try:
            self._function(*arguments)
        except OutOfTime:
            raise
        except BaseException as error:
            return error
        return None

    def called_with(self, *arguments: object) -> str:
        """Write the call as a learner would: `scale(4, 2)`."""
        return f"{self.name}({', '.join(map(written, arguments))})"


def _holds_dots(value: object, depth: int = 3) -> bool:
    """Whether this is `...`, or a list, tuple or dict with `...` somewhere in it."""
    if value is ... or depth == 0:
        return value is ...
    if type(value) is dict:
        value = list(value.values())
    if type(value) not in (list, tuple, set, frozenset):
        return False
    return any(_holds_dots(one, depth - 1) for one in value)  # type: ignore[attr-defined]
