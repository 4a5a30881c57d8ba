"""How a comparison is measured: in turns, within one run, as a ratio.

A round times every contestant once, one after the other, so that a busy machine is busy for all
of them. The ratio of a round is ours over theirs; reported are the median over rounds and the
quartiles around it. Only ratios mean something on another machine.
"""

import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Step = Callable[[], object]
WARM_UP = 2  # rounds
REST = 0.05  # seconds: threads of the contestant before may still be spinning


@dataclass(frozen=True)
class Row:
    """One comparison.

    Fields: `title`; `ours` and `peers`, makers of a step to time, called just before the row;
    `targets`, peer → the ratio that the course holds itself to; `repeat`, steps in one timing;
    `units`, how many units of work a step does, `unit` their name.
    """

    title: str
    ours: Callable[[], Step]
    peers: Mapping[str, Callable[[], Step]]
    targets: Mapping[str, float] = field(default_factory=dict)
    repeat: int = 1
    units: float = 1.0
    unit: str = "step"


@dataclass(frozen=True)
class Result:
    """Median time of ours in seconds a unit; for each peer the ratios of all rounds, sorted."""

    row: Row
    seconds: float
    ratios: Mapping[str, list[float]]


def installed(module: str) -> bool:
    """Say whether a peer is there to be compared with."""
    return importlib.util.find_spec(module) is not None


def measured(row: Row, rounds: int) -> Result:
    """Time a row in interleaved rounds."""
    peers = {name: make for name, make in row.peers.items() if installed(MODULES.get(name, name))}
    steps = {"ours": row.ours()} | {name: make() for name, make in peers.items()}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + WARM_UP):
        for name, step in steps.items():
            time.sleep(REST)
            begin = time.perf_counter()
            for _ in range(row.repeat):
                step()
            if number >= WARM_UP:
                times[name].append((time.perf_counter() - begin) / row.repeat)
    ratios = {
        name: sorted(a / b for a, b in zip(times["ours"], times[name], strict=True))
        for name in peers
    }
    return Result(row, statistics.median(times["ours"]) / row.units, ratios)


MODULES = {
    "NumPy": "numpy",
    "scalar loop": "numpy",
    "PyTorch": "torch",
    "JAX": "jax",
    "HIPS autograd": "autograd",
}


def line(result: Result) -> str:
    """Write a result as a row of a Markdown table."""
    cells = [result.row.title, f"{_time(result.seconds)} a {result.row.unit}"]
    told = []
    for name, ratios in result.ratios.items():
        low, middle, high = (statistics.quantiles(ratios, n=4)) if len(ratios) > 1 else ratios * 3
        goal = result.row.targets.get(name)
        verdict = "" if goal is None else f", target {goal:g}: {_verdict(middle, goal)}"
        told.append(f"{name} **{middle:.2f}** ({low:.2f}–{high:.2f}){verdict}")
    return f"| {' | '.join(cells)} | {'; '.join(told) or '–'} |"


def _verdict(ratio: float, goal: float) -> str:
    return "met" if ratio <= goal else "missed"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
