"""Show any object in one short line, whatever its own `repr` does.

A learner reads what was handed over, not an address in memory; the same object gives the same line
on every run. Objects of unknown classes are asked for their `repr`, which may raise, be endless or
take its time; the first two are dealt with here, the third by the time limit of a check.
"""

import re
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from coursekit.autodiff import Tensor

LONGEST = 100  # characters
SHOWN = 4  # elements of a collection
DEEPEST = 2  # collections within collections
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_NAME: Any = type.__dict__["__name__"]  # asks the class itself, past what a metaclass may define


def describe(value: object) -> str:
    """Return one line of at most 100 characters.

    >>> describe(np.array([[0.5, 1.0]]))
    'array of shape (1, 2): 0.5, 1.0'
    >>> describe([1, "two", None, 4, 5])
    "list of 5: 1, 'two', None, 4, …"
    >>> describe(describe)
    'the function describe'
    """
    try:
        text = _shown(value, DEEPEST)
    except Exception:
        text = f"an object of class {class_name(value)} that cannot be shown"
    return one_line(text)


def class_name(value: object) -> str:
    """Return the name of the class of `value`.

    >>> class_name(1.5)
    'float'
    """
    return str.__str__(_NAME.__get__(type(value)))


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return `text` without line breaks, addresses and unprintable characters, shortened.

    >>> one_line("<object at 0x7f00>\\n  here")
    '<object> here'
    """
    text = str.__getitem__(text, slice(50 * LONGEST))
    text = " ".join(_ADDRESS.sub("", text).split())
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _shown(value: object, depth: int) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if kind is int and value.bit_length() > 256:  # type: ignore[attr-defined]
        return f"an integer of {value.bit_length()} bits"  # type: ignore[attr-defined]
    if kind in (str, bytes):
        return repr(value[:LONGEST])  # type: ignore[index]
    if kind in (list, tuple, dict, set, frozenset):
        return _collection(value, depth)
    match value:
        case Tensor():
            return f"tensor of shape {value.shape}: {_elements(value.value)}"
        case np.ndarray():
            return f"array of shape {value.shape}: {_elements(value)}"
        case types.FunctionType() | types.BuiltinFunctionType() | types.MethodType():
            return f"the function {value.__name__}"
        case types.ModuleType():
            return f"the module {value.__name__}"
        case type():
            return f"the class {_NAME.__get__(value)}"
        case BaseException():
            return raised(value)
    return repr(value)


def raised(error: BaseException) -> str:
    """Return class and message of an exception in one line.

    >>> raised(ValueError("no"))
    'ValueError: no'
    """
    try:
        message = str(error)
    except Exception:
        message = ""
    return one_line(f"{class_name(error)}: {message}" if message else class_name(error))


def _collection(value: Any, depth: int) -> str:
    name = f"{type(value).__name__} of {len(value)}"
    if not value:
        return f"an empty {type(value).__name__}"
    if depth == 0:
        return name
    if isinstance(value, dict):
        shown = [f"{_shown(k, 0)}: {_shown(v, depth - 1)}" for k, v in _first(value.items())]
    elif isinstance(value, (set, frozenset)):
        shown = sorted(_shown(one, depth - 1) for one in value)[:SHOWN]  # sets have no order
    else:
        shown = [_shown(one, depth - 1) for one in _first(value)]
    return f"{name}: {', '.join(shown)}{', …' if len(value) > SHOWN else ''}"


def _elements(array: Any) -> str:
    plain = np.asarray(array)
    shown = ", ".join(_shown(one, 0) for one in plain.flat[:SHOWN])
    return shown + (", …" if plain.size > SHOWN else "")


def _first(values: Iterable[Any]) -> list[Any]:
    return [one for _, one in zip(range(SHOWN), values, strict=False)]
