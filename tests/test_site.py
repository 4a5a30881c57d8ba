"""The static edition: links lead on, pictures speak, and it reads without kernel or network."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import browsing
import pytest

from coursekit import __main__ as command_line
from coursekit.publishing import assets, lessons, pages, site

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = lessons.chapters(ROOT)
ALL = [*CHAPTERS, *lessons.exercises(ROOT)]
WIDTHS = (400, 900, 1280)


class Page(HTMLParser):
    """What a page refers to, and what it shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.images: list[str] = []
        self.tags: list[str] = []
        self.heads: list[int] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        if tag == "a":
            self.links.append(given["href"])
        elif tag in ("script", "link", "img") and (
            address := given.get("src") or given.get("href", "")
        ):
            self.loads.append(address)
        if tag == "img":
            self.images.append(given.get("alt", ""))
        if re.fullmatch("h[1-6]", tag):
            self.heads.append(int(tag[1]))


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    target = tmp_path_factory.mktemp("site")
    return target, list(site.make(root=ROOT, target=target))


def read(edition: tuple[Path, list[str]], name: str) -> Page:
    return Page((edition[0] / name).read_text(encoding="utf-8"))


def test_there_is_a_page_for_each_and_the_contents_lead_to_all(edition) -> None:
    target, said = edition
    names = [f"{one.path.stem}.html" for one in ALL]
    assert {path.name for path in target.glob("*.html")} == {"index.html", *names}
    assert said[-1] == f"open {target / 'index.html'}"
    assert [line.split("] ")[1] for line in said if line.startswith("[")] == [
        f"{one.number} {one.title}" for one in ALL
    ]
    text = (target / "index.html").read_text(encoding="utf-8")
    assert [link for link in Page(text).links if link in names] == names
    assert all(f"{one.minutes} minutes" in text for one in ALL if one.minutes)


def test_every_link_leads_to_a_page_or_a_heading_that_is_there(edition) -> None:
    target, _ = edition
    made = {path.name: read(edition, path.name) for path in target.glob("*.html")}
    for name, page in made.items():
        assert len(set(page.ids)) == len(page.ids), f"{name}: an id twice"
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                assert link.startswith("https://")
                continue
            place, _, anchor = link.partition("#")  # ids are quoted as links are
            assert not place.endswith(".ipynb"), f"{name}: {link}"
            assert not place or (target / place).is_file(), f"{name}: {link} leads nowhere"
            if anchor:
                assert anchor in made[place or name].ids, f"{name}: {link} has no heading"


def test_pages_load_only_what_lies_beside_them(edition) -> None:
    target, said = edition
    offline = assets.installed(assets.MATHJAX) is not None
    assert (assets.network_note(["MathJax"], "pages") in said) is not offline
    for path in target.glob("*.html"):
        for address in read(edition, path.name).loads:
            if not address.startswith("data:image/png;base64,"):
                assert (target / address).is_file() or not offline, f"{path.name}: {address}"


def test_pictures_say_what_they_show_and_answers_are_folded(edition) -> None:
    for one in ALL:
        page = read(edition, f"{one.path.stem}.html")
        stored = sum(
            str(output.get("data", {}).get("text/html", "")).count("<img")
            for cell in one.notebook.cells
            for output in cell.get("outputs", [])
        )
        assert len(page.images) == stored
        assert all(len(alt) > 20 and "No description" not in alt for alt in page.images)
        text = "\n".join(c.source for c in one.notebook.cells if c.cell_type == "markdown")
        assert page.tags.count("details") == text.count("<details") + stored
        assert page.tags.count("main") == page.heads.count(1) == 1
        assert page.heads[0] == 1


def test_nothing_promises_a_kernel(edition) -> None:
    for path in edition[0].glob("*.html"):
        assert "Run this cell" not in path.read_text(encoding="utf-8")


def test_neighbours_are_those_of_the_list(edition) -> None:
    for place, one in enumerate(CHAPTERS):
        text = (edition[0] / f"{one.path.stem}.html").read_text(encoding="utf-8")
        found = dict(re.findall(r'href="(\w+)\.html" rel="(prev|next)"', text))
        expected = {}
        if place:
            expected[CHAPTERS[place - 1].path.stem] = "prev"
        if place + 1 < len(CHAPTERS):
            expected[CHAPTERS[place + 1].path.stem] = "next"
        assert found == expected


def test_the_guide_is_no_page_and_links_to_what_has_none_are_text(edition) -> None:
    assert not list(edition[0].glob("*guide*"))
    text = '<a href="a.ipynb">a</a> <a href="#b">b</a> <a href="https://c.org">c</a>'
    assert pages.relinked(text, "notebooks", {}) == text.replace('<a href="a.ipynb">a</a>', "a")
    up = '<a href="../notebooks/a%20b.ipynb#C">c</a>'
    assert pages.relinked(up, "exercises", {"notebooks/a b.ipynb": "ab.html"}) == (
        '<a href="ab.html#C">c</a>'
    )


def test_a_lesson_tells_what_its_first_cell_says() -> None:
    one = CHAPTERS[1]
    assert (one.number, one.title) == ("01", "Break the symmetry")
    assert one.outcome.startswith("After this chapter you can")
    assert one.sections[0] == "Predict"
    assert all(chapter.minutes for chapter in CHAPTERS)


def test_the_command_says_what_it_does(monkeypatch, capsys) -> None:
    monkeypatch.setattr(site, "make", lambda: iter(["made"]))
    assert command_line.main(["site"]) == 0
    assert capsys.readouterr().out == "made\n"


# --- in a browser -------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.skipif(browsing.chromium() is None, reason="chromium is missing")
@pytest.mark.skipif(
    assets.installed(assets.MATHJAX) is None, reason=f"the extra is missing: {assets.CURE}"
)
def test_it_is_read_from_cover_to_cover(edition) -> None:
    """From the contents through every chapter by its link to the next, without a server."""
    with browsing.browser_page(WIDTHS[0], 900) as page:
        trouble = asked_or_complained(page)
        page.goto((edition[0] / "index.html").as_uri())
        page.get_by_role("link", name=CHAPTERS[0].title, exact=True).click()
        for one in CHAPTERS:
            page.wait_for_url(f"**/{one.path.stem}.html")
            page.wait_for_function("() => window.MathJax && MathJax.startup?.promise")
            page.evaluate("() => MathJax.startup.promise")
            assert page.locator("[data-mjx-error]").count() == 0
            broken = "() => [...document.images].filter(image => !image.naturalWidth).length"
            assert page.evaluate(broken) == 0
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                fits = "() => document.documentElement.scrollWidth <= innerWidth"
                assert page.evaluate(fits), (one.number, width)
            answer = page.locator(".prose details").first
            if answer.count():
                assert answer.get_attribute("open") is None
                answer.locator("summary").click()
                assert answer.get_attribute("open") is not None
            if (after := page.locator('a[rel="next"]')).count():
                after.click()
        assert trouble == []


def asked_or_complained(page: Any) -> list[str]:
    """Return a list that fills with what a page asks for elsewhere and what it complains of."""
    trouble: list[str] = []
    page.on(
        "request",
        lambda asked: asked.url.startswith(("file:", "data:")) or trouble.append(asked.url),
    )
    page.on("console", lambda line: line.type == "error" and trouble.append(line.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    return trouble
