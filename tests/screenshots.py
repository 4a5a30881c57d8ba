"""Render notebooks in JupyterLab and save them as pictures, a page at a time.

    python tests/screenshots.py NOTEBOOK... FOLDER [--dark] [--width 900] [--run] [--lab]

`--run` executes all cells first (in a copy: the notebook itself is never written), `--lab` shows
the whole window with its sidebar instead of the notebook alone. Writes FOLDER/<stem>-01.png, …
and says whether a cell printed an error or a warning.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import browsing

SETTINGS: dict[str, Any] = {
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none", "scrollPastEnd": False},
}
OVERLAP = 40  # pixels that two pages share


def main() -> int:
    parser = argparse.ArgumentParser(description="Save notebooks as pictures, a page at a time.")
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--dark", action="store_true", help="the dark theme of JupyterLab")
    parser.add_argument("--width", type=int, default=1280, help="of the window, in pixels")
    parser.add_argument("--height", type=int, default=1000, help="of one page, in pixels")
    parser.add_argument("--run", action="store_true", help="execute all cells first")
    parser.add_argument("--lab", action="store_true", help="the whole window, with its sidebar")
    wanted = parser.parse_args()
    if browsing.chromium() is None:
        print("no chromium on this machine: apt-get install chromium", file=sys.stderr)
        return 1
    missing = [str(path) for path in wanted.notebooks if not path.is_file()]
    if missing:
        print(f"no such notebook: {', '.join(missing)}", file=sys.stderr)
        return 1
    settings = dict(SETTINGS)
    if wanted.dark:
        settings["@jupyterlab/apputils-extension:themes"] = {"theme": "JupyterLab Dark"}
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="course-copy-") as copy:
        root = Path(copy)
        paths = [_copied(path.resolve(), root) for path in wanted.notebooks]
        with (
            browsing.jupyterlab(root, settings=settings) as server,
            browsing.browser_page(wanted.width, wanted.height, wanted.dark) as page,
        ):
            for path in paths:
                _save(page, server, path, wanted)
    return 0


def _copied(path: Path, root: Path) -> str:
    """Copy the notebook's folder and its neighbours once; return the notebook's place there."""
    if not (root / path.parent.name).exists():
        browsing.copied_course(root, path.parent.parent)
    target = root / path.parent.name / path.name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    return target.relative_to(root).as_posix()


def _save(page: Any, server: browsing.Server, path: str, wanted: argparse.Namespace) -> None:
    page.goto(server.page(path, "lab" if wanted.lab else "doc"))
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    browsing.wait_until_idle(page)
    if wanted.run:
        page.evaluate(_RUN_ALL)
        browsing.wait_until_idle(page, seconds=120)
    page.wait_for_timeout(1500)  # formulas are typeset after the last output
    page.mouse.move(wanted.width - 40, 5)  # no tooltip in the picture
    stem = Path(path).stem
    pages = 0
    top = -1
    page.evaluate(_SCROLL, 0)
    while True:
        page.wait_for_timeout(250)
        now = page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTop")
        if now <= top:
            break
        top = now
        pages += 1
        page.screenshot(path=wanted.folder / f"{stem}-{pages:02d}.png")
        page.evaluate(_SCROLL, top + page.evaluate(_HEIGHT) - OVERLAP)
    told = ", ".join(f"{count} {what}" for what, count in page.evaluate(_TROUBLE).items() if count)
    print(f"{path}: {pages} pages, {told or 'no error or warning'}", flush=True)


_RUN_ALL = """async () => {
    await window.jupyterapp.shell.currentWidget.sessionContext.ready;
    await window.jupyterapp.commands.execute('notebook:run-all-cells');
}"""
_SCROLL = "to => { document.querySelector('.jp-WindowedPanel-outer').scrollTop = to }"
_HEIGHT = "() => document.querySelector('.jp-WindowedPanel-outer').clientHeight"
_TROUBLE = """() => ({
    errors: document.querySelectorAll('[data-mime-type="application/vnd.jupyter.error"]').length,
    warnings: document.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"]').length,
    "cells not run": [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
        .filter(prompt => prompt.textContent.includes('[ ]')).length,
    "formulas that failed": document.querySelectorAll('mjx-merror').length,
})"""


if __name__ == "__main__":
    sys.exit(main())
