"""Requests to name, scale or sample a parameter that cannot be met (chapters 3 to 6)."""

from dataclasses import dataclass

from coursekit.errors.base import CourseError, shown


class InitializationError(CourseError, ValueError):
    """A request to name, scale or sample a parameter that cannot be met."""


@dataclass(eq=False)
class EmptyName(InitializationError):
    """The name has no characters."""

    def __str__(self) -> str:
        return "parameter name must have at least one segment; got an empty string"


@dataclass(eq=False)
class EmptyNameSegment(InitializationError):
    """Two dots meet, or a dot begins or ends the name. `index` counts UTF-8 bytes."""

    index: int

    def __str__(self) -> str:
        return (
            "parameter name must have a character in every dot-separated segment; "
            f"got an empty segment at byte {self.index}"
        )


@dataclass(eq=False)
class InvalidNameCharacter(InitializationError):
    """A byte of the name is outside a–z, 0–9, `_` and `.`. `index` counts UTF-8 bytes."""

    index: int
    byte: int

    def __str__(self) -> str:
        return (
            "parameter name must consist of a-z, 0-9, '_' and '.'; "
            f"got byte 0x{self.byte:02x} at byte {self.index}"
        )


@dataclass(eq=False)
class ZeroFanIn(InitializationError):
    """No input feeds an output, so there is nothing to sum."""

    fan_in: int = 0

    def __str__(self) -> str:
        return f"fan-in must count at least one input; got {shown(self.fan_in)}"


@dataclass(eq=False)
class ZeroFanOut(InitializationError):
    """No output receives an input."""

    fan_out: int = 0

    def __str__(self) -> str:
        return f"fan-out must count at least one output; got {shown(self.fan_out)}"


@dataclass(eq=False)
class FanSumOverflow(InitializationError):
    """fan_in + fan_out reaches 2**64."""

    fan_in: int
    fan_out: int

    def __str__(self) -> str:
        return (
            "fan-in + fan-out must stay below 2**64; "
            f"got {shown(self.fan_in)} + {shown(self.fan_out)}"
        )


@dataclass(eq=False)
class ShapeProductOverflow(InitializationError):
    """fan_in × fan_out, the element count of the matrix, reaches 2**64."""

    fan_in: int
    fan_out: int

    def __str__(self) -> str:
        return (
            "element count fan-in × fan-out must stay below 2**64; "
            f"got {shown(self.fan_in)} × {shown(self.fan_out)}"
        )


@dataclass(eq=False)
class AllocationFailed(InitializationError):
    """The values would not fit into the memory that may be used for them."""

    elements: int

    def __str__(self) -> str:
        return (
            "storage of 8 bytes an element must fit into the memory at hand; "
            f"got {shown(self.elements)} elements"
        )


@dataclass(eq=False)
class NotBlockwise(InitializationError):
    """A block was asked of a rule that mixes all draws of a matrix into each of its elements."""

    rule: str
    shape: tuple[int, ...]
    block: tuple[int, ...]

    def __str__(self) -> str:
        return (
            "a block needs a rule with a draw of its own for each element; "
            f"got {self.block} of an {self.rule} matrix {self.shape}"
        )


@dataclass(eq=False)
class NonFiniteValue(InitializationError):
    """A value that should become a weight is NaN or infinite. `index` is flat, row-major."""

    subject: str
    index: int
    value: float

    def __str__(self) -> str:
        return f"{self.subject} must be finite; got {self.value} at flat index {self.index}"


@dataclass(eq=False)
class DuplicateName(InitializationError):
    """The first name that occurs a second time, with both positions."""

    name: str
    first: int
    repeated: int

    def __str__(self) -> str:
        return (
            f"parameter names must differ within a collection; got {self.name!r} "
            f"at index {self.first} and again at index {self.repeated}"
        )
