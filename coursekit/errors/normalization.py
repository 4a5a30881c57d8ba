"""Normalizations that have no defined value (chapters 9 and 10)."""

from dataclasses import dataclass

from coursekit.errors.base import CourseError


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
