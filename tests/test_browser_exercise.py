"""A learner who errs, takes the hint, mends it, and sees the progress move: `pytest -m browser`."""

from collections.abc import Iterator
from typing import Any

import browsing
import pytest
from test_browser import PANEL, open_chapter, run_all

from coursekit import workspace
from coursekit.checks import all_parts

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        browsing.chromium() is None, reason="chromium is missing: apt-get install chromium"
    ),
]

EXERCISE = "ex01_scale_a_square_matrix.ipynb"
WRONG = "square = [1 / 2, math.sqrt(1 / 2), math.sqrt(1 / 2)]"
RIGHT = "square = [1 / 2, math.sqrt(1 / 2), math.sqrt(3 / 2)]"


@pytest.fixture
def server(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[browsing.Server]:
    root = browsing.copied_course(tmp_path)
    (root / "coursekit").mkdir()  # the mark of a course; the package itself is installed
    monkeypatch.chdir(root)
    workspace.start("1")
    with browsing.jupyterlab(root) as running:
        yield running


@pytest.fixture
def page() -> Iterator[Any]:
    with browsing.browser_page(1280, 900) as opened:
        yield opened


def answer(page: Any, cell: Any, text: str) -> str:
    """Write `text` into a cell, run it and the check below it; return what the check says."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    browsing.wait_until_idle(page)
    check = page.locator(f"{PANEL} .jp-CodeCell", has_text='check("ex01.a", square)')
    return str(check.locator(".jp-OutputArea-output").last.text_content())


def test_an_answer_fails_takes_the_hint_passes_and_counts(
    page: Any, server: browsing.Server
) -> None:
    page.goto(server.page(f"my_work/{EXERCISE}"))
    page.wait_for_selector(f"{PANEL} .jp-Cell h1", timeout=60_000)
    browsing.wait_until_idle(page)
    run_all(page)
    assert "ex01.a not started" in page.locator(PANEL).text_content()

    # The cell is found by its place: its text is about to change.
    sources = page.locator(f"{PANEL} .jp-CodeCell").all_text_contents()
    place = next(index for index, text in enumerate(sources) if "your code here" in text)
    cell = page.locator(f"{PANEL} .jp-CodeCell").nth(place)
    said = answer(page, cell, WRONG)
    assert said.startswith("ex01.a not yet: got ")
    assert "Hint: " in said

    hint = page.locator(f"{PANEL} details", has_text="Hint 2").first
    words = hint.evaluate("details => details.textContent.replace('Hint 2', '').trim()")
    assert not hint.evaluate("details => details.open")
    hint.locator("summary").click()
    assert hint.evaluate("details => details.open")
    assert words

    assert answer(page, cell, RIGHT).startswith("ex01.a passed: ")
    open_chapter(page, server, "00_start_here")
    run_all(page)
    counted = f"1 of {len(all_parts())} parts passed in my_work/"
    assert counted in page.locator(PANEL).text_content()
