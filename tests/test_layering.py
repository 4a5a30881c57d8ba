"""Imports point one way: the order in which the package is read is the order in which it loads."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "coursekit"

# Each may import those before it. A package (autodiff, figures, ...) counts as one.
READING_ORDER = [
    "errors",
    "arguments",
    "normal",
    "blocks",
    "rng",
    "gains",
    "scales",
    "initializers",
    "autodiff",
    "normalization",
    "storage",
    "parameters",
    "exports",
    "sharded",
    "layers",
    "training",
    "study",
    "measure",
    "worked",
    "report",
    "workspace",  # where the data of a chapter lies
    "figures",
    "explorers",
]
# Narrower than the order: these may import only what is named.
ONLY = {
    "autodiff": {"errors", "arguments"},
    "normalization": {"errors", "arguments", "autodiff"},
    "notebook_files": {"errors"},
    "slideshow": set(),
    "authoring": {"errors", "notebook_files", "slideshow"},
    "publishing": {"errors", "notebook_files", "slideshow", "authoring", "workspace"},
    "workspace": {"errors"},
    "doctor": {"errors", "workspace"},
    "checks": {*READING_ORDER} - {"figures", "explorers"},
    "__main__": {"errors", "report", "workspace", "doctor", "checks", "authoring", "publishing"},
    "__init__": set(),
}
# What only one part of the package may load.
HOME = {
    "matplotlib": "figures",
    "ipywidgets": "explorers",
    "IPython": "figures",
    "nbclient": "authoring",
    "nbformat": "authoring",
    "nbconvert": "publishing",
    "dask": "sharded",
    "distributed": "sharded",
    "torch": "exports",
    "jax": "exports",
}

FILES = sorted(PACKAGE.rglob("*.py"))
IDS = [path.relative_to(PACKAGE).as_posix() for path in FILES]


def part_of(path: Path) -> str:
    """Return the module or sub-package of `coursekit` that a file belongs to."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file imports anywhere, also inside functions, in full."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parts_imported(path: Path) -> set[str]:
    names = [name.split(".") for name in imported(path)]
    parts = {name[1] for name in names if name[0] == "coursekit" and len(name) > 1}
    return {
        part for part in parts if (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").exists()
    }


def allowed(part: str) -> set[str]:
    if part in ONLY:
        return ONLY[part]
    assert part in READING_ORDER, f"coursekit/{part}: give it its place in READING_ORDER"
    return set(READING_ORDER[: READING_ORDER.index(part)])


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_a_module_imports_only_what_is_read_before_it(path: Path) -> None:
    part = part_of(path)
    assert parts_imported(path) - {part} <= allowed(part)


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_each_heavy_library_has_one_home(path: Path) -> None:
    for name in imported(path):
        home = HOME.get(name.split(".")[0])
        assert home is None or part_of(path) == home, f"{name} belongs to {home}"


def loaded_after(code: str) -> set[str]:
    """Return the top-level modules and the parts of `coursekit` that a fresh Python has loaded."""
    report = "import sys; print(*(n for n in sys.modules if n.count('.') < 2))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}; {report}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_heavier_than_numpy() -> None:
    before, after = loaded_after("pass"), loaded_after("import coursekit")
    new = {name.split(".")[0] for name in after - before} - set(sys.stdlib_module_names)
    assert new <= {"coursekit", "numpy"}
    assert not {name for name in after if name.startswith("coursekit.")}


def test_numbers_need_neither_pictures_nor_widgets_nor_notebooks() -> None:
    numeric = [name for name in READING_ORDER if name not in ("figures", "explorers", "sharded")]
    there = [n for n in numeric if (PACKAGE / n).is_dir() or (PACKAGE / f"{n}.py").exists()]
    loaded = loaded_after(f"from coursekit import {', '.join(there)}")
    assert "coursekit.report" in loaded
    assert not loaded & set(HOME)


def test_pictures_need_neither_widgets_nor_pyplot() -> None:
    loaded = loaded_after("from coursekit import figures")
    assert "matplotlib" in loaded
    assert not loaded & {"ipywidgets", "IPython", "matplotlib.pyplot", "nbformat"}
