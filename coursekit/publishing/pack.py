"""Pack what a class is handed: `coursekit pack` writes one zip into build/.

In it: the notebooks, the exercises without their answers, the package, the pinned versions and the
README. Not in it: the solutions, the instructor's guide, the tests, anybody's own work. The README
leaves out what needs these (marked there by comments), so its commands work where it is unpacked.

The same course gives the same bytes on every machine: names sorted, one time and one mode for all,
and stored rather than deflated, because versions of zlib differ in their output. Pictures are most
of it and hardly shrink. Format: ZIP, APPNOTE 6.3.

Not promised: that the answers cannot be found. The checks must know them; they stand in
`coursekit/checks`, not beside the questions.
"""

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from coursekit.notebook_files import replace_whole
from coursekit.publishing.guide import GUIDE
from coursekit.workspace import course_root

NAME = "how-to-start-a-neural-network"
TARGET = f"build/{NAME}.zip"
FILES = ("README.md", "LICENSE", "CHANGELOG.md", "constraints.txt", "pyproject.toml")
FOLDERS = {
    "coursekit": {".py", ".json", ".j2", ".css"},
    "exercises": {".ipynb"},
    "notebooks": {".ipynb", ".csv", ".gz", ".md", ".png"},
}
KEPT_BACK = {f"notebooks/{GUIDE}"}
TEST_EXTRA = ".[test]"
_MARKED = re.compile(r"<!-- not handed out -->.*?<!-- end -->\n*", re.S)
_TIME = (1980, 1, 1, 0, 0, 0)  # the oldest that the format can say
_MODE = 0o100644 << 16  # a plain file, readable by all
_UNIX = 3


def make(root: Path | None = None, target: Path | None = None) -> Iterator[str]:
    """Write the zip, whole or not at all.

    Args:
        root: folder of the course; found when not given.
        target: file to write; `build/how-to-start-a-neural-network.zip` when not given.
    Yields: a line for each part of the course, then name, size and SHA-256.
    Raises: `CourseNotFound`; `OSError` where a file cannot be read or the zip not written.
    """
    base = course_root() if root is None else root
    file = base / TARGET if target is None else target
    buffer = io.BytesIO()
    counts: dict[str, list[int]] = {}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members(base):
            part = name.partition("/")[0] if "/" in name else "beside them"
            counts.setdefault(part, []).append(len(content))
            archive.writestr(_entry(name), content)
    for part, sizes in sorted(counts.items()):
        yield f"{part}: {len(sizes)} files, {sum(sizes) / 1e6:.2f} MB"
    packed = buffer.getvalue()
    replace_whole(file, packed)
    yield f"{file}: {len(packed) / 1e6:.2f} MB, SHA-256 {hashlib.sha256(packed).hexdigest()}"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(f"{NAME}/{name}", _TIME)
    entry.create_system = _UNIX  # else it is that of the machine
    entry.external_attr = _MODE
    return entry


def members(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path from the course's folder, content) of all that is handed out, by name."""
    found = {name: root / name for name in FILES if (root / name).is_file()}
    for folder, endings in FOLDERS.items():
        for path in (root / folder).rglob("*"):
            parts = path.relative_to(root).parts
            if any(part.startswith((".", "__pycache__")) for part in parts):
                continue
            if path.is_file() and path.suffix in endings:
                found["/".join(parts)] = path
    for name in sorted(found.keys() - KEPT_BACK):
        content = found[name].read_bytes()
        yield name, handed_out(content) if name == "README.md" else content


def handed_out(readme: bytes) -> bytes:
    """Return the README without the parts, and the commands, that need what is kept back.

    >>> kept_back = b"<!-- not handed out -->\\nb\\n<!-- end -->\\n\\n"
    >>> handed_out(b"a\\n" + kept_back + b"c\\npip install .[test]\\nd\\n")
    b'a\\nc\\nd\\n'
    """
    text = _MARKED.sub("", readme.decode("utf-8"))
    lines = [line for line in text.splitlines(keepends=True) if TEST_EXTRA not in line]
    return "".join(lines).encode("utf-8")
