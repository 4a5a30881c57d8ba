"""Which byte of which file every weight of a model occupies, before the files are there.

Chapter 13 needs it. In a safetensors file a matrix lies row after row, and the header says where it
begins. Shapes are known from the plan, so headers and lengths can be written first; whoever draws
some rows later knows where their bytes go, and no two workers ever write to one place.

Format: https://github.com/huggingface/safetensors, section "Format": eight bytes for the length of
a JSON header, the header, the numbers, little-endian. A model of several files has an index,
`model.safetensors.index.json`, whose `weight_map` names the file of each parameter.

Not promised: the digest that `storage` puts into its files; a plan can be drawn again and compared.
"""

import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coursekit.errors import DuplicateName, OutOfRange
from coursekit.exports import DType, checked_layout, is_transposed, narrowed, torch_name
from coursekit.sharded.blockwise import Start
from coursekit.sharded.plan import Plan

Layout: TypeAlias = Literal["course", "torch"]
LAYOUTS: tuple[Layout, ...] = ("course", "torch")
INDEX = "model.safetensors.index.json"
_CODES = {"float32": "F32", "float64": "F64"}


@dataclass(frozen=True)
class Stored:
    """One parameter in its file: under which name, which way round, as what, and from which byte.

    Fields: `start`; `name`; `transposed`, whether [fan_out, fan_in] is stored; `dtype`; `at`, the
    place of its first byte, counted from the end of the header.
    """

    start: Start
    name: str
    transposed: bool
    dtype: DType
    at: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in the file."""
        return self.start.shape[::-1] if self.transposed else self.start.shape

    @property
    def nbytes(self) -> int:
        """Its length in the file."""
        return self.start.size * np.dtype(self.dtype).itemsize

    def rows(self, first: int, stop: int) -> NDArray[Any]:
        """Draw some of its rows, as they are stored."""
        if not self.shape:
            values = self.start[()]
        elif self.transposed:
            values = self.start[:, first:stop].T
        else:
            values = self.start[first:stop]
        return narrowed(values, self.dtype, self.start.name)

    def bands(self, block_bytes: int) -> Iterator[tuple[int, int]]:
        """Cut it into bands of rows, each at most `block_bytes` of float64, but at least a row."""
        count = self.shape[0] if self.shape else 1
        row_bytes = 8 * self.start.size // max(count, 1)
        step = max(1, block_bytes // max(row_bytes, 1))
        if self.start.rule == "orthogonal":  # whole or not at all
            step = max(1, count)
        for first in range(0, count, step):
            yield first, min(first + step, count)


def laid_out(
    plan: Plan, dtype: DType, layout: Layout, lookups: Collection[str], shard_bytes: int
) -> list[list[Stored]]:
    """Give every parameter its place, in order: in this file, or in the next if it grows too long.

    Raises:
        what `exports.checked_layout` raises, for PyTorch's layout; OutOfRange: the one name that
        the format keeps for itself; DuplicateName: two parameters would get one name.
    """
    if layout == "torch":
        checked_layout({name: start.shape for name, start in plan.items()}, lookups)
    shards: list[list[Stored]] = [[]]
    seen: dict[str, int] = {}
    at = 0
    for index, start in enumerate(plan.values()):
        turned = layout == "torch" and is_transposed(start.name, start.shape, lookups)
        name = torch_name(start.name) if layout == "torch" else start.name
        if name == "__metadata__":
            raise OutOfRange("name of a stored parameter", "another than safetensors' own", name)
        if seen.setdefault(name, index) != index:
            raise DuplicateName(name, seen[name], index)
        stored = Stored(start, name, turned, dtype, at)
        if at and at + stored.nbytes > shard_bytes:
            shards.append([])
            stored = replace(stored, at=0)
        shards[-1].append(stored)
        at = stored.at + stored.nbytes
    return shards


def header(shard: list[Stored], plan: Plan, layout: Layout) -> bytes:
    """Return what stands before the numbers; it also says how each parameter can be drawn again."""
    recipe = {one.name: [one.start.rule, one.start.options, one.start.offset] for one in shard}
    # Tools that fill PyTorch models refuse any other format than "pt", and rightly: in the layout
    # of the course a square matrix would fit and be the wrong way round.
    about = {"format": "pt" if layout == "torch" else "np", "layout": layout}
    about |= {"seed": str(plan.seed), "rule, options, offset": json.dumps(recipe, default=float)}
    entries: dict[str, Any] = {"__metadata__": about}
    for one in shard:
        entries[one.name] = {
            "dtype": _CODES[one.dtype],
            "shape": one.shape,
            "data_offsets": [one.at, one.at + one.nbytes],
        }
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers begin at a multiple of eight bytes
    return len(text).to_bytes(8, "little") + text


def prepare(folder: Path, shards: list[list[Stored]], plan: Plan, layout: Layout) -> list[int]:
    """Make every file with its header and its full length; return where the numbers begin."""
    begins = []
    for number, shard in enumerate(shards, start=1):
        head = header(shard, plan, layout)
        with open(folder / file_name(number, len(shards)), "xb") as file:
            file.write(head)
            file.truncate(len(head) + sum(one.nbytes for one in shard))
        begins.append(len(head))
    return begins


def write_rows(path: str, begin: int, stored: Stored, first: int, stop: int) -> int:
    """Draw some rows, write them to their place, and return how many bytes they are.

    To do it twice, or in two processes at once, does no harm: bytes and place are the same.
    """
    rows = stored.rows(first, stop)
    row_bytes = rows.nbytes // max(stop - first, 1)
    with open(path, "r+b") as file:
        file.seek(begin + stored.at + first * row_bytes)
        file.write(rows.astype(rows.dtype.newbyteorder("<"), copy=False).data)
    return rows.nbytes


def finish(folder: Path, shards: list[list[Stored]], plan: Plan, about: dict[str, Any]) -> None:
    """Force every file to the disk, then write the index: where it is, the files are whole."""
    names = [file_name(number, len(shards)) for number in range(1, len(shards) + 1)]
    for name in names:
        with open(folder / name, "r+b") as file:
            os.fsync(file.fileno())
    total = sum(one.nbytes for shard in shards for one in shard)
    places = zip(names, shards, strict=True)
    index = {
        "metadata": {"total_size": total, "seed": str(plan.seed), **about},
        "weight_map": {one.name: name for name, shard in places for one in shard},
    }
    with open(folder / INDEX, "x", encoding="utf-8") as file:
        file.write(json.dumps(index, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())


def file_name(number: int, count: int) -> str:
    """Return the name that the usual tools give to one of several files.

    >>> file_name(2, 3)
    'model-00002-of-00003.safetensors'
    """
    return f"model-{number:05}-of-{count:05}.safetensors"
