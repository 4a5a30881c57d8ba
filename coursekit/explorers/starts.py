"""Explorer of chapter 11: which starts train, for each activation, normalization and skip.

It reads the table that `coursekit.study` has made; nothing is trained while a control moves.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from coursekit.explorers.core import Drawing, Explorer, choice, explore, explorer
from coursekit.figures import Figure, panels
from coursekit.figures.starts import seed_bands
from coursekit.study import (
    ACTIVATIONS,
    CHECKPOINTS,
    NORMALIZATIONS,
    SEEDS,
    STARTS,
    Setting,
    load_results,
)
from coursekit.workspace import course_root

OFF_THE_CHART = 1e2  # nats; stands for every loss after a run has left float64


class Comparison(NamedTuple):
    """The recorded losses of all starts under one setting.

    Fields: `curves`, start → one list a seed; `accuracies` and `saturated`, start → one number a
    seed; `broken`, how many of the runs ended early.
    """

    title: str
    curves: dict[str, list[list[float]]]
    accuracies: dict[str, list[float]]
    saturated: dict[str, list[float]]
    broken: dict[str, int]


@cache
def _results() -> dict[Setting, dict[str, str]]:
    return load_results(course_root() / "notebooks" / "data" / "starts.csv")


def compute(activation: str, normalization: str, residual: str) -> Comparison:
    """Look up the runs of every start."""
    found = _results()
    chosen = {
        start: [
            found[Setting(start, activation, normalization, residual == "yes", seed)]
            for seed in SEEDS
        ]
        for start in STARTS
    }
    return Comparison(
        f"{activation}, normalization {normalization}, residual {residual}",
        {start: [_losses(cells) for cells in rows] for start, rows in chosen.items()},
        _column("accuracy", chosen),
        _column("saturated", chosen),
        {start: sum(bool(cells["failure"]) for cells in rows) for start, rows in chosen.items()},
    )


def draw(figure: Figure, comparison: Comparison) -> Drawing:
    """Draw a band a start, and name the best and the runs that broke off."""
    axes = panels(figure)
    seed_bands(axes, CHECKPOINTS, comparison.curves)
    axes.set_title(comparison.title, fontsize=10)
    medians = {start: float(np.median(a)) for start, a in comparison.accuracies.items()}
    best = max(medians, key=lambda start: medians[start])
    broken = [start for start, count in comparison.broken.items() if count]
    caption = f"Best median accuracy: {best}, {medians[best]:.2f}."
    caption += f" Left float64: {', '.join(broken)}." if broken else " No run left float64."
    told = ", ".join(f"{start} {accuracy:.2f}" for start, accuracy in medians.items())
    return Drawing(caption, f"Loss over 150 steps for five starts. Median accuracies: {told}.")


@explorer
def starts_explorer() -> Explorer:
    """Choose what the network is made of, compare where it may start."""
    return explore(
        "Which starts train this network?",
        compute,
        draw,
        digits=3,
        activation=choice("activation", list(ACTIVATIONS)),
        normalization=choice("normalization", list(NORMALIZATIONS)),
        residual=choice("residual connections", ["no", "yes"]),
    )


def _losses(cells: dict[str, str]) -> list[float]:
    values = [cells[f"loss_{step}"] for step in CHECKPOINTS]
    return [min(float(value), OFF_THE_CHART) if value else OFF_THE_CHART for value in values]


def _column(name: str, chosen: dict[str, list[dict[str, str]]]) -> dict[str, list[float]]:
    return {start: [float(cells[name]) for cells in rows] for start, rows in chosen.items()}
