"""A learner's first ten minutes, in a real browser: `pytest -m browser`.

JupyterLab runs as `coursekit lab` starts it, on a copy of the course; chromium does what a learner
does: reads before running, runs all, moves a slider by keyboard, follows a link.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsing
import pytest

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        browsing.chromium() is None, reason="chromium is missing: apt-get install chromium"
    ),
]

CHAPTER, NEXT_CHAPTER = "01_break_symmetry", "02_draw_repeatable_numbers"
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browsing.Server]:
    root = browsing.copied_course(tmp_path_factory.mktemp("course"))
    with browsing.jupyterlab(root) as running:
        yield running


@pytest.fixture
def page() -> Iterator[Any]:
    with browsing.browser_page(1280, 900) as opened:
        yield opened


def open_chapter(page: Any, server: browsing.Server, stem: str) -> None:
    page.goto(server.page(f"notebooks/{stem}.ipynb"))
    page.wait_for_selector(f"{PANEL} .jp-Cell h1", timeout=60_000)
    browsing.wait_until_idle(page)


def run_all(page: Any) -> None:
    """Run every cell; once more if a busy machine let the click reach a notebook not yet ready."""
    from playwright.sync_api import TimeoutError as OutOfTime

    for last, milliseconds in ((False, 40_000), (True, 90_000)):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        try:
            page.wait_for_function(
                "panel => document.querySelectorAll(panel + ' .jp-CodeCell').length > 0 && "
                "[...document.querySelectorAll(panel + ' .jp-CodeCell .jp-InputPrompt')]"
                ".every(prompt => /\\[\\d+\\]/.test(prompt.textContent))",
                arg=PANEL,
                timeout=milliseconds,
            )
            break
        except OutOfTime:
            if last:
                raise
    browsing.wait_until_idle(page)


def seen(card: Any) -> dict[str, str]:
    """What the card of an explorer shows and says."""
    image = card.locator("img")
    return {
        "picture": image.get_attribute("src"),
        "alt": image.get_attribute("alt"),
        "numbers": card.locator("details pre").text_content(),
    }


def test_coursekit_lab_opens_the_start_chapter(page: Any, server: browsing.Server) -> None:
    page.goto(f"{server.url}/?token={server.token}")
    page.wait_for_selector(f"{PANEL} .jp-Cell h1", timeout=60_000)
    assert (
        page.locator(".lm-TabBar-tab.lm-mod-current", has_text="00_start_here.ipynb").count() == 1
    )


def test_a_chapter_is_read_run_moved_and_left_for_the_next(
    page: Any, server: browsing.Server
) -> None:
    open_chapter(page, server, CHAPTER)

    # Before anything runs, every stored figure is there, and says what it shows.
    stored = page.locator(f"{PANEL} .jp-OutputArea figure img")
    stored.nth(1).wait_for(state="attached", timeout=60_000)
    for place in range(stored.count()):
        assert stored.nth(place).get_attribute("alt")
        assert stored.nth(place).evaluate("image => image.naturalWidth") > 300

    run_all(page)
    page.wait_for_selector(f"{PANEL} .jupyter-widgets figure img", timeout=30_000)
    for trouble in ("error", "stderr"):
        kind = f'[data-mime-type="application/vnd.jupyter.{trouble}"]'
        assert page.locator(f"{PANEL} {kind}").count() == 0

    # The slider is a stop of the tab key, and one press of an arrow key redraws the card.
    handle = page.locator(f"{PANEL} .noUi-handle").first
    assert handle.get_attribute("role") == "slider"
    assert handle.get_attribute("tabindex") == "0"
    card = page.locator(f"{PANEL} .jupyter-widgets figure").first
    before = seen(card)
    handle.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([panel, old]) => document.querySelector(panel + ' .jupyter-widgets figure img').src"
        " !== old",
        arg=[PANEL, before["picture"]],
        timeout=10_000,
    )
    after = seen(card)
    assert all(before[part] != after[part] for part in before)
    assert all(after.values())

    # The link at the end leads on.
    link = page.locator(f'{PANEL} .jp-MarkdownOutput a[href*="{NEXT_CHAPTER}"]').last
    link.scroll_into_view_if_needed()
    link.click()
    tab = page.locator(".lm-TabBar-tab.lm-mod-current", has_text=f"{NEXT_CHAPTER}.ipynb")
    tab.wait_for(timeout=30_000)
    page.wait_for_selector(f"{PANEL} .jp-Cell h1", timeout=30_000)


def test_the_copy_was_opened_and_not_the_course(server: browsing.Server) -> None:
    assert server.root.resolve() != Path(browsing.ROOT)
    assert (server.root / "notebooks").is_dir()
