"""A model that fits on no single machine, started by many workers with the bits of one.

Chapter 13 teaches this module. A plan tells where each weight lies on the stream, so a block is a
task that depends on no other: any worker can do it, at any time, and again if the first one died.
`array` hands the blocks of a parameter to Dask, `save` has those of a model written to files.

`array`, `arrays` and `local_cluster` need the extra `dask`; `save` also works with the executors
of `concurrent.futures`, and alone. Sources: the format is named in `files`; Dask,
https://docs.dask.org.

Not promised: speed beyond that of the disk, nor that a run goes on when the process that called
`save` is gone. It leaves a stray folder whose name ends in `.tmp`, and nothing under the real name.
"""

import json
import logging
import os
import shutil
import sys
import uuid
from bisect import bisect_right
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import Executor, as_completed, wait
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open

from coursekit.arguments import checked_integer
from coursekit.errors import DamagedFile, OutOfRange, UnknownChoice, WrongType
from coursekit.exports import (
    DType,
    checked_dtype,
    is_transposed,
    narrowed,
    package,
    torch_name,
)
from coursekit.rng import SplitMix64
from coursekit.sharded.blockwise import Start
from coursekit.sharded.files import (
    INDEX,
    LAYOUTS,
    Layout,
    Stored,
    file_name,
    finish,
    laid_out,
    prepare,
    write_rows,
)
from coursekit.sharded.plan import Plan

Progress: TypeAlias = Callable[[int, int], object]
Task: TypeAlias = tuple[str, int, Stored, int, int]  # the arguments of `write_rows`

INSTALL = 'run pip install -c constraints.txt -e ".[dask]" in the folder of the course'
SHARD_BYTES = 5 * 10**9
BLOCK_BYTES = 1 << 26
BAR_WIDTH = 40
SAMPLE = 64

# --- Dask -----------------------------------------------------------------------------------------


def array(start: Start, chunks: Any = "auto") -> Any:
    """Return a parameter as a Dask array of float64; nothing is drawn until it is computed.

    Args:
        start: an entry of a `Plan`.
        chunks: the shape of the blocks, as Dask spells it. No bit depends on it.

    Raises:
        WrongType: no `Start`. PackageMissing: without Dask. ValueError: chunks that Dask refuses.
        NotBlockwise, when it is computed: an orthogonal matrix in more than one chunk.

    Draws consumed: none that anybody else sees.

    >>> lazy = array(Plan([("weight", (4, 6))], seed=17)["weight"], chunks=(3, 2))
    >>> lazy.numblocks, lazy[2:, 4:].compute().round(6).tolist()
    ((2, 3), [[0.755319, -0.116685], [-0.243077, 0.584379]])
    """
    if not isinstance(start, Start):
        raise WrongType("start", "an entry of a Plan", start)
    dask_array = package("dask.array", INSTALL)
    empty = np.empty((0,) * start.ndim)
    return dask_array.from_array(start, chunks=chunks, fancy=False, meta=empty)


def arrays(plan: Plan, chunks: Any = "auto") -> dict[str, Any]:
    """Return every parameter of a plan as a Dask array; the rest as `array`."""
    if not isinstance(plan, Plan):
        raise WrongType("plan", "a Plan", plan)
    return {name: array(start, chunks) for name, start in plan.items()}


@contextmanager
def local_cluster(workers: int = 2) -> Iterator[Any]:
    """Start worker processes on this machine, lend a Dask client to them, and end them.

    A process draws with one thread; there is no dashboard, and no port but on the loopback.

    Raises:
        WrongType, OutOfRange: workers that are no integer of at least 1. PackageMissing.
    """
    if checked_integer(workers, "workers") < 1:
        raise OutOfRange("workers", "at least 1", workers)
    distributed = package("distributed", INSTALL)
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,  # blocks bound the memory, not the killing of workers
            silence_logs=logging.CRITICAL,  # a lost worker is made up for, and no error
            env={"COURSEKIT_THREADS": "1"},
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


# --- files ----------------------------------------------------------------------------------------


def bar(done: int, total: int) -> None:
    """Draw how much is written as a bar on standard error, over the one before."""
    filled = BAR_WIDTH * done // total if total else BAR_WIDTH
    line = f"\r[{'#' * filled:{BAR_WIDTH}}] {done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
    print(line, end="\n" if done == total else "", file=sys.stderr, flush=True)


def save(
    plan: Plan,
    folder: str | os.PathLike[str],
    workers: Any = None,
    *,
    dtype: DType = "float32",
    layout: Layout = "course",
    lookups: Collection[str] = (),
    shard_bytes: int = SHARD_BYTES,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = bar,
) -> Path:
    """Write a whole plan as a new folder of safetensors files with an index, or write nothing.

    The files grow beside `folder` and get their place in one step when all are on the disk. Equal
    plans and arguments give equal bytes, whoever works, in whatever order.

    Args:
        folder: not there yet, or empty; on a disk that all workers see.
        workers: None for this process alone, a Dask client, or a `concurrent.futures.Executor`.
            Dask gives the blocks of a worker that died to another; the others give up.
        dtype: as in `exports.torch_arrays`.
        layout: "course" keeps [fan_in, fan_out] and the names; "torch" changes both as `exports`.
        lookups: for "torch", the matrices that are looked up by row and so not transposed.
        shard_bytes: a file longer than this holds one parameter only.
        block_bytes: of float64 that a worker draws at a time, but at least a row (an orthogonal
            matrix: the whole). It needs at most three times that.
        progress: called with the bytes written and the bytes in all; None for silence.

    Returns: the path of the index.

    Raises, before anything is written: WrongType, UnknownChoice, OutOfRange: an argument of the
        wrong kind, a folder that holds something, a disk without room; what `shards.laid_out`
        raises. Later: what a worker raises, and OSError; what was written is removed.

    >>> import tempfile
    >>> plan = Plan([("query.weight", (4, 2)), ("norm.gain", 2, "ones")], seed=17)
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     index = save(plan, Path(temporary, "start"), progress=None)
    ...     sorted(path.name for path in index.parent.iterdir())
    ['model-00001-of-00001.safetensors', 'model.safetensors.index.json']
    """
    if not isinstance(plan, Plan):
        raise WrongType("plan", "a Plan", plan)
    executor = _checked_executor(workers)
    if checked_dtype(dtype) and layout not in LAYOUTS:
        raise UnknownChoice("layout", layout, LAYOUTS)
    for subject, size in {"shard_bytes": shard_bytes, "block_bytes": block_bytes}.items():
        if checked_integer(size, subject) < 1:
            raise OutOfRange(subject, "at least 1", size)
    shards = laid_out(plan, dtype, layout, lookups, shard_bytes)
    total = sum(one.nbytes for shard in shards for one in shard)
    target = _checked_target(Path(folder).resolve(), total)
    growing = target.with_name(f".{uuid.uuid4().hex}.tmp")
    growing.mkdir()
    try:
        begins = prepare(growing, shards, plan, layout)
        tasks = [
            (str(growing / file_name(number, len(shards))), begins[number - 1], one, *band)
            for number, shard in enumerate(shards, start=1)
            for one in shard
            for band in one.bands(block_bytes)
        ]
        done = 0
        with closing(_results(tasks, executor)) as results:
            for written in results:
                done += written
                if progress is not None:
                    progress(done, total)
        about = {"dtype": dtype, "layout": layout, "lookups": sorted(lookups)}
        finish(growing, shards, plan, about)
        if target.exists():
            target.rmdir()  # empty, or this fails
        os.replace(growing, target)
    except BaseException:
        shutil.rmtree(growing, ignore_errors=True)
        raise
    return target / INDEX


def check(plan: Plan, folder: str | os.PathLike[str], blocks: int, rng: SplitMix64) -> int:
    """Compare randomly chosen blocks of saved files with a plan; return how many numbers agree.

    A block begins at any element with equal probability and reaches at most 64 rows and columns.
    No parameter is ever whole in memory, so the check costs the same for every size of model.

    Raises:
        OSError: a file that is not there. DamagedFile: one that cannot be read, or differs.

    Draws consumed: one a block.

    >>> import tempfile
    >>> plan = Plan([("weight", (300, 200))], seed=17)
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     index = save(plan, Path(temporary, "start"), progress=None)
    ...     check(plan, index.parent, blocks=3, rng=SplitMix64(1))
    8832
    """
    path = Path(folder, INDEX)
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
        starts = [start for start in plan.values() if start.ndim and start.size]
        ends = list(accumulate(start.size for start in starts))
        compared = 0
        for element in (rng.next_u64() % ends[-1] for _ in range(blocks)):
            which = bisect_right(ends, element)
            start = starts[which]
            place = np.unravel_index(element - ends[which] + start.size, start.shape)
            key = tuple(
                slice(int(first), min(int(first) + SAMPLE, length))
                for first, length in zip(place, start.shape, strict=True)
            )
            compared += _same_numbers(start, key, path.parent, index)
    except (
        SafetensorError,
        KeyError,
        TypeError,
        UnicodeDecodeError,
        json.JSONDecodeError,
    ) as error:
        raise DamagedFile(str(path), str(error) or type(error).__name__) from error
    return compared


def _same_numbers(start: Start, key: tuple[slice, ...], folder: Path, index: Any) -> int:
    about, name = index["metadata"], start.name
    expected = narrowed(start[key], about["dtype"], name)
    if about["layout"] == "torch":
        name = torch_name(name)
        if is_transposed(start.name, start.shape, about["lookups"]):
            key, expected = key[::-1], expected.T
    path = folder / index["weight_map"][name]
    with open(path, "rb"), safe_open(path, framework="numpy") as file:
        read = file.get_slice(name)[key]
    if not np.array_equal(read, expected):
        raise DamagedFile(str(path), f"{name} is not what the plan draws")
    return int(read.size)


# --- the work -------------------------------------------------------------------------------------


def _results(tasks: list[Task], executor: Executor | None) -> Generator[int, None, None]:
    """Do all tasks, here or elsewhere, and yield the result of each as it is done."""
    if executor is None:
        yield from (write_rows(*task) for task in tasks)
        return
    futures = [executor.submit(write_rows, *task) for task in tasks]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:  # all are done, or one has failed
        wait([future for future in futures if not future.cancel()])


def _checked_executor(workers: Any) -> Executor | None:
    if hasattr(workers, "get_executor"):  # a Dask client
        workers = workers.get_executor(pure=False)
    if workers is not None and not isinstance(workers, Executor):
        raise WrongType("workers", "a Dask client, an Executor or None", workers)
    return workers


def _checked_target(target: Path, total: int) -> Path:
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise OutOfRange("folder", "a new or an empty one", str(target))
    free = shutil.disk_usage(target.parent).free
    if total > free:
        raise OutOfRange("folder", f"on a disk with {total} bytes of room", f"{free} bytes")
    return target
