"""What is excused from the mutation run still stands in the code, and says why it is."""

import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
EXCUSED = tomllib.loads((HERE / "equivalent.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", EXCUSED)
def test_every_excused_line_is_a_line_of_its_module(module):
    text = (HERE.parents[1] / "coursekit" / f"{module}.py").read_text(encoding="utf-8")
    lines = {line.strip() for line in text.splitlines()}
    for entry in EXCUSED[module]:
        assert entry["line"] in lines
        assert entry["reason"]
        assert entry["line"] not in entry.get("becomes", [])
