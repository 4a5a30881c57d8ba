"""Pictures of chapter 13: which worker draws what, and what the last block of a model costs."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.figures.style import blank_figure, colour, expected, label, measured_line, new_figure
from coursekit.figures.style import panels as panels_on
from coursekit.sharded.plan import tiles

Owners = NDArray[np.int64]
# Not blue, vermillion or grey, which mean starts; every worker has a letter too.
WORKERS = ("sky", "orange", "green", "yellow")
LETTERS = "ABCD"
PALE = 0.75
MOST_LETTERS = 24  # beyond that they would cover what they name


def dealt(shape: tuple[int, int], chunk: tuple[int, int], workers: int) -> Owners:
    """Deal the blocks of a matrix to workers in turn; return the owner of each weight.

    >>> dealt((2, 4), (2, 2), workers=2).tolist()
    [[0, 0, 1, 1], [0, 0, 1, 1]]
    """
    owners = np.empty(shape, dtype=np.int64)
    for number, key in enumerate(tiles(shape, chunk)):
        owners[key] = number % workers
    return owners


def runs(owners: Owners) -> list[tuple[int, int, int]]:
    """Return the runs of consecutive draws of one owner: (owner, first position, length).

    >>> runs(np.array([[0, 0, 1], [0, 0, 1]]))
    [(0, 0, 2), (1, 2, 1), (0, 3, 2), (1, 5, 1)]
    """
    found, first = [], 0
    for owner, group in groupby(owners.ravel().tolist()):
        length = len(list(group))
        found.append((owner, first, length))
        first += length
    return found


def ownership(shape: tuple[int, int], chunk: tuple[int, int], workers: int) -> Figure:
    """Draw a matrix and its stream, each weight in the colour of the worker that draws it."""
    figure = blank_figure()
    owned(figure, shape, chunk, workers)
    return figure


def owned(figure: Figure, shape: tuple[int, int], chunk: tuple[int, int], workers: int) -> None:
    """Draw `ownership` on a figure that is there already, as the explorer does."""
    matrix, stream = panels_on(figure, 2, 1)
    matrix.set_position((0.15, 0.44, 0.82, 0.45))
    stream.set_position((0.15, 0.17, 0.82, 0.11))
    owners = dealt(shape, chunk, workers)
    _matrix(matrix, owners, chunk)
    _stream(stream, owners)


def last_block(
    weights: Sequence[int],
    in_sequence: Sequence[int],
    by_position: Sequence[int],
    formula: Sequence[int],
) -> Figure:
    """Draw how many draws the last block of models of several sizes takes, both ways.

    Args:
        weights: of each model.
        in_sequence, by_position: draws until the last block is there, counted.
        formula: the calculated draws of the whole model.
    """
    figure, axes = new_figure()
    for name, draws, ink in (
        ("in sequence", in_sequence, "orange"),
        ("by position", by_position, "green"),
    ):
        measured_line(axes, weights, draws, ink, label=f"{name}, counted")
        label(axes, name, (weights[2], draws[2] * 3), align="right")
    expected(axes, weights, formula, label="draws of the model, by formula")
    axes.set(xscale="log", yscale="log", ylim=(5e2, 5e10))
    axes.set_xlabel("weights in the model")
    axes.set_ylabel("draws until its last block is there")
    axes.set_title("only one of the two costs grows", fontsize=10)
    return figure


def _matrix(axes: Axes, owners: Owners, chunk: tuple[int, int]) -> None:
    shades = ListedColormap([colour(name) for name in WORKERS])
    rows, columns = owners.shape
    axes.imshow(owners, cmap=shades, vmin=0, vmax=len(WORKERS) - 1, aspect="auto", alpha=PALE)
    blocks = tiles(owners.shape, chunk)
    lettered = blocks if len(blocks) <= MOST_LETTERS else blocks[: int(owners.max()) + 1]
    edges = {across.stop - 0.5 for _, across in blocks}
    axes.vlines(sorted(edges), -0.5, rows - 0.5, color="white", linewidth=1.5, label="borders")
    edges = {down.stop - 0.5 for down, _ in blocks}
    axes.hlines(sorted(edges), -0.5, columns - 0.5, color="white", linewidth=1.5, label="borders")
    for down, across in lettered:
        centre = ((across.start + across.stop - 1) / 2, (down.start + down.stop - 1) / 2)
        _letter(axes, centre, int(owners[down.start, across.start]))
    axes.grid(visible=False)
    axes.set_yticks(range(rows), [f"{r * columns}–{(r + 1) * columns - 1}" for r in range(rows)])
    axes.set_xticks(range(columns))
    axes.tick_params(labelsize=8)
    axes.set_ylabel("draws of the row", fontsize=9)
    axes.set_title("the matrix: who draws which weight", fontsize=10)


def _stream(axes: Axes, owners: Owners) -> None:
    found = runs(owners)
    for worker in range(int(owners.max()) + 1):
        own = [(first, length) for owner, first, length in found if owner == worker]
        axes.barh(
            [0] * len(own),
            [length for _, length in own],
            left=[first - 0.5 for first, _ in own],
            height=1.0,
            color=colour(WORKERS[worker]),
            alpha=PALE,
            edgecolor="white",
            label=f"worker {LETTERS[worker]}, length of its runs",
        )
    if len(found) <= MOST_LETTERS:
        for owner, first, length in found:
            _letter(axes, (first + (length - 1) / 2, 0), owner)
    axes.set(xlim=(-0.5, owners.size - 0.5), ylim=(-0.5, 0.5), yticks=[])
    axes.grid(visible=False)
    axes.tick_params(labelsize=8)
    axes.set_xlabel("the same weights on the stream: position of the draw", fontsize=9)


def _letter(axes: Axes, centre: tuple[float, float], owner: int) -> None:
    axes.text(*centre, LETTERS[owner], ha="center", va="center", fontweight="bold", fontsize=9)
