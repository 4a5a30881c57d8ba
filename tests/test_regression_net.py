"""The run of the notebooks can fail: each small fault turns its own cell red, and no other.

A small notebook with a printed number, figures and an explorer is stored as authors store it. In
copies of it, each beside its own copy of `coursekit`, one thing a cell is then changed, and the
same configuration that runs the course runs them.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from coursekit import authoring

ROOT = Path(__file__).resolve().parent.parent

FIGURE = """figure, axes = figures.new_figure()
figures.measured(axes, [1, 2], [0.375, 0.625], label="share")
figures.show(figure, "The second share is larger.", "Two bars, the second higher.")"""
EXPLORER = """def compute(width):
    return width ** 2

def draw(figure, area):
    figures.measured(figures.panels(figure), [0], [area], "zero")
    return explorers.Drawing(f"The area is {area}.", "One bar.")

explorers.explore("How large?", compute, draw, width=explorers.slider("width", 7, 9))"""
CELLS = [
    "from coursekit import explorers, figures\nfrom coursekit.rng import SplitMix64",
    "print(f'{SplitMix64(17).next_unit_f64():.12f}')",
    *[FIGURE] * 4,
    EXPLORER,
]

# In the outputs of one stored copy: cell → what is changed, from what, to what.
STORED = {
    1: ("a digit", "0.502021189822", "0.502021189823"),
    2: ("a caption", "The second share is larger.", "The second share is smaller."),
    3: ("an alternative text", "Two bars, the second higher.", "Two bars, the first higher."),
    4: ("a number of a figure", "0.375, 0.625", "0.375, 0.626"),
    5: ("an output that is gone", '"text/html"', '"text/latex"'),
    6: ("a number of an explorer", "(grey): 49", "(grey): 48"),
}

# In a copy of the package: name → file, from what, to what, cells that this must turn red.
PACKAGE = {
    "generator": ("blocks.py", "0xBF58476D1CE4E5B9", "0xBF58476D1CE4E5B8", {1}),
    "figures": ("figures/style.py", '"scaled": Look("blue"', '"scaled": Look("sky"', {2, 3, 4, 5}),
    "explorers": ("explorers/core.py", 'f"Explorer: {', 'f"An explorer: {', {6}),
}


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    """The notebook as a refresh stores it."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    fresh = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": authoring.KERNELSPEC})
    path = ROOT / "tests" / "net.ipynb"  # a name and a folder to run in; nothing is written
    notebook = authoring.read(path, nbformat.writes(fresh).encode())
    authoring.execute(notebook, path)
    return json.loads(authoring.written(notebook))


def lay_down(folder: Path, notebook: dict[str, Any]) -> None:
    shutil.copytree(
        ROOT / "coursekit", folder / "coursekit", ignore=shutil.ignore_patterns("__pycache__")
    )
    (folder / "net.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def changed(text: str, old: str, new: str) -> str:
    assert old in text, f"{old} is not there to be changed"
    return text.replace(old, new)


def with_stored_faults(notebook: dict[str, Any]) -> dict[str, Any]:
    broken = json.loads(json.dumps(notebook))
    for cell, (_, old, new) in STORED.items():
        outputs = json.dumps(broken["cells"][cell]["outputs"])
        broken["cells"][cell]["outputs"] = json.loads(changed(outputs, old, new))
    return broken


def test_each_fault_turns_its_cell_red_and_the_faultless_copy_is_green(
    stored: dict[str, Any], tmp_path: Path
) -> None:
    for name in ("pyproject.toml", "conftest.py", "tests/nbval_sanitize.cfg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    lay_down(tmp_path / "faultless", stored)
    lay_down(tmp_path / "stored", with_stored_faults(stored))
    for name, (file, old, new, _) in PACKAGE.items():
        lay_down(tmp_path / name, stored)
        path = tmp_path / name / "coursekit" / file
        path.write_text(changed(path.read_text("utf-8"), old, new), encoding="utf-8")

    copies = ["faultless", "stored", *PACKAGE]
    notebooks = [f"{copy}/net.ipynb" for copy in copies]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "--color=no", "-p", "no:cacheprovider", *notebooks],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    lines = re.findall(r"^(PASSED|FAILED|ERROR) (\w+)/net.ipynb::Cell (\d)", run.stdout, re.M)
    red = {(copy, int(cell)) for outcome, copy, cell in lines if outcome != "PASSED"}
    expected = {("stored", cell) for cell in STORED}
    expected |= {(name, cell) for name, (*_, cells) in PACKAGE.items() for cell in cells}
    assert run.returncode == 1, run.stdout + run.stderr
    assert len(lines) == len(CELLS) * len(copies), run.stdout
    assert red == expected, run.stdout
