"""Turn notebooks into HTML with nbconvert and the templates beside this file.

nbconvert and not a book builder (Jupyter Book, MyST): it is installed with JupyterLab anyway, it
renders markdown and formulas as JupyterLab does, so a page and its notebook agree, and it needs
neither Node.js nor a network. The templates are short because pages need no script of their own.

nbconvert: https://nbconvert.readthedocs.io.
"""

import html
import posixpath
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML

from coursekit.publishing.assets import FOLDER

TEMPLATES = Path(__file__).parent / "templates"
_LINK = re.compile(r'<a href="(?!#|[a-z]+:)([^"#]*)(#[^"]*)?"([^>]*)>(.*?)</a>', re.S)
_LIVE = re.compile(r"\(Run this cell to move: ([^)<]*)\)")


class _Exporter(HTMLExporter):
    """nbconvert's own, less a last pass that adds what our templates have and doubles the time."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> Any:
        every: Any = TemplateExporter.from_notebook_node
        return every(self, nb, resources, **kw)


def exporter(template: str, pages: Mapping[str, str], anchors: bool) -> Any:
    """Return an nbconvert exporter for a template of ours.

    Args:
        pages: path from the course's folder → address of its page, for `relinked`.
        anchors: whether each heading carries a link to itself.
    """
    make: Any = _Exporter
    made = make(
        template_name="course",
        template_file=template,
        extra_template_basedirs=[str(TEMPLATES)],
        exclude_anchor_links=not anchors,
        anchor_link_text="#",
    )
    highlight: Any = Highlight2HTML
    made.register_filter("highlight_code", highlight(pygments_lexer="python", parent=made))
    made.register_filter("relinked", lambda text, folder: relinked(text, folder, pages))
    made.register_filter("still", still)
    return made


def rendered(made: Any, notebook: Any, **page: Any) -> str:
    """Return a notebook as one HTML page; the template reads `resources.page`."""
    text: str = made.from_notebook_node(notebook, resources={"page": page})[0]
    return text.rstrip() + "\n"


def fragment_of(made: Any, template: str, **page: Any) -> str:
    """Return a page that stands for no notebook, from another template of the same exporter."""
    text: str = made.environment.get_template(template).render(page=page)
    return text.rstrip() + "\n"


def styles(target: Path, *names: str) -> None:
    """Put our style sheets where the pages look for them."""
    (target / FOLDER).mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(TEMPLATES / "course" / name, target / FOLDER / name)


def relinked(text: str, folder: str, pages: Mapping[str, str]) -> str:
    """Let links between notebooks lead to their pages; a link to what has none is plain text.

    Args:
        folder: where the notebook lies that has the links, as `notebooks`.
        pages: path of a notebook or file from the course's folder → address of its page.

    >>> text = '<a href="../exercises/a.ipynb#B">b</a> <a href="c.ipynb">d</a>'
    >>> relinked(text, "notebooks", {"exercises/a.ipynb": "a.html"})
    '<a href="a.html#B">b</a> d'
    """

    def replaced(found: re.Match[str]) -> str:
        address, anchor, rest, label = found.groups(default="")
        page = pages.get(posixpath.normpath(f"{folder}/{unquote(address)}"))
        return label if page is None else f'<a href="{page}{anchor}"{rest}>{label}</a>'

    return _LINK.sub(replaced, text)


def still(text: str) -> str:
    """Say of an explorer that it stands still here.

    >>> still("<p>How far? (Run this cell to move: width, depth.)</p>")
    '<p>How far? (In the notebook you can move: width, depth.)</p>'
    """
    return _LIVE.sub(r"(In the notebook you can move: \1)", text)


def anchor(heading: str) -> str:
    """Return the id that nbconvert gives to a heading.

    >>> anchor("a. Rows of `W`"), anchor("b. [2, 2]")
    ('a.-Rows-of-W', 'b.-%5B2,-2%5D')
    """
    return quote(heading.replace("`", "").replace(" ", "-"), safe="?/:@!$&'()*+,;=")


def plain(markdown: str) -> str:
    """Return a line of markdown as text for a title or an attribute, formulas as they are typed."""
    return html.escape(re.sub(r"[*`]|\]\([^)]*\)|\[", "", markdown))
