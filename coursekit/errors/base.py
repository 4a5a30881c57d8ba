"""What every refusal has in common, and the refusals that belong to no one topic."""

from dataclasses import dataclass, fields


class CourseError(Exception):
    """The common ancestor: `except CourseError` catches every refusal of this package."""

    def __post_init__(self) -> None:
        # Exception pickles and copies by calling the class with `args`.
        self.args = tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


@dataclass(eq=False)
class WrongType(CourseError, TypeError):
    """A value of the wrong type, such as a bool where a count is needed."""

    subject: str
    expected: str
    given: object

    def __str__(self) -> str:
        return (
            f"{self.subject} must be {self.expected}; "
            f"got {type(self.given).__name__} {shown(self.given)}"
        )


@dataclass(eq=False)
class UnknownChoice(CourseError, ValueError):
    """A name that is not on the list it is chosen from."""

    subject: str
    given: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.subject} must be one of {', '.join(self.known)}; got {shown(self.given)}"


@dataclass(eq=False)
class OutOfRange(CourseError, ValueError):
    """A number of the right type outside the range in which the request has a meaning."""

    subject: str
    rule: str
    given: object

    def __str__(self) -> str:
        return f"{self.subject} must be {self.rule}; got {shown(self.given)}"


@dataclass(eq=False)
class SeedError(CourseError, ValueError):
    """A seed or state that is not a 64-bit unsigned integer. It is refused, never masked."""

    subject: str
    given: int

    def __str__(self) -> str:
        return f"{self.subject} must be at least 0 and below 2**64; got {shown(self.given)}"


def shown(value: object, limit: int = 80) -> str:
    """What was given, as a message shows it: as it would be typed, cut where it gets long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no integer of more than 4300 digits
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        text = f"{type(value).__name__}{bits}, too long to print"
    return text if len(text) <= limit else text[: limit - 1] + "…"
