"""One file for many arrays: written whole or not at all, read whole or not at all.

Chapter 6 uses it to keep a start, chapter 11 to stop a training run and resume it. The format is
safetensors (https://github.com/huggingface/safetensors, section "Format"): eight bytes that hold
the length of a JSON header, the header, and the numbers. Any safetensors reader can open a file
written here. What this module adds is a SHA-256 over names, shapes, metadata and numbers, because
the format itself would not notice a flipped bit, and header bytes in a fixed order, so that equal
content gives equal files.

Not promised: protection against somebody who means harm. A digest finds accidents; whoever can
write the file can also write a fitting digest.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from coursekit.errors import DamagedFile, WrongType

FORMAT = "coursekit arrays 1"
_OWN_KEYS = ("format", "names", "sha256")
# What reading raises when the length, the JSON, a key, a type, a shape or an offset is not right.
_SIGNS_OF_DAMAGE = (SafetensorError, KeyError, TypeError, ValueError, RecursionError)


def save_arrays(
    path: str | os.PathLike[str],
    arrays: Mapping[str, NDArray[np.float64]],
    metadata: Mapping[str, str],
) -> None:
    """Write named float64 arrays and text metadata to `path` in one indivisible step.

    The bytes go to a new file beside `path`, are flushed to the disk, and take the place of `path`
    with `os.replace`. Whoever kills the process at any moment finds the old file or the new one,
    whole (and perhaps a stray file whose name ends in `.tmp`).

    Arguments: `path`, an existing file is replaced, a symbolic link is followed; `arrays`, name to
    array in the order to be restored; `metadata`, text to text, without the keys `format`, `names`
    and `sha256`.
    Raises: `WrongType` for an array that is not float64 or metadata that is not text, before
    anything is written; `OSError` when the disk refuses, `path` then being what it was.
    Draws consumed: none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.safetensors")
    ...     save_arrays(path, {"b": np.ones(2), "a": np.zeros((1, 3))}, {"note": "b comes first"})
    ...     arrays, metadata = load_arrays(path)
    >>> [(name, array.shape) for name, array in arrays.items()], metadata
    ([('b', (2,)), ('a', (1, 3))], {'note': 'b comes first'})
    """
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise WrongType(f"array {name!r}", "a float64 array", array)
    for key, text in metadata.items():
        if not isinstance(text, str):
            raise WrongType(f"metadata {key!r}", "text", text)
    described = {**metadata, "format": FORMAT, "names": json.dumps(list(arrays))}
    described["sha256"] = _digest(arrays, described)
    header = _header(arrays, described)
    _write_then_replace(Path(path), chain([header], map(_little_endian_bytes, arrays.values())))


def load_arrays(
    path: str | os.PathLike[str],
) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """Read back what `save_arrays` wrote: the arrays in their order, and the metadata.

    Returns: fresh, writable arrays with the bits that were saved, and the metadata as given.
    Raises: `FileNotFoundError` and its relatives when `path` cannot be opened; `DamagedFile` when
    it is cut short, changed, or was written by something else.
    Draws consumed: none.
    """
    path = Path(path)  # bytes or a number end here, with a TypeError
    # Only the reader maps the file, and it explains a missing file or a folder less well.
    with open(path, "rb"):
        pass
    try:
        arrays, metadata = _read(path)
        intact = metadata.get("sha256") == _digest(arrays, metadata)
    except DamagedFile:
        raise
    except _SIGNS_OF_DAMAGE as error:
        raise DamagedFile(os.fspath(path), str(error) or type(error).__name__) from error
    if not intact:
        raise DamagedFile(os.fspath(path), "the SHA-256 in it does not fit its content")
    return arrays, {key: text for key, text in metadata.items() if key not in _OWN_KEYS}


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    with safe_open(path, framework="numpy") as file:
        metadata: dict[str, str] = file.metadata() or {}
        if metadata.get("format") != FORMAT:
            raise DamagedFile(os.fspath(path), f"its metadata does not say {FORMAT!r}")
        names = json.loads(metadata["names"])
        if sorted(map(_key, names)) != sorted(file.keys()):
            raise DamagedFile(os.fspath(path), "its list of names is not the list of its arrays")
        return {name: file.get_tensor(_key(name)) for name in names}, metadata


def _header(arrays: Mapping[str, NDArray[np.float64]], metadata: Mapping[str, str]) -> bytes:
    # Written here and not by the safetensors library, which orders metadata differently every time.
    entries: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    start = 0
    for name, array in arrays.items():
        end = start + array.nbytes
        entries[_key(name)] = {
            "dtype": "F64",
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
        start = end
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers begin at a multiple of eight bytes
    return len(text).to_bytes(8, "little") + text


def _key(name: str) -> str:
    # safetensors keeps `__metadata__` for itself, and our grammar allows it as a parameter name.
    # A name never ends in a dot, so this key is free.
    return "__metadata__." if name == "__metadata__" else name


def _digest(arrays: Mapping[str, NDArray[np.float64]], metadata: Mapping[str, str]) -> str:
    shapes = [list(array.shape) for array in arrays.values()]
    types = [array.dtype.name for array in arrays.values()]
    text = sorted((key, value) for key, value in metadata.items() if key != "sha256")
    digest = hashlib.sha256(json.dumps([list(arrays), shapes, types, text]).encode())
    for array in arrays.values():
        digest.update(_little_endian_bytes(array))
    return digest.hexdigest()


def _little_endian_bytes(array: NDArray[np.float64]) -> bytes:
    return array.astype("<f8", copy=False).tobytes()


def _write_then_replace(path: Path, pieces: Iterable[bytes]) -> None:
    target = path.resolve()
    temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())  # without it, `replace` could reach the disk before the bytes
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
