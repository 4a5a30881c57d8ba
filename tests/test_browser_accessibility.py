"""What a reader with a screen reader or without a mouse meets: `pytest -m browser`.

axe-core looks at every output of every chapter after it ran, figures and explorers included. What
JupyterLab itself does around them is not ours to mend and not looked at.
"""

import json
import shutil
from collections.abc import Iterator
from typing import Any

import browsing
import pytest
from test_browser import PANEL, open_chapter, run_all

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        browsing.chromium() is None, reason="chromium is missing: apt-get install chromium"
    ),
]

CHAPTERS = sorted(path.stem for path in (browsing.ROOT / "notebooks").glob("[0-9]*.ipynb"))
EXERCISE = "ex01_scale_a_square_matrix.ipynb"
# What a learner types into the cells that wait for an answer, in their order.
ANSWERS = [
    "square = [1 / 2, math.sqrt(1 / 2), math.sqrt(3 / 2)]",
    "scale = lambda i, o: [2 / (i + o), math.sqrt(2 / (i + o)), math.sqrt(6 / (i + o))]",
    "pair = [2, 1]",
]
SERIOUS = {"serious", "critical"}
# The handle of a slider of ipywidgets 8.1 has a role, a value and a text for it, but no name, and
# no way to give it one: the library passes none of its options to noUiSlider. Our part is done: the
# name stands beside the handle, as the text and the title of a label.
UPSTREAM = ("aria-input-field-name", "noUi-handle")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browsing.Server]:
    root = browsing.copied_course(tmp_path_factory.mktemp("course"))
    with browsing.jupyterlab(root) as running:
        yield running


@pytest.fixture
def page() -> Iterator[Any]:
    with browsing.browser_page(1280, 900) as opened:
        yield opened


def serious_findings(page: Any, context: str) -> list[str]:
    """What axe finds inside the elements of `context`, one line an element."""
    found = axe.Axe().run(page, context={"include": [[context]]}).response
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in found["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
        if not (violation["id"] == UPSTREAM[0] and UPSTREAM[1] in node["html"])
    ]


@pytest.mark.parametrize("stem", CHAPTERS)
def test_axe_finds_nothing_serious_in_the_outputs_of_a_chapter_that_ran(
    page: Any, server: browsing.Server, stem: str
) -> None:
    open_chapter(page, server, stem)
    run_all(page)
    assert page.locator(f"{PANEL} .jp-OutputArea figure").count() > 0
    assert serious_findings(page, f"{PANEL} .jp-OutputArea") == []
    for slider in page.locator(f"{PANEL} .widget-slider").all():
        label = slider.locator("label")
        assert label.text_content().strip()
        assert label.get_attribute("title") == label.text_content()


def waiting(cell: Any) -> bool:
    return cell.locator(".cm-content", has_text="your code here").count() > 0


def test_an_exercise_is_completed_without_a_mouse(page: Any, server: browsing.Server) -> None:
    work = server.root / "my_work"
    work.mkdir()
    shutil.copy(browsing.ROOT / "exercises" / EXERCISE, work)
    page.goto(server.page(f"my_work/{EXERCISE}"))
    page.wait_for_selector(f"{PANEL} .jp-Cell h1", timeout=60_000)
    browsing.wait_until_idle(page)

    answers = iter(ANSWERS)
    cells = page.locator(f"{PANEL} .jp-Cell")
    for number in range(cells.count()):
        assert cells.nth(number).evaluate(
            "cell => cell.classList.contains('jp-mod-active') && "
            "cell.closest('.jp-Notebook').contains(document.activeElement)"
        ), f"the keyboard has lost the notebook at cell {number}"
        if waiting(cells.nth(number)):
            page.keyboard.press("Enter")
            page.keyboard.press("Control+a")
            page.keyboard.type(next(answers))
        page.keyboard.press("Shift+Enter")
        browsing.wait_until_idle(page)

    assert next(answers, None) is None
    kept = json.loads((work / "progress.json").read_text(encoding="utf-8"))
    assert kept["passed"] == ["ex01.a", "ex01.b", "ex01.c"]
