"""What surrounds a call of a learner's function: how it is written, and what it may not do."""

from typing import NoReturn

import numpy as np

from coursekit.checks.describe import describe, raised
from coursekit.checks.mistakes import NotStarted, Wrong
from coursekit.rng import SplitMix64


def answer_to_error(error: BaseException, label: str) -> NoReturn:
    """Raise `NotStarted` for a name that is missing, `Wrong` with a hint for everything else."""
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        missing = describe(error.name) if error.name else "that"
        raise NotStarted(f"{label} needs the name {missing}, which is not defined yet.")
    hint = "Call it so in a cell of its own and read the last line of the traceback."
    if isinstance(error, RecursionError):
        hint = "It calls itself without end: which case should answer without a further call?"
    if isinstance(error, MemoryError):
        hint = "It asks for more memory than there is: which size grows beyond the question?"
    raise Wrong(f"{label} raising {raised(error)}", "a value", hint)


def unchanged(old: object, new: object) -> bool:
    """Whether a passed argument still is what it was; of a generator, movement is no change."""
    if type(old) is not type(new):
        return False
    match old, new:
        case np.ndarray(), np.ndarray():
            return old.shape == new.shape and old.tobytes() == new.tobytes()
        case (list() | tuple(), list() | tuple()):
            return len(old) == len(new) and all(map(unchanged, old, new))
        case dict(), dict():
            return old.keys() == new.keys() and all(unchanged(old[key], new[key]) for key in old)
        case (SplitMix64(), _):
            return True
        case (bool() | int() | float() | str() | bytes() | None, _):
            return old == new or (old != old and new != new)
    return True


def written(value: object) -> str:
    """Write an argument as a learner would; a generator is called rng.

    >>> written(np.array([1.0, 2.0])), written(SplitMix64(17))
    ('[1.0, 2.0]', 'rng')
    """
    match value:
        case SplitMix64():
            return "rng"
        case np.ndarray() if value.size <= 4:
            return str(value.tolist())
        case list() | tuple() if len(value) <= 4:
            inner = ", ".join(map(written, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return describe(value)


def name_of(function: object) -> str:
    """Return what the learner called the function, if it has a name."""
    name = getattr(function, "__name__", "")
    return name if type(name) is str and name.isidentifier() else "your function"
