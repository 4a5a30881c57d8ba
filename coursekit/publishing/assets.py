"""The scripts that slides and pages need: from installed packages, else from the network.

Two programs draw what HTML alone cannot: MathJax the formulas, reveal.js the slides. Neither is
kept in this repository. The extra `slides` installs a package that carries each, whole and
unchanged: `django-static-mathjax` (needs no Django, and nothing else) and `pyreveal` (needs
nothing). Their Python is never run; two files are copied from one, three from the other.

Chosen are builds that need no fonts and load nothing more: MathJax as one script that draws SVG.
So a page opens from a folder, a stick or a server in the same way, and asks nobody for anything.
nbconvert's usual template would need require.js and jQuery too; ours needs neither.

MathJax: https://docs.mathjax.org. reveal.js: https://revealjs.com.
"""

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nbconvert.exporters.slides import SlidesExporter

CURE = "pip install -c constraints.txt -e '.[slides]'"
FOLDER = "_static"


@dataclass(frozen=True)
class Carrier:
    """A package that carries a script library, and the files of it that are used.

    `module` is what it installs, `inside` the folder of the library in it.
    """

    library: str
    module: str
    inside: str
    files: tuple[str, ...]


MATHJAX = Carrier(
    "MathJax",
    "mathjax",
    "static/mathjax",
    ("es5/tex-svg-full.js", "LICENSE"),
)
REVEAL = Carrier(
    "reveal.js",
    "pyreveal",
    "revealjs",
    ("dist/reveal.js", "dist/reveal.css", "dist/plugin/notes.js", "LICENSE"),
)


def installed(carrier: Carrier) -> Path | None:
    """Return the folder of the library, or None where its package is missing or another one."""
    spec = find_spec(carrier.module)  # looks the package up and does not run it
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place, carrier.inside)
        if all((folder / name).is_file() for name in carrier.files):
            return folder
    return None


def placed(carrier: Carrier, target: Path) -> list[str] | None:
    """Copy the files of a library below `target`; return their addresses from there, or None."""
    source = installed(carrier)
    if source is None:
        return None
    addresses = [f"{FOLDER}/{carrier.module}/{Path(name).name}" for name in carrier.files]
    for name, address in zip(carrier.files, addresses, strict=True):
        (target / address).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / address)
    return addresses


def on_the_network(carrier: Carrier) -> list[str]:
    """Return the addresses of the same scripts where nbconvert would fetch them from."""
    make: Any = SlidesExporter
    usual = make()
    if carrier is MATHJAX:
        return [usual.mathjax_url]
    names = ("dist/reveal.js", "dist/reveal.css", "plugin/notes/notes.js")
    return [f"{usual.reveal_url_prefix}/{name}" for name in names]


def network_note(missing: list[str], what: str) -> str:
    """Return the one line that says what will need the network, and what would end that.

    >>> network_note(["MathJax", "reveal.js"], "slides")
    "MathJax and reveal.js are not installed: these slides fetch them from the network. \
Offline: pip install -c constraints.txt -e '.[slides]'"
    """
    verb, them = ("is", "it") if len(missing) == 1 else ("are", "them")
    return (
        f"{' and '.join(missing)} {verb} not installed: these {what} fetch {them} from the "
        f"network. Offline: {CURE}"
    )
