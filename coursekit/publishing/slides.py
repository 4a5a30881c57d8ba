"""Make the slides of a chapter: `coursekit slides 3` writes build/slides/03_….html.

What is on which slide is computed from the chapter (`coursekit.slideshow`); the speaker notes come
from the guide, with the minutes of each part: the speaker's view tells whether the class is ahead
or behind. reveal.js shows them: keys right and left, `S` for the speaker's view with notes and
clock, `O` for all slides at once.

Cells to HTML: nbconvert. Slides: reveal.js, https://revealjs.com.
"""

from collections import Counter
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
FRAGMENT = "fragment"
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
        told = guide.get(one.number, NOTHING)
        deck = deck_of(one, told)
        seconds = 60 * sum(note.minutes for note in told.notes)
        about = {"title": one.title, "folder": "notebooks", "seconds": seconds, **addresses}
        text = rendered(made, deck, **about)
        (folder / f"{one.path.stem}.html").write_text(text, encoding="utf-8")
        count = sum("subslide" in cell.metadata.slide.opens for cell in deck.cells)
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
    cut = [part for part in parts(deck.cells) if part.begins != "skip"]
    sections = _sections(cut)
    slides_in = Counter(s for part, s in zip(cut, sections, strict=True) if part.begins != FRAGMENT)
    notes = {note.part: note for note in told.notes}
    cells: list[Any] = []
    for part, after, section in zip(cut, [*cut[1:], None], sections, strict=True):
        cell = deepcopy(deck.cells[part.cell])
        if part.text is not None:
            cell.source = part.text
        slide: dict[str, Any] = {"opens": _opens(part), "closes": _closes(part, after)}
        if part.begins != FRAGMENT:
            slide["running"] = _running(lesson, section, begins=part.begins == "slide")
            if note := notes.get(section):
                slide["seconds"] = round(60 * note.minutes / slides_in[section])
        if part.begins == "slide":
            slide["told"] = _spoken(notes.get(section)) if section else _overview(told)
        cell.id = f"slide-{len(cells)}"  # pieces of one cell share its id
        cell.metadata = type(cell)({"slide": type(cell)(slide), "folded": has_figure(cell)})
        cells.append(cell)
    deck.cells = cells
    return deck


def _sections(cut: Sequence[Part]) -> list[str]:
    """Return for each part the heading it stands under; that of the title is empty."""
    found = []
    section = ""
    for part in cut:
        if part.begins == "slide" and part.text and part.text.startswith("## "):
            section = part.text.partition("\n")[0].removeprefix("## ").strip()
        found.append(section)
    return found


def _opens(part: Part) -> list[str]:
    return ["slide", "subslide"] if part.begins == "slide" else [part.begins]


def _closes(part: Part, after: Part | None) -> list[str]:
    closed = [FRAGMENT] if part.begins == FRAGMENT else []
    if after is None or after.begins != FRAGMENT:
        closed.append("subslide")
    if after is None or after.begins == "slide":
        closed.append("slide")
    return closed


def _running(lesson: Lesson, section: str, begins: bool) -> str:
    """Return the line above a slide: a reader who looks up knows where the class is."""
    chapter = f"{int(lesson.number)} · {plain(lesson.title)}"
    if begins:
        return chapter if section else ""  # the heading itself stands below
    return f"{chapter} · {plain(section)}" if section else chapter


def _spoken(note: Note | None) -> str:
    return "" if note is None else f"**{note.minutes} min.** {note.text}"


def _overview(told: Told) -> str:
    """Return the one idea and the minutes of all parts, for the first slide."""
    if not told.notes:
        return told.idea
    each = ", ".join(f"{note.part} {note.minutes}" for note in told.notes)
    return f"{told.idea}\n\n**{sum(note.minutes for note in told.notes)} min.** {each}."
