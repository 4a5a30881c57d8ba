"""What has no peer: growth with size, redrawing of explorers, whole chapters. Times and slopes."""

import importlib
import math
import pkgutil
import statistics
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import nbclient
import nbformat

import coursekit.explorers
from coursekit.explorers import REGISTRY
from coursekit.initializers import he_normal, xavier_uniform
from coursekit.rng import SplitMix64

ROOT = Path(__file__).resolve().parents[2]
SIDES = (256, 512, 1024, 2048, 4096)
REDRAW_TARGET = 0.100  # seconds


def growth() -> Iterator[str]:
    """Time and memory against the number of weights: 1 on a log-log scale is proportional."""
    for sampler in (xavier_uniform, he_normal):
        sizes, seconds, extra = [], [], []
        for side in SIDES:
            times = []
            for _ in range(3):
                begin = time.perf_counter()
                sampler(side, side, SplitMix64(17))
                times.append(time.perf_counter() - begin)
            tracemalloc.start()
            values = sampler(side, side, SplitMix64(17))
            extra.append(tracemalloc.get_traced_memory()[1] - values.nbytes)
            tracemalloc.stop()
            sizes.append(math.log(side * side))
            seconds.append(math.log(min(times)))
        slope = statistics.linear_regression(sizes, seconds).slope
        most = max(extra) / 2**20
        yield f"| {sampler.__name__}, {SIDES[0]}² to {SIDES[-1]}² | slope {slope:.2f} | "
        yield f"at most {most:.1f} MiB beside the result |\n"


def redraws() -> Iterator[str]:
    """The slowest median redraw of each explorer over its settings."""
    for module in pkgutil.iter_modules(coursekit.explorers.__path__, "coursekit.explorers."):
        importlib.import_module(module.name)
    for name, make in sorted(REGISTRY.items()):
        explorer = make()
        times = []
        for values in list(explorer.settings())[:25]:
            begin = time.perf_counter()
            explorer.render(values)
            times.append(time.perf_counter() - begin)
        middle = statistics.median(times)
        verdict = "met" if middle <= REDRAW_TARGET else "missed"
        yield f"| redraw {name} | {1000 * middle:.0f} ms | target 100 ms: {verdict} |\n"


def chapters() -> Iterator[str]:
    """Every chapter from a clean kernel."""
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        begin = time.perf_counter()
        nbclient.NotebookClient(notebook, resources={"metadata": {"path": path.parent}}).execute()
        yield f"| chapter {path.stem} | {time.perf_counter() - begin:.1f} s | target 10 s |\n"
