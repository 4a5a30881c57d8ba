"""Every typed rejection of `coursekit`, in one place.

Chapter 6 teaches the rule behind this module: a refused request names its subject, states the
rule and shows what was given, and nothing is changed or lost by it. Each error is a small class
under the built-in exception it specializes; its fields say the same as its sentence, so that a
program can act on what a person reads.

The module promises class names and fields. The wording of a sentence may improve.
"""

from coursekit.errors.autodiff import (
    AutodiffError,
    GraphReleased,
    NonFiniteAccumulatedGradient,
    NonFiniteForward,
    NonFiniteLeaf,
    NonFinitePassAdjoint,
    NonFiniteSeed,
    NonFiniteVjp,
    NotAParameter,
    ReleasedOperand,
    SeedShapeMismatch,
    ShapeMismatch,
    StaleOperandValue,
    UntrackedOutput,
)
from coursekit.errors.base import (
    CourseError,
    OutOfRange,
    SeedError,
    UnknownChoice,
    WrongType,
)
from coursekit.errors.files import (
    CourseNotFound,
    DamagedFile,
    NotebookRefused,
    PackageMissing,
)
from coursekit.errors.initialization import (
    AllocationFailed,
    DuplicateName,
    EmptyName,
    EmptyNameSegment,
    FanSumOverflow,
    InitializationError,
    InvalidNameCharacter,
    NonFiniteValue,
    NotBlockwise,
    ShapeProductOverflow,
    ZeroFanIn,
    ZeroFanOut,
)
from coursekit.errors.normalization import (
    BatchTooSmall,
    EmptyFeatureWidth,
    InvalidEpsilon,
    NormalizationError,
    WidthMismatch,
    ZeroEnergyRow,
)

__all__ = [
    "AllocationFailed",
    "AutodiffError",
    "BatchTooSmall",
    "CourseError",
    "CourseNotFound",
    "DamagedFile",
    "DuplicateName",
    "EmptyFeatureWidth",
    "EmptyName",
    "EmptyNameSegment",
    "FanSumOverflow",
    "GraphReleased",
    "InitializationError",
    "InvalidEpsilon",
    "InvalidNameCharacter",
    "NonFiniteAccumulatedGradient",
    "NonFiniteForward",
    "NonFiniteLeaf",
    "NonFinitePassAdjoint",
    "NonFiniteSeed",
    "NonFiniteValue",
    "NonFiniteVjp",
    "NormalizationError",
    "NotAParameter",
    "NotBlockwise",
    "NotebookRefused",
    "OutOfRange",
    "PackageMissing",
    "ReleasedOperand",
    "SeedError",
    "SeedShapeMismatch",
    "ShapeMismatch",
    "ShapeProductOverflow",
    "StaleOperandValue",
    "UnknownChoice",
    "UntrackedOutput",
    "WidthMismatch",
    "WrongType",
    "ZeroEnergyRow",
    "ZeroFanIn",
    "ZeroFanOut",
]
