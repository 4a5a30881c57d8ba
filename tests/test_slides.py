"""Slides: the stored cut keeps its limits in every chapter, and the decks open without a network.

The limits are counted here by other means than the cut itself uses.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import browsing
import pytest

from coursekit import __main__ as command_line
from coursekit import slideshow
from coursekit.errors import UnknownChoice
from coursekit.publishing import assets, guide, lessons, slides
from coursekit.slideshow import blocks, parts, pieces, slide_types

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
MOST_WORDS, MOST_FIGURES = 90, 1
OFFLINE = all(map(assets.installed, (assets.MATHJAX, assets.REVEAL)))


@lru_cache
def chapters() -> list[lessons.Lesson]:
    return lessons.chapters(ROOT)


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=[path.stem for path in paths])


def cells(path: Path) -> list[dict[str, Any]]:
    stored = json.loads(path.read_bytes())["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in stored]


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": text}


def code(text: str, *printed: str, html: str = "") -> dict[str, Any]:
    outputs: list[dict[str, Any]] = [{"text": [one]} for one in printed]
    outputs += [{"data": {"text/html": [html]}}] if html else []
    return {"cell_type": "code", "source": text, "outputs": outputs}


FIGURE = '<figure><img alt="a" src=""></figure>'


# --- what is stored with every chapter ----------------------------------------------------------


@each(CHAPTERS)
def test_every_cell_says_how_it_begins(path: Path) -> None:
    stored = [cell["metadata"]["slideshow"]["slide_type"] for cell in cells(path)]
    assert stored == slide_types(cells(path))
    heads = [
        kind
        for cell, kind in zip(cells(path), stored, strict=True)
        if cell["source"].startswith(("# ", "## ")) and cell["cell_type"] == "markdown"
    ]
    assert set(heads) == {"slide"}
    assert stored.count("slide") == len(heads)


class Seen(HTMLParser):
    """Counts slides, and on each the words of its prose and its figures, as they are shown."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.within: list[str] = []
        self.slides: list[dict[str, Any]] = []
        self.feed(text.partition('<div class="slides">')[2])

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("section", "p", "pre", "figure", "aside", "details", "summary"):
            self.within.append("running" if ("class", "running") in attributes else tag)
        if tag == "section" and self.within == ["section", "section"]:
            self.slides.append({"text": "", "figures": 0})
        if tag == "figure":
            self.slides[-1]["figures"] += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in ("section", "p", "pre", "figure", "aside", "details", "summary"):
            self.within.pop()

    def handle_data(self, data: str) -> None:
        hidden = {"pre", "figure", "aside", "running"}.intersection(self.within)
        folded = "details" in self.within and "summary" not in self.within
        if self.within.count("section") == 2 and not hidden and not folded:
            self.slides[-1]["text"] += data


def words(text: str) -> int:
    """A formula is one word, whatever it says."""
    return len(re.findall(r"\S*\w\S*", re.sub(r"\$\$.*?\$\$|\$[^$]+\$", " x ", text, flags=re.S)))


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    target = tmp_path_factory.mktemp("slides")
    said = list(slides.make(root=ROOT, target=target))
    return {"target": target, "said": said}


@each(CHAPTERS)
def test_no_slide_has_more_than_90_words_or_one_figure(path: Path, decks: dict[str, Any]) -> None:
    seen = Seen((decks["target"] / f"{path.stem}.html").read_text(encoding="utf-8"))
    assert len(seen.slides) >= 10
    for number, slide in enumerate(seen.slides, start=1):
        assert words(slide["text"]) <= MOST_WORDS, (number, slide["text"])
        assert slide["figures"] <= MOST_FIGURES, number
    stored = sum(slideshow.has_figure(cell) for cell in cells(path))
    assert sum(slide["figures"] for slide in seen.slides) == stored


# --- the cut ------------------------------------------------------------------------------------


def begun(*given: dict[str, Any]) -> list[str]:
    return [part.begins for part in parts(given)]


def test_code_waits_behind_its_sentence_while_there_is_room() -> None:
    short, long = code("a = 1"), code("\n".join(["a = 1"] * 18))
    assert begun(markdown("## See"), short, short) == ["slide", "fragment", "fragment"]
    assert begun(markdown("## See"), long) == ["slide", "subslide"]
    assert begun(markdown("So?"), code("a", html=FIGURE)) == ["subslide", "fragment"]
    assert begun(markdown("## So?\n\nSo."), code("a", html=FIGURE)) == ["slide", "subslide"]
    printed = code("print(a)", "1\n" * 18)
    assert begun(markdown("So."), printed) == ["subslide", "subslide"]


def test_only_the_imports_below_the_title_are_left_out() -> None:
    imports = code("import numpy as np\n\nfrom a import b")
    assert begun(markdown("# T"), imports, imports) == ["slide", "skip", "fragment"]
    assert begun(markdown("# T"), code("x = 1")) == ["slide", "fragment"]
    assert begun(markdown("# T"), code("import a", "1")) == ["slide", "fragment"]
    assert begun(markdown("# T")) == ["slide"]


def test_a_long_cell_becomes_few_slides_equally_full() -> None:
    text = "\n\n".join("word " * 30 for _ in range(6))
    assert [words(piece) for piece in pieces(text)] == [90, 90]
    text = "\n\n".join("word " * 30 for _ in range(4))
    assert [words(piece) for piece in pieces(text)] == [60, 60]


def test_lists_tables_and_paragraphs_are_cut_at_their_joints() -> None:
    items = "\n".join(f"- {'word ' * 20}{number}" for number in range(8))
    assert "\n".join(pieces(items)) == items
    rows = "\n".join(f"| {'word ' * 20}| {number} |" for number in range(8))
    table = pieces(f"| a | b |\n|---|---|\n{rows}")
    assert len(table) > 1
    assert all(piece.startswith("| a | b |\n|---|---|\n| word") for piece in table)
    assert sum(piece.count("\n| word") for piece in table) == 8
    sentence = "The mean is $E[y]. = 0$ and `a. b` holds for **every one. Always** so far. "
    paragraph = pieces(sentence * 9)
    assert len(paragraph) > 1
    assert " ".join(paragraph).split() == (sentence * 9).split()
    assert all(piece.endswith("so far.") for piece in paragraph)


def test_what_belongs_together_stays_together() -> None:
    folded = "<details><summary>q</summary>\n\nb\n\nc</details>"
    text = f"a\n\n$$\nx\n\ny\n$$\n\n{folded}\n\n```\nd\n\ne\n```"
    assert [block.partition("\n")[0] for block in blocks(text)] == [
        "a",
        "$$",
        "<details><summary>q</summary>",
        "```",
    ]
    heading = pieces("## Derive\n\n" + "word " * 85 + "\n\n" + "word " * 20)
    assert heading[0].startswith("## Derive\n\nword")
    assert [words(piece.lstrip("# ")) for piece in heading] == [86, 20]


def test_words_are_those_that_are_seen() -> None:
    assert slideshow.words("We add $a + b$ in `x + y`, [here](to/x).") == 6
    assert slideshow.words("<details><summary>Why so?</summary>\n\nBecause.</details> End.") == 3
    assert slideshow.words("| a | b |\n|---|---|\n| 1 | 2 |") == 4


# --- the decks ----------------------------------------------------------------------------------


def test_a_deck_is_made_of_all_its_cells_and_nothing_is_lost() -> None:
    for one in chapters():
        deck = slides.deck_of(one, guide.NOTHING)
        shown = {
            kind: " ".join(c.source for c in deck.cells if c.cell_type == kind).split()
            for kind in ("code", "markdown")
        }
        cut = one.notebook.cells[2 if slide_types(one.notebook.cells)[1] == "skip" else 1 :]
        assert shown["code"] == " ".join(c.source for c in cut if c.cell_type == "code").split()
        whole = " ".join(c.source for c in one.notebook.cells if c.cell_type == "markdown").split()
        assert set(whole) == set(shown["markdown"])  # a table that is cut repeats its head
        opened = [tag for cell in deck.cells for tag in cell.metadata.slide.opens]
        assert sorted(opened) == sorted(t for c in deck.cells for t in c.metadata.slide.closes)


def test_what_is_made_is_said(decks: dict[str, Any]) -> None:
    said = decks["said"]
    assert said[-1] == f"open {decks['target'] / 'index.html'}"
    told = [line for line in said if line.startswith("[")]
    assert len(told) == len(CHAPTERS)
    for line, path in zip(told, CHAPTERS, strict=True):
        page = (decks["target"] / f"{path.stem}.html").read_text(encoding="utf-8")
        assert line.endswith(f": {len(Seen(page).slides)} slides")
    index = (decks["target"] / "index.html").read_text(encoding="utf-8")
    assert [path.stem for path in CHAPTERS] == re.findall(r'href="(\d\d_\w+)\.html"', index)


def test_numbers_choose_and_an_unknown_one_writes_nothing(tmp_path: Path) -> None:
    said = list(slides.make(["1"], root=ROOT, target=tmp_path / "one"))
    assert [path.name for path in (tmp_path / "one").glob("0*.html")] == ["01_break_symmetry.html"]
    assert sum(line.startswith("[1/1] 01 ") for line in said) == 1
    with pytest.raises(UnknownChoice) as refused:
        list(slides.make(["01", "77"], root=ROOT, target=tmp_path / "two"))
    assert refused.value.given == "77"
    assert not (tmp_path / "two").exists()


def test_without_the_extra_one_line_says_what_needs_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "find_spec", lambda name: None)
    said = list(slides.make(["1"], root=ROOT, target=tmp_path))
    assert said[0] == assets.network_note(["MathJax", "reveal.js"], "slides")
    page = (tmp_path / "01_break_symmetry.html").read_text(encoding="utf-8")
    fetched = re.findall(r'(?:src|link[^>]*href)="(https:[^"]*)"', page)
    assert [Path(address.partition("?")[0]).suffix for address in fetched] == [
        ".css",
        ".js",
        ".js",
        ".js",
    ]
    assert not list(tmp_path.rglob("*.js"))


def test_the_command_passes_its_numbers_on(monkeypatch, capsys) -> None:
    monkeypatch.setattr(slides, "make", lambda numbers: iter(["made", *numbers]))
    assert command_line.main(["slides", "3", "04"]) == 0
    assert capsys.readouterr().out == "made\n3\n04\n"


def test_a_folder_that_cannot_be_written_is_one_line(monkeypatch, capsys) -> None:
    def failing(numbers: list[str]) -> Iterator[str]:
        yield "one"
        raise PermissionError(13, "Permission denied", "build/slides")

    monkeypatch.setattr(slides, "make", failing)
    assert command_line.main(["slides"]) == 2
    assert capsys.readouterr().err == "coursekit: build/slides: Permission denied\n"


# --- the guide and the speaker's notes ----------------------------------------------------------


def test_the_guide_tells_every_part_of_every_chapter_within_its_minutes() -> None:
    told = guide.read_guide(ROOT)
    assert sorted(told) == [one.number for one in chapters()]
    for one in chapters():
        notes = told[one.number].notes
        assert [note.part for note in notes] == list(one.sections), one.number
        assert one.minutes is not None
        assert sum(note.minutes for note in notes) <= one.minutes, one.number
        for note in notes:
            assert note.minutes > 0
            assert len(note.text) > 30, note.text
        assert len(told[one.number].idea) > 40
        assert not any("$" in note.text for note in notes)  # no MathJax over there


WORDS_A_MINUTE, CODE_SECONDS = 130, 20  # read aloud; a cell run and pointed at


@pytest.mark.parametrize("one", lessons.chapters(ROOT), ids=lambda one: one.number)
def test_reading_a_chapter_aloud_leaves_a_third_of_its_minutes_to_the_class(
    one: lessons.Lesson,
) -> None:
    words = cells = 0
    for cell in one.notebook.cells:
        if cell.cell_type == "code":
            cells += 1
            continue
        spoken = re.sub(r"<details>.*?</details>", "", cell.source, flags=re.S)
        spoken = re.sub(r"\$\$.*?\$\$", " one formula read out as six words ", spoken, flags=re.S)
        words += len(spoken.split())
    minutes = words / WORDS_A_MINUTE + cells * CODE_SECONDS / 60
    planned = sum(note.minutes for note in guide.read_guide(ROOT)[one.number].notes)
    share = 1 if one.number == "00" else 2 / 3  # the start chapter is shown, not discussed
    assert minutes <= share * planned


def test_the_lecture_of_the_guide_takes_its_90_minutes() -> None:
    text = "".join(cell["source"] for cell in cells(ROOT / "notebooks" / guide.GUIDE))
    lecture = text.partition("**One lecture of 90 minutes**")[2].partition("**A week**")[0]
    assert sum(map(int, re.findall(r"^\| (\d+) \|", lecture, re.M))) == 90
    for chapter in range(len(chapters())):
        week, month = text.partition("**A week**")[2].split("**A month alone**")
        assert re.search(rf"\b{chapter}\b", week), chapter
        assert re.search(rf"\b{chapter}\b", month.partition("## 00")[0]), chapter


# One setting for each explorer that the guide names, and a piece of what the explorer says to it.
DEMONSTRATIONS = [
    ("01", "symmetry", "gradient_explorer", {"v1": -1.0}, "columns mirror each other"),
    ("02", "generator", "generator_explorer", {"flipped": 63}, "35"),
    ("03", "variance", "variance_explorer", {"depth": 50, "deviation": 0.14}, "10^14.6"),
    ("04", "xavier", "matrix_explorer", {"fan_in": 4, "fan_out": 2}, "gradient 0.667"),
    ("05", "gains", "gain_explorer", {"arriving": 1.25}, "39.7"),
    ("06", "replay", "insertion_explorer", {"n": 1}, "7 old ones"),
    ("07", "differentiation", "adjoint_explorer", {"b": -1}, "routes from a cancel"),
    ("07", "differentiation", "step_explorer", {"function": "ReLU", "x": 0.0}, "o step helps"),
    ("08", "depth", "depth_explorer", {"activation": "linear", "width": 16}, "0.601"),
    ("09", "features", "norm_explorer", {"factor": 0.01, "epsilon": 1.0}, "0.000125"),
    ("10", "batches", "momentum_explorer", {"size": 2}, "±0.32"),
    ("11", "starts", "starts_explorer", {"normalization": "layer"}, "small 0.16"),
    ("12", "policy", "table_explorer", {"vocabulary": 16384}, "0.000121"),
    ("13", "sharded", "sharding_explorer", {}, "A 48 draws in 8 runs"),
]


@pytest.mark.parametrize(("chapter", "module", "name", "settings", "said"), DEMONSTRATIONS)
def test_a_demonstration_shows_what_the_guide_promises(
    chapter: str, module: str, name: str, settings: dict[str, Any], said: str
) -> None:
    text = "".join(cell["source"] for cell in cells(ROOT / "notebooks" / guide.GUIDE))
    promised = text.partition(f"## {chapter} ")[2].partition("**To set.**")[0]
    assert said in " ".join(promised.partition("**Demonstration.**")[2].split())
    explorer = getattr(import_module(f"coursekit.explorers.{module}"), name)()
    assert said in explorer.tell(explorer.values | settings)


def test_the_speaker_alone_sees_the_notes(decks: dict[str, Any]) -> None:
    told = guide.read_guide(ROOT)
    for one in chapters():
        page = (decks["target"] / f"{one.path.stem}.html").read_text(encoding="utf-8")
        asides = re.findall(r'<aside class="notes[^"]*">(.*?)</aside>', page, re.S)
        assert len(asides) == 1 + len(one.sections)
        assert all(re.search(r"<strong>\d+ min\.</strong>", aside) for aside in asides)
        assert told[one.number].idea[:20] in asides[0]
        assert any("<em>Demonstration:</em>" in aside for aside in asides) is (one.number > "00")


def test_the_speakers_clock_gives_each_part_its_minutes(decks: dict[str, Any]) -> None:
    for one in chapters():
        page = (decks["target"] / f"{one.path.stem}.html").read_text(encoding="utf-8")
        minutes = sum(note.minutes for note in guide.read_guide(ROOT)[one.number].notes)
        assert f"totalTime: {60 * minutes}," in page
        given = [int(seconds) for seconds in re.findall(r'<section data-timing="(\d+)">', page)]
        assert len(given) == len(Seen(page).slides) - 1  # all but the title
        assert abs(sum(given) - 60 * minutes) <= len(given) / 2  # each is rounded


# --- in a browser -------------------------------------------------------------------------------

needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(browsing.chromium() is None, reason="chromium is missing"),
    pytest.mark.skipif(not OFFLINE, reason=f"the extra `slides` is missing: {assets.CURE}"),
]


@pytest.fixture
def opened() -> Iterator[tuple[Any, list[str]]]:
    """A page, and what it asked for elsewhere or complained of."""
    with browsing.browser_page(1280, 720) as page:
        trouble: list[str] = []
        page.on(
            "request",
            lambda asked: (
                asked.url.startswith(("file:", "data:", "blob:", "about:"))
                or trouble.append(asked.url)
            ),
        )
        page.on("console", lambda line: line.type == "error" and trouble.append(line.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        yield page, trouble


class TestBrowser:
    pytestmark = needs_browser

    def test_every_slide_of_every_deck_is_whole_and_large_enough(self, decks, opened) -> None:
        page, trouble = opened
        for path in CHAPTERS:
            page.goto((decks["target"] / f"{path.stem}.html").as_uri())
            page.wait_for_function("() => window.Reveal && Reveal.isReady() && MathJax.startup")
            page.evaluate("() => MathJax.startup.promise")
            shares = page.evaluate("""() => Reveal.getSlides().map(slide => {
                const {h, v} = Reveal.getIndices(slide);
                Reveal.slide(h, v, 99);
                fit(slide);
                return [Number(slide.dataset.share), slide.scrollHeight, slide.scrollWidth];
            })""")
            for number, (share, height, width) in enumerate(shares, start=1):
                assert share >= 0.75, (path.stem, number)
                assert height <= 722, (path.stem, number)
                assert width <= 1280, (path.stem, number)
            formulas = any("$" in cell["source"] for cell in cells(path))
            assert bool(page.locator("mjx-container").count()) is formulas
            assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
        assert trouble == []

    def test_keys_move_reveal_and_open_the_speakers_view(self, decks, opened) -> None:
        page, trouble = opened
        page.goto((decks["target"] / "01_break_symmetry.html").as_uri())
        page.wait_for_function("() => window.Reveal && Reveal.isReady()")
        page.keyboard.press("ArrowRight")
        assert page.locator("section.present section.present h2").inner_text() == "Predict"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        waiting = page.locator("section.present section.present .fragment:not(.visible)")
        assert page.locator("section.present section.present aside.notes").first.is_hidden()
        assert waiting.count() == 0 or waiting.first.is_hidden()
        with page.expect_popup() as popup:
            page.keyboard.press("s")
        speaker = popup.value
        speaker.wait_for_load_state()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        notes = speaker.locator(".speaker-controls-notes .value")
        notes.get_by_text("min.").wait_for(timeout=10_000)
        assert speaker.locator(".pacing").is_visible()
        assert trouble == []
