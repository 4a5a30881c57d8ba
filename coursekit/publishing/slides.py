"""Make the slides of a chapter: `coursekit slides 3` writes build/slides/03_….html.

What is on which slide is computed from the chapter (`coursekit.slideshow`); the speaker notes come
from the guide. reveal.js shows them: keys right and left, `S` for the speaker's view with the
notes and a clock, `O` for all slides at once.

Cells to HTML: nbconvert. Slides: reveal.js, https://revealjs.com.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from coursekit.publishing.assets import MATHJAX, REVEAL, network_note, on_the_network, placed
from coursekit.publishing.guide import NOTHING, Note, Told, read_guide
from coursekit.publishing.lessons import Lesson, chapters, chosen
from coursekit.publishing.pages import exporter, fragment_of, plain, rendered, styles
from coursekit.slideshow import Part, has_figure, parts
from coursekit.workspace import course_root

TARGET = "build/slides"
COURSE = "How to start a neural network"


def make(
    numbers: Sequence[str] = (), root: Path | None = None, target: Path | None = None
) -> Iterator[str]:
    """Write the slides of the chapters with these numbers, of all when none is given.

    Args:
        root: folder of the course; found when not given.
        target: folder to write to; `build/slides` of the course when not given.
    Yields: a line for each thing done, to be shown.
    Raises: `CourseNotFound`, `UnknownChoice` for a number, before anything is written.
    """
    base = course_root() if root is None else root
    folder = base / TARGET if target is None else target
    available = chapters(base)
    wanted = chosen(numbers, available)
    guide = read_guide(base)
    folder.mkdir(parents=True, exist_ok=True)
    addresses, missing = _scripts(folder)
    if missing:
        yield network_note(missing, "slides")
    pages = {f"notebooks/{one.path.name}": f"{one.path.stem}.html" for one in available}
    made = exporter("slides.html.j2", pages, anchors=False)
    for place, one in enumerate(wanted, start=1):
        deck = deck_of(one, guide.get(one.number, NOTHING))
        about = {"title": one.title, "folder": "notebooks", **addresses}
        text = rendered(made, deck, **about)
        (folder / f"{one.path.stem}.html").write_text(text, encoding="utf-8")
        count = text.count("<section>") - sum(
            c.metadata.slide.opens[:1] == ["slide"] for c in deck.cells
        )
        yield f"[{place}/{len(wanted)}] {one.number} {one.title}: {count} slides"
    entries = [
        {"number": one.number, "title": plain(one.title), "address": f"{one.path.stem}.html"}
        for one in available
        if (folder / f"{one.path.stem}.html").is_file()
    ]
    index = fragment_of(made, "decks.html.j2", course=COURSE, entries=entries)
    (folder / "index.html").write_text(index, encoding="utf-8")
    yield f"open {folder / 'index.html'}"


def _scripts(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Put scripts and styles into place; return their addresses, and what is not installed."""
    styles(folder, "slides.css", "code.css", "course.css")
    mathjax, reveal = placed(MATHJAX, folder), placed(REVEAL, folder)
    missing = [c.library for c, got in ((MATHJAX, mathjax), (REVEAL, reveal)) if got is None]
    script, style, notes_plugin, *_ = reveal or on_the_network(REVEAL)
    addresses = {
        "mathjax": (mathjax or on_the_network(MATHJAX))[0],
        "reveal_js": script,
        "reveal_css": style,
        "notes_js": notes_plugin,
    }
    return addresses, missing


def deck_of(lesson: Lesson, told: Told) -> Any:
    """Return a chapter cut into slides: a notebook whose cells know what they open and close."""
    deck = deepcopy(lesson.notebook)
    cells: list[Any] = []
    section = ""
    by_part = {note.part: note for note in told.notes}
    cut = [part for part in parts(lesson.notebook.cells) if part.begins != "skip"]
    for part, after in zip(cut, [*cut[1:], None], strict=True):
        cell = deepcopy(lesson.notebook.cells[part.cell])
        if part.text is not None:
            cell.source = part.text
        if part.begins == "slide":
            section = part.text.partition("\n")[0].lstrip("# ") if part.text else ""
        title = section == lesson.title and part.begins == "slide"
        slide: dict[str, Any] = {"opens": _opens(part), "closes": _closes(part, after)}
        if part.begins != "fragment" and not title:
            slide["running"] = _running(lesson, "" if part.begins == "slide" else section)
        if part.begins == "slide":
            slide["told"] = _overview(told) if title else _spoken(by_part.get(section))
        cell.id = f"slide-{len(cells)}"  # pieces of one cell share its id
        cell.metadata = type(cell)({"slide": type(cell)(slide), "folded": has_figure(cell)})
        cells.append(cell)
    deck.cells = cells
    return deck


def _opens(part: Part) -> list[str]:
    return ["slide", "subslide"] if part.begins == "slide" else [part.begins]


def _closes(part: Part, after: Part | None) -> list[str]:
    closed = ["fragment"] if part.begins == "fragment" else []
    if after is None or after.begins != "fragment":
        closed.append("subslide")
    if after is None or after.begins == "slide":
        closed.append("slide")
    return closed


def _running(lesson: Lesson, section: str) -> str:
    """Return the line above a slide: a reader who looks up knows where the class is."""
    chapter = f"{int(lesson.number)} · {plain(lesson.title)}"
    return f"{chapter} · {section}" if section and section != lesson.title else chapter


def _spoken(note: Note | None) -> str:
    return "" if note is None else f"**{note.minutes} min.** {note.text}"


def _overview(told: Told) -> str:
    """Return the one idea and the minutes of all parts, for the first slide."""
    if not told.notes:
        return told.idea
    each = ", ".join(f"{note.part} {note.minutes}" for note in told.notes)
    return f"{told.idea}\n\n**{sum(note.minutes for note in told.notes)} min.** {each}."
