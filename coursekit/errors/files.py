"""Files, notebooks and packages that are not what or where they should be."""

from dataclasses import dataclass

from coursekit.errors.base import CourseError


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
