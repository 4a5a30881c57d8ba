"""Every typed rejection of `coursekit`, in one place.

Chapter 6 teaches the rule behind this module: a refused request names its subject, states the
rule and shows what was given, and nothing is changed or lost by it. Each error is a small class
under the built-in exception it specializes; its fields say the same as its sentence, so that a
program can act on what a person reads.

The module promises class names and fields. The wording of a sentence may improve.
"""

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
            f"got {type(self.given).__name__} {_shortened(self.given)}"
        )


@dataclass(eq=False)
class UnknownChoice(CourseError, ValueError):
    """A name that is not on the list it is chosen from."""

    subject: str
    given: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.subject} must be one of {', '.join(self.known)}; got {self.given!r}"


@dataclass(eq=False)
class OutOfRange(CourseError, ValueError):
    """A number of the right type outside the range in which the request has a meaning."""

    subject: str
    rule: str
    given: object

    def __str__(self) -> str:
        return f"{self.subject} must be {self.rule}; got {_shortened(self.given)}"


@dataclass(eq=False)
class SeedError(CourseError, ValueError):
    """A seed or state that is not a 64-bit unsigned integer. It is refused, never masked."""

    subject: str
    given: int

    def __str__(self) -> str:
        return f"{self.subject} must be at least 0 and below 2**64; got {self.given}"


# --- initialization ---------------------------------------------------------------------------


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
        return f"fan-in must count at least one input; got {self.fan_in}"


@dataclass(eq=False)
class ZeroFanOut(InitializationError):
    """No output receives an input."""

    fan_out: int = 0

    def __str__(self) -> str:
        return f"fan-out must count at least one output; got {self.fan_out}"


@dataclass(eq=False)
class FanSumOverflow(InitializationError):
    """fan_in + fan_out reaches 2**64."""

    fan_in: int
    fan_out: int

    def __str__(self) -> str:
        return f"fan-in + fan-out must stay below 2**64; got {self.fan_in} + {self.fan_out}"


@dataclass(eq=False)
class ShapeProductOverflow(InitializationError):
    """fan_in × fan_out, the element count of the matrix, reaches 2**64."""

    fan_in: int
    fan_out: int

    def __str__(self) -> str:
        return (
            "element count fan-in × fan-out must stay below 2**64; "
            f"got {self.fan_in} × {self.fan_out}"
        )


@dataclass(eq=False)
class AllocationFailed(InitializationError):
    """The values would not fit into the memory that may be used for them."""

    elements: int

    def __str__(self) -> str:
        return (
            "storage of 8 bytes an element must fit into the memory at hand; "
            f"got {self.elements} elements"
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


@dataclass(eq=False)
class DamagedFile(CourseError, ValueError):
    """A file that is not what this package wrote. Nothing was taken from it."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"file must be one that `save` wrote, whole; got {self.path}: {self.reason}"


@dataclass(eq=False)
class NotebookRefused(CourseError, ValueError):
    """A notebook that cannot be refreshed. The file is as it was."""

    path: str
    cell: str | None
    reason: str

    def __str__(self) -> str:
        where = self.path if self.cell is None else f"{self.path}, {self.cell}"
        return f"{where}: {self.reason}"


@dataclass(eq=False)
class CourseNotFound(CourseError, LookupError):
    """Neither the current folder nor the one around the package holds the notebooks."""

    missing: str
    current: str
    package: str

    def __str__(self) -> str:
        return (
            f"the course must be run from its own folder, which holds {self.missing}; got neither "
            f"{self.current} nor {self.package}"
        )


@dataclass(eq=False)
class PackageMissing(CourseError, LookupError):
    """A package that this request needs is not installed for this Python."""

    package: str
    cure: str = "run pip install -c constraints.txt -e . in the folder of the course"

    def __str__(self) -> str:
        return f"this needs the package {self.package}; got a Python without it. Cure: {self.cure}"


# --- automatic differentiation ----------------------------------------------------------------


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
        return f"{self.operation} needs {self.rule}; got {' and '.join(map(str, self.given))}"


# --- normalization ----------------------------------------------------------------------------


class NormalizationError(CourseError, ValueError):
    """A normalization that has no defined value."""


@dataclass(eq=False)
class InvalidEpsilon(NormalizationError):
    """Epsilon is negative, NaN or infinite."""

    epsilon: float

    def __str__(self) -> str:
        return f"epsilon must be finite and at least 0; got {self.epsilon}"


@dataclass(eq=False)
class EmptyFeatureWidth(NormalizationError):
    """There is no feature to take statistics of."""

    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"input must have at least one feature on its last axis; got shape {self.shape}"


@dataclass(eq=False)
class WidthMismatch(NormalizationError):
    """A gain or shift does not have one element for each feature."""

    subject: str
    width: int
    given: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.subject} must have shape ({self.width},); got {self.given}"


@dataclass(eq=False)
class ZeroEnergyRow(NormalizationError):
    """Epsilon is exactly 0 and a row (or feature) has no spread to divide by."""

    row: int

    def __str__(self) -> str:
        return f"with epsilon 0 every row must have spread; got none in row {self.row}"


@dataclass(eq=False)
class BatchTooSmall(NormalizationError):
    """One value a feature has no spread: its variance is 0 and its unbiased variance undefined."""

    count: int

    def __str__(self) -> str:
        return f"training batch must have at least 2 values a feature; got {self.count}"


def _shortened(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
