"""Tape operations and backward passes that cannot give a right answer (chapter 7)."""

from dataclasses import dataclass

from coursekit.errors.base import CourseError, shown


class AutodiffError(CourseError, ValueError):
    """A tape operation or a backward pass that cannot give a right answer."""


@dataclass(eq=False)
class NonFiniteLeaf(AutodiffError):
    """A parameter or constant would hold NaN or an infinity. `index` is flat, row-major."""

    index: int
    value: float

    def __str__(self) -> str:
        return f"leaf values must be finite; got {self.value} at flat index {self.index}"


@dataclass(eq=False)
class NonFiniteForward(AutodiffError):
    """An operation produced NaN or an infinity from finite operands."""

    operation: str
    index: int
    value: float

    def __str__(self) -> str:
        return (
            f"result of {self.operation} must be finite; "
            f"got {self.value} at flat index {self.index}"
        )


@dataclass(eq=False)
class NonFiniteVjp(AutodiffError):
    """An operation handed NaN or an infinity back to one of its operands."""

    operation: str
    operand: int
    index: int
    value: float

    def __str__(self) -> str:
        return (
            f"gradient of {self.operation} for operand {self.operand} must be finite; "
            f"got {self.value} at flat index {self.index}"
        )


@dataclass(eq=False)
class NonFinitePassAdjoint(AutodiffError):
    """Contributions from several consumers of one node were finite, their sum was not."""

    operation: str
    index: int
    value: float

    def __str__(self) -> str:
        return (
            f"sum of the gradients arriving at {self.operation} must be finite; "
            f"got {self.value} at flat index {self.index}"
        )


@dataclass(eq=False)
class NonFiniteSeed(AutodiffError):
    """The seed of a backward pass holds NaN or an infinity."""

    index: int
    value: float

    def __str__(self) -> str:
        return f"backward seed must be finite; got {self.value} at flat index {self.index}"


@dataclass(eq=False)
class NonFiniteAccumulatedGradient(AutodiffError):
    """The stored gradient plus the new one leaves the range of float64."""

    index: int
    value: float

    def __str__(self) -> str:
        return (
            "stored gradient plus the new gradient must be finite; "
            f"got {self.value} at flat index {self.index}"
        )


@dataclass(eq=False)
class SeedShapeMismatch(AutodiffError):
    """The seed does not have the shape of the output, or is missing for a non-scalar one."""

    expected: tuple[int, ...]
    given: tuple[int, ...] | None

    def __str__(self) -> str:
        given = "no seed, which only shape () allows" if self.given is None else str(self.given)
        return f"backward seed must have the output's shape {self.expected}; got {given}"


@dataclass(eq=False)
class UntrackedOutput(AutodiffError):
    """Backward was asked of a value that depends on no parameter, or was made under no_grad."""

    operation: str

    def __str__(self) -> str:
        return f"backward needs an output that depends on a parameter; got {self.operation}"


@dataclass(eq=False)
class GraphReleased(AutodiffError):
    """An earlier backward pass without `retain_graph` has released a part of this graph."""

    operation: str

    def __str__(self) -> str:
        return (
            "backward needs a graph that no earlier pass released (retain_graph=True keeps it); "
            f"got released node {self.operation}"
        )


@dataclass(eq=False)
class ReleasedOperand(AutodiffError):
    """A new operation was asked of a value whose graph has been released."""

    operation: str
    operand: int

    def __str__(self) -> str:
        return (
            f"operands of {self.operation} must not belong to a released graph; "
            f"got released operand {self.operand}"
        )


@dataclass(eq=False)
class StaleOperandValue(AutodiffError):
    """A parameter was assigned a new value after this graph had used the old one."""

    operation: str
    operand: int

    def __str__(self) -> str:
        return (
            "backward needs the values that forward used; "
            f"got operand {self.operand} of {self.operation} assigned since"
        )


@dataclass(eq=False)
class NotAParameter(AutodiffError):
    """`assign` or `zero_grad` was asked of something that is not a parameter."""

    request: str
    operation: str

    def __str__(self) -> str:
        return f"{self.request} needs a parameter; got the result of {self.operation}"


@dataclass(eq=False)
class ShapeMismatch(AutodiffError):
    """Shapes that the operation cannot bring together."""

    operation: str
    rule: str
    given: tuple[object, ...]

    def __str__(self) -> str:
        given = [one if isinstance(one, str) else shown(one, limit=1000) for one in self.given]
        return f"{self.operation} needs {self.rule}; got {' and '.join(given)}"
