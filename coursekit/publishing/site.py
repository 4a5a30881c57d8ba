"""Make the static edition: `coursekit site` writes build/site/index.html and all its pages.

Every chapter and every exercise (without answers) is one page that opens without a kernel, a
server or a network. Links between notebooks become links between pages. Made by nbconvert; see
`pages` for why.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coursekit.publishing.assets import MATHJAX, network_note, on_the_network, placed
from coursekit.publishing.lessons import Lesson, chapters, exercises
from coursekit.publishing.pages import anchor, exporter, fragment_of, plain, rendered, styles
from coursekit.workspace import course_root

TARGET = "build/site"
COURSE = "How to start a neural network"
DESCRIPTION = (
    "Where the first weights come from, and what keeps signals in range once training moves them: "
    "derived by hand, predicted, run and checked."
)
ABOUT = (
    "These pages show the notebooks as they were run. In the notebooks themselves you run every "
    "cell, move the explorers and have your answers to the exercises checked."
)
_FILE = re.compile(r"\]\((?!#|[a-z]+:)([^)\s#]+)")


def make(root: Path | None = None, target: Path | None = None) -> Iterator[str]:
    """Write the static edition.

    Args:
        root: folder of the course; found when not given.
        target: folder to write to; `build/site` of the course when not given.
    Yields: a line for each thing done, to be shown.
    Raises: `CourseNotFound`; `NotebookRefused` for a notebook that cannot be read.
    """
    base = course_root() if root is None else root
    folder = base / TARGET if target is None else target
    lists = [("Chapters", chapters(base)), ("Exercises", exercises(base))]
    folder.mkdir(parents=True, exist_ok=True)
    styles(folder, "course.css", "code.css")
    mathjax = placed(MATHJAX, folder)
    if mathjax is None:
        mathjax = on_the_network(MATHJAX)
        yield network_note([MATHJAX.library], "pages")
    every = [one for _, lessons in lists for one in lessons]
    pages = {f"{one.path.parent.name}/{one.path.name}": _address(one) for one in every}
    pages |= _copied_files(every, base, folder)
    about = {"course": COURSE, "mathjax": mathjax[0], "description": DESCRIPTION}
    made = exporter("page.html.j2", pages, anchors=True)
    for _, lessons in lists:
        for place, one in enumerate(lessons):
            page = about | _page(one, lessons[place - 1 : place], lessons[place + 1 : place + 2])
            (folder / _address(one)).write_text(rendered(made, one.notebook, **page), "utf-8")
            yield f"[{every.index(one) + 1}/{len(every)}] {one.number} {one.title}"
    entries = [(heading, [_entry(one) for one in lessons]) for heading, lessons in lists if lessons]
    index = fragment_of(made, "index.html.j2", **about, about=ABOUT, lists=entries)
    (folder / "index.html").write_text(index, encoding="utf-8")
    yield f"open {folder / 'index.html'}"


def _address(lesson: Lesson) -> str:
    return f"{lesson.path.stem}.html"


def _entry(lesson: Lesson) -> dict[str, Any]:
    return {
        "number": lesson.number.removeprefix("ex"),
        "title": plain(lesson.title),
        "address": _address(lesson),
        "minutes": lesson.minutes,
        "outcome": lesson.outcome,
    }


def _page(lesson: Lesson, before: Sequence[Lesson], after: Sequence[Lesson]) -> dict[str, Any]:
    neighbours = [("prev", one) for one in before] + [("next", one) for one in after]
    place = lesson.number.removeprefix("ex")
    return {
        "title": plain(lesson.title),
        "description": plain(lesson.outcome),
        "folder": lesson.path.parent.name,
        "place": f"{'Exercise' if place != lesson.number else 'Chapter'} {int(place)}",
        "sections": [{"title": plain(one), "anchor": anchor(one)} for one in lesson.sections],
        "neighbours": [(word, _entry(one)) for word, one in neighbours],
    }


def _copied_files(lessons: Sequence[Lesson], root: Path, folder: Path) -> dict[str, str]:
    """Copy what notebooks link to beside notebooks; return path → address."""
    found = {}
    for one in lessons:
        text = "\n".join(c.source for c in one.notebook.cells if c.cell_type == "markdown")
        for link in _FILE.findall(text):
            source = (one.path.parent / link).resolve()
            if source.suffix == ".ipynb" or not source.is_file():
                continue
            if source.is_relative_to((root / "notebooks").resolve()):
                address = source.relative_to((root / "notebooks").resolve()).as_posix()
                (folder / address).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, folder / address)
                found[f"notebooks/{address}"] = address
    return found
