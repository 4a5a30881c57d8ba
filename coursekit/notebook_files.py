"""Find, compare and replace notebook files without losing what another program has in hand.

`coursekit.authoring` uses it; no chapter teaches it. A file is replaced whole or not at all, and
not while an editor or a running JupyterLab holds it open.
"""

import contextlib
import json
import os
import shutil
import tempfile
import urllib.request
from collections.abc import Iterable
from http.client import HTTPException
from pathlib import Path

from jupyter_core.paths import jupyter_runtime_dir

from coursekit.errors import NotebookRefused


def notebooks_in(paths: Iterable[Path]) -> list[Path]:
    """Expand folders to the notebooks in them, in order; checkpoints are copies, not notebooks."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.glob("*.ipynb")) if path.is_dir() else [path]
    return found


def shown(path: Path) -> str:
    """Return how messages name a file: from the current folder when it lies below it."""
    absolute = path.resolve()
    with contextlib.suppress(ValueError):
        return absolute.relative_to(Path.cwd()).as_posix()
    return absolute.as_posix()


def bytes_of(path: Path) -> bytes:
    """Read a file whole; raise `NotebookRefused` with the system's own words when it cannot be."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotebookRefused(shown(path), None, error.strerror or str(error)) from None


def replace_whole(path: Path, content: bytes) -> None:
    """Put a whole new file in the place of the old one, so that no reader ever sees a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, name)
        else:
            Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def first_difference(before: bytes, after: bytes) -> str:
    """Name the first line in which two notebook files differ, and the cell that it belongs to."""
    old = before.decode("utf-8", errors="replace").split("\n")
    new = after.decode("utf-8").split("\n")
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    # Keys are sorted: "id" follows "execution_count" and precedes "outputs" and "source".
    ids = [line for line in new[: same + 1] if line.startswith('   "id": ')]
    cell = ids[-1].split('"')[3] if ids else "start"
    was = old[same].strip() if same < len(old) else "(nothing)"
    would_be = new[same].strip() if same < len(new) else "(nothing)"
    return f"line {same + 1}, at {cell}: stored {was[:90]}, now {would_be[:90]}"


def refuse_open_elsewhere(path: Path) -> None:
    """Refuse a notebook that another program holds open, since its unsaved changes would be lost.

    Seen are a running Jupyter server with a session on this file, and the lock or swap files of
    Emacs and vim. Checkpoints tell nothing: they are copies of what was saved.
    """
    for beside in (f".#{path.name}", f".{path.name}.swp"):
        if os.path.lexists(path.parent / beside):
            reason = f"an editor holds it open ({beside}): save and close it there first"
            raise NotebookRefused(shown(path), None, reason)
    for server in Path(jupyter_runtime_dir()).glob("jpserver-*.json"):
        if path.resolve() in _open_in(server):
            reason = "it is open in JupyterLab: save it there and shut its kernel down first"
            raise NotebookRefused(shown(path), None, reason)


def _open_in(server: Path) -> set[Path]:
    """Return the files that a Jupyter server runs a session for; none when it does not answer."""
    try:
        about = json.loads(server.read_text(encoding="utf-8"))
        request = urllib.request.Request(
            f"{about['url']}api/sessions", headers={"Authorization": f"token {about['token']}"}
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=2) as reply:
            sessions = json.load(reply)
        return {(Path(about["root_dir"]) / session["path"]).resolve() for session in sessions}
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return set()  # a server that has ended leaves its file behind
