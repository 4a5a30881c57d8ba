"""What nbval cannot see in a notebook: its form, its limits, its links, its alternative texts.

The outputs themselves are compared by nbval, which runs every notebook as part of the same
command. Here no notebook is executed.
"""

import io
import itertools
import json
import re
import statistics
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from coursekit import authoring

ROOT = Path(__file__).resolve().parent.parent
ALL = sorted(
    path
    for name in ("notebooks", "exercises", "solutions")
    for path in (ROOT / name).glob("*.ipynb")
)
CHAPTERS = [p for p in ALL if p.parent.name == "notebooks" and re.match(r"\d\d_", p.name)]
LESSONS = [path for path in CHAPTERS if not path.name.startswith("00_")]  # these have the anatomy
SOLUTIONS = [path for path in ALL if path.parent.name == "solutions"]

ANATOMY = [
    "Predict",
    "Work it by hand",
    "Derive",
    "Build",
    "See",
    "Check the prediction",
    "Break it",
    "Recap",
    "Practice and sources",
]
MEDIAN_LINES, MOST_LINES, SET_UP_LINES, MOST_CELLS = 6, 20, 8, 35
WORDS_OF_A_CELL, WORDS_OF_A_CHAPTER = 200, 2500
MOST_BYTES = 1_500_000
QUESTIONS = 3


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "path", paths, ids=[path.relative_to(ROOT).as_posix() for path in paths]
    )


@lru_cache
def notebook(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes())


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in notebook(path)["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def prose(path: Path) -> str:
    return "\n\n".join(source(cell) for cell in cells(path, "markdown"))


def outputs(path: Path) -> Iterator[dict[str, Any]]:
    for cell in cells(path, "code"):
        yield from cell["outputs"]


def texts_put_out(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of everything that a stored output says."""
    for output in outputs(path):
        if "text" in output:
            yield output["name"], "".join(output["text"])
        for kind, value in output.get("data", {}).items():
            yield kind, "".join(value) if isinstance(value, list) else str(value)


def headings(text: str) -> list[tuple[int, str]]:
    """Return (level, text) of every heading outside code blocks."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    found = re.findall(r"^(#{1,6}) +(.+?)\s*$", plain, re.M)
    return [(len(marks), heading) for marks, heading in found]


def words(text: str) -> int:
    """Count words as a reader does: a formula or a piece of code is one, a table rule none."""
    text = re.sub(r"\$\$.*?\$\$|\$.*?\$|`[^`]+`", " x ", text, flags=re.S)
    text = re.sub(r"<[^>]+>|\]\([^)]*\)", " ", text)
    return len(re.findall(r"\S*\w\S*", text))


# --- the stored form ----------------------------------------------------------------------------


@each(ALL)
def test_metadata_is_what_a_refresh_leaves(path: Path) -> None:
    about = notebook(path)
    assert (about["nbformat"], about["nbformat_minor"]) == (4, 5)
    assert about["metadata"] == {
        "kernelspec": authoring.KERNELSPEC,
        "language_info": {"name": "python"},
    }
    for cell in about["cells"]:
        assert set(cell["metadata"]) <= set(authoring.KEPT_CELL_METADATA), cell["id"]


@each(ALL)
def test_cells_are_numbered_and_counts_are_there_and_consecutive(path: Path) -> None:
    ids = [cell["id"] for cell in notebook(path)["cells"]]
    assert ids == [f"{path.stem}-{number:02d}" for number in range(len(ids))]
    code = cells(path, "code")
    assert all(source(cell).strip() for cell in code), "an empty code cell is never run"
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        for output in cell["outputs"]:
            assert output.get("execution_count") in (None, cell["execution_count"]), cell["id"]


@each(ALL)
def test_the_file_is_written_as_a_refresh_writes_it_and_not_large(path: Path) -> None:
    raw = path.read_bytes()
    assert authoring.written(authoring.read(path, raw)) == raw
    assert len(raw) < MOST_BYTES


@each(ALL)
def test_nothing_private_or_passing_is_stored(path: Path) -> None:
    for kind, text in texts_put_out(path):
        assert kind != "stderr", f"a warning is stored: {text[:200]}"
        assert "widget" not in kind, "a stored widget view belongs to a kernel that is gone"
        assert not kind.startswith("image/"), "figures go out through figures.show, with alt text"
        if kind in ("stdout", "text/plain"):
            assert not re.search(r"\bat 0x[0-9a-f]{6,}", text), f"a memory address: {text[:200]}"
            assert not re.search(r"/(tmp|root|home|Users)/", text), f"a private path: {text[:200]}"
    assert not [output for output in outputs(path) if output["output_type"] == "error"]


@each(ALL)
def test_no_cell_hides_from_the_run(path: Path) -> None:
    for cell in cells(path, "code"):
        text = source(cell)
        assert "NBVAL_" not in text.upper(), cell["id"]
        assert not text.lstrip().startswith(("%", "!")), f"{cell['id']}: not plain Python"
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        assert not [t for t in tokens if t.type == tokenize.OP and t.string == ";"], cell["id"]


@pytest.mark.skipif(not ALL, reason="there is no notebook yet")
def test_nbstripout_finds_nothing_to_strip() -> None:
    command = [sys.executable, "-m", "nbstripout", "--verify"]
    keep = ["--keep-output", "--keep-count", "--keep-id"]
    run = subprocess.run([*command, *keep, *map(str, ALL)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@each(SOLUTIONS)
def test_an_exercise_is_its_solution_without_the_answers(path: Path) -> None:
    exercise = ROOT / "exercises" / path.name
    made = authoring.exercise_from(authoring.read(path, path.read_bytes()), path)
    stored = authoring.read(exercise, exercise.read_bytes())
    assert [(c.id, c.cell_type, c.source, c.metadata) for c in stored.cells] == [
        (c.id, c.cell_type, c.source, c.metadata) for c in made.cells
    ]
    assert not [c.id for c in stored.cells if authoring.BEGIN in c.source]


def test_every_exercise_has_its_solution() -> None:
    there = {path.name for path in ALL if path.parent.name == "exercises"}
    assert there == {path.name for path in SOLUTIONS}


# --- pictures and links -------------------------------------------------------------------------


class Page(HTMLParser):
    """Collects images, figures, captions, links and anchors of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.images: list[str] = []
        self.figures = self.captions = 0
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.anchors |= {value for key in ("id", "name") if (value := given.get(key))}
        match tag:
            case "img":
                self.images.append((given.get("alt") or "").strip())
            case "figure":
                self.figures += 1
            case "figcaption":
                self.captions += 1
            case "a" if given.get("href"):
                self.links.append(given["href"] or "")


@each(ALL)
def test_every_picture_says_what_it_shows(path: Path) -> None:
    for kind, text in texts_put_out(path):
        if kind == "text/html":
            page = Page(text)
            assert all(page.images), "an image without alternative text"
            assert len(page.images) <= page.figures == page.captions
            if page.figures:
                assert "Numbers in this picture" in text, "a figure that show() did not put out"
    text = prose(path)
    assert all(Page(text).images)
    assert all(alt.strip() for alt in re.findall(r"!\[([^\]]*)\]\(", text))


def anchors_of(path: Path) -> set[str]:
    """Return where a link into a notebook may lead: JupyterLab joins a heading's words by '-'."""
    text = prose(path)
    named = {re.sub(r"[`*_]", "", heading).replace(" ", "-") for _, heading in headings(text)}
    return named | Page(text).anchors


def links_of(path: Path) -> list[str]:
    text = re.sub(r"^```.*?^```|`[^`\n]+`", "", prose(path), flags=re.M | re.S)
    return re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", text) + Page(text).links


@each(ALL)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for link in links_of(path):
        if re.match(r"[a-z]+:", link):
            assert link.startswith("https://"), link
            continue
        place, _, anchor = link.partition("#")
        target = (path.parent / unquote(place)).resolve() if place else path
        assert target.exists(), f"{link} leads nowhere"
        assert target.is_relative_to(path.parent.parent), f"{link} leads out of the course"
        if anchor and target.suffix == ".ipynb":
            assert unquote(anchor) in anchors_of(target), f"{link}: no such heading"


# --- limits and anatomy -------------------------------------------------------------------------


@each(CHAPTERS)
def test_code_cells_are_short_and_not_too_many(path: Path) -> None:
    lines = [len(source(cell).splitlines()) for cell in cells(path, "code")]
    assert len(lines) <= MOST_CELLS
    assert max(lines, default=0) <= MOST_LINES
    assert statistics.median(lines or [0]) <= MEDIAN_LINES
    assert lines[0] <= SET_UP_LINES, "the set-up cell"


@each(CHAPTERS)
def test_prose_stays_within_its_limits(path: Path) -> None:
    for cell in cells(path, "markdown"):
        assert words(source(cell)) < WORDS_OF_A_CELL, cell["id"]
    assert words(prose(path)) < WORDS_OF_A_CHAPTER


@each(ALL)
def test_the_tone_is_kept(path: Path) -> None:
    said = prose(path) + "".join(text for kind, text in texts_put_out(path) if kind == "text/plain")
    assert not re.findall(r"\b(?:simply|obviously)\b", said, re.I)
    emoji = "[\U0001f300-\U0001faff\u2600-\u26ff\u2705\u274c\u2728]"
    assert not re.findall(emoji, said)


@each(ALL)
def test_one_title_first_and_no_level_left_out(path: Path) -> None:
    levels = [level for level, _ in headings(prose(path))]
    first = notebook(path)["cells"][0]
    assert first["cell_type"] == "markdown"
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


@each(LESSONS)
def test_a_chapter_has_the_one_anatomy(path: Path) -> None:
    assert [text for level, text in headings(prose(path)) if level == 2] == ANATOMY


@each(LESSONS)
def test_answers_of_the_knowledge_check_are_folded(path: Path) -> None:
    last = prose(path).rpartition("## Practice and sources")[2]
    assert last.count("<details") >= QUESTIONS
    assert last.count("<details") == last.count("</details>") == last.count("<summary")


# --- the rules themselves -----------------------------------------------------------------------


def test_words_headings_and_links_are_found_as_a_reader_finds_them() -> None:
    assert words("We add $a + b$ and `x + y`.\n\n| a | b |\n|---|---|\n[link](to/x)") == 8
    assert headings("# A\n```\n# not one\n```\n## B `c`\n") == [(1, "A"), (2, "B `c`")]
    page = Page('<figure id="f"><img alt=" "><figcaption>c</figcaption></figure><a href="x">y</a>')
    assert (page.images, page.figures, page.captions) == ([""], 1, 1)
    assert (page.links, page.anchors) == (["x"], {"f"})


FOLDED = "<details><summary>Why?</summary>Because.</details>\n" * QUESTIONS
FIGURE = (
    '<figure><img alt="A bar."><figcaption>It is 1.</figcaption>'
    "<details><summary>Numbers in this picture</summary></details></figure>"
)


def sound_chapter() -> dict[str, Any]:
    """The least that passes every rule: a title, the anatomy, one cell with a figure."""
    text = ["# Title\n", "See [below](#Break-it).\n", *(f"## {part}\n" for part in ANATOMY), FOLDED]
    shown = {
        "output_type": "execute_result",
        "execution_count": 1,
        "data": {"text/html": [FIGURE], "text/plain": ["Figure: It is 1."]},
        "metadata": {},
    }
    code = {"execution_count": 1, "outputs": [shown], "source": ["x = 1\n", "x"]}
    return {
        "cells": [
            {"cell_type": "markdown", "id": "03_a-00", "metadata": {}, "source": text},
            {"cell_type": "code", "id": "03_a-01", "metadata": {}, **code},
        ],
        "metadata": {"kernelspec": authoring.KERNELSPEC, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


RULES = [
    test_metadata_is_what_a_refresh_leaves,
    test_cells_are_numbered_and_counts_are_there_and_consecutive,
    test_nothing_private_or_passing_is_stored,
    test_no_cell_hides_from_the_run,
    test_every_picture_says_what_it_shows,
    test_every_relative_link_leads_somewhere,
    test_code_cells_are_short_and_not_too_many,
    test_prose_stays_within_its_limits,
    test_the_tone_is_kept,
    test_one_title_first_and_no_level_left_out,
    test_a_chapter_has_the_one_anatomy,
    test_answers_of_the_knowledge_check_are_folded,
]


@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        ('"python3"', '"python4"', RULES[0]),
        ('"03_a-01", "metadata": {}', '"03_a-01", "metadata": {"tags": ["skip"]}', RULES[0]),
        ('"03_a-01"', '"c0ffee"', RULES[1]),
        ('"execution_count": 1, "outputs"', '"execution_count": null, "outputs"', RULES[1]),
        ("Figure: It is 1.", "<f at 0x7f0011223344>", RULES[2]),
        ("Figure: It is 1.", "/tmp/x.py", RULES[2]),
        ('"text/plain"', '"application/vnd.jupyter.widget-view+json"', RULES[2]),
        ('"text/plain"', '"image/png"', RULES[2]),
        ('"x = 1\\n"', '"x = 1;\\n"', RULES[3]),
        ('"x = 1\\n"', '"# NBVAL_SKIP\\n"', RULES[3]),
        ('alt=\\"A bar.\\"', 'alt=\\" \\"', RULES[4]),
        ("figcaption", "p", RULES[4]),
        ("#Break-it", "#Brake-it", RULES[5]),
        ("#Break-it", "04_gone.ipynb", RULES[5]),
        ("#Break-it", "http://a.org", RULES[5]),
        ('"x = 1\\n"', '"' + "x = 1\\n" * 20 + '"', RULES[6]),
        ("See [below]", "word " * 200 + "[below]", RULES[7]),
        ("See [below]", "Simply see [below]", RULES[8]),
        ("# Title", "## Title", RULES[9]),
        ("## Derive", "#### Derive", RULES[9]),
        ("## Derive", "## Deduce", RULES[10]),
        ("<details><summary>Why?", "<div><summary>Why?", RULES[11]),
    ],
)
def test_each_rule_can_be_broken(tmp_path: Path, old: str, new: str, broken: Any) -> None:
    text = json.dumps(sound_chapter())
    assert old in text
    sound, spoilt = tmp_path / "03_a.ipynb", tmp_path / "spoilt" / "03_a.ipynb"
    spoilt.parent.mkdir()
    sound.write_text(text, encoding="utf-8")
    spoilt.write_text(text.replace(old, new), encoding="utf-8")
    for rule in RULES:
        rule(sound)
    with pytest.raises((AssertionError, IndexError)):
        broken(spoilt)
