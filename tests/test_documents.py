"""README, CONTRIBUTING and constraints keep their promises to a reader who copies from them."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
ROW = re.compile(r"^\| (\d\d) \| \[(.+?)\]\((notebooks/.+?)\) \| (\d+) \|$", re.M)
COMMANDS = [
    "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e . "
    "&& .venv/bin/coursekit lab",
    "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e '.[test]' "
    "&& .venv/bin/pytest",
]


def title_cell(path: Path) -> str:
    return str(nbformat.read(path, as_version=4).cells[0].source)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_two_commands_stand_there_to_be_copied(command):
    assert f"```sh\n{command}\n```" in README


@pytest.mark.parametrize(("name", "most"), [("README.md", 120), ("CONTRIBUTING.md", 150)])
def test_documents_stay_short(name, most):
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) < most


def test_the_table_lists_every_chapter_in_order():
    assert [row[2] for row in ROW.findall(README)] == [
        f"notebooks/{path.name}" for path in CHAPTERS
    ]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_number_title_and_minutes_are_those_of_the_chapter(path):
    (row,) = [row for row in ROW.findall(README) if row[2].endswith(path.name)]
    head = title_cell(path)
    minutes = re.search(r"\*\*Time:\*\*\s+(\d+) minutes", head)
    assert minutes is not None
    assert row == (path.stem[:2], head.splitlines()[0][2:], f"notebooks/{path.name}", minutes[1])


def test_the_start_chapter_tells_the_same_minutes():
    cells = nbformat.read(ROOT / "notebooks" / "00_start_here.ipynb", as_version=4).cells
    told = dict(
        re.findall(
            r"\| \[\d+ .+?\]\((\d\d_\w+\.ipynb)\) \|.*\| (\d+) \|",
            "\n".join(c.source for c in cells),
        )
    )
    listed = {row[2].removeprefix("notebooks/"): row[3] for row in ROW.findall(README)}
    del listed["00_start_here.ipynb"]
    assert told == listed


def test_every_link_of_the_documents_leads_somewhere():
    for name in ("README.md", "CONTRIBUTING.md", "notebooks/data/README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+?)\)", text):
            assert ((ROOT / name).parent / link).exists(), f"{name}: {link}"


def test_constraints_pin_every_requirement_and_name_no_address():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.match(r"[A-Za-z0-9._-]+==[^\s;]+( ;.*)?$", line) for line in pins)
    assert "://" not in "".join(lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.match(r"[A-Za-z0-9._-]+", wish)[0].lower() for wish in wanted}
    assert names <= {line.split("==")[0].lower() for line in pins} | {"coursekit"}
