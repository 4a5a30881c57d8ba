"""Explorer of chapter 13: choose workers and blocks, see which draws of the stream each owns."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.explorers.core import Drawing, Explorer, explore, explorer, slider
from coursekit.figures import Figure
from coursekit.figures.sharded import LETTERS, dealt, owned, runs
from coursekit.initializers import xavier_uniform
from coursekit.rng import SplitMix64
from coursekit.sharded.plan import Plan, tiles

SHAPE = (8, 12)
START = Plan([("weight", SHAPE)], seed=17)["weight"]


class Shared(NamedTuple):
    """How a matrix was shared, and whether its weights are those of one machine."""

    workers: int
    chunk: tuple[int, int]
    same_bits: bool


def compute(workers: int, rows: int, columns: int) -> Shared:
    """Draw every block by position, the last one first, and compare with the whole matrix."""
    weights: NDArray[np.float64] = np.empty(SHAPE)
    for key in reversed(tiles(SHAPE, (rows, columns))):
        weights[key] = START[key]
    whole = xavier_uniform(*SHAPE, SplitMix64(17))
    return Shared(workers, (rows, columns), weights.tobytes() == whole.tobytes())


def draw(figure: Figure, shared: Shared) -> Drawing:
    """Draw the matrix and the stream in the colours of the workers."""
    owned(figure, SHAPE, shared.chunk, shared.workers)
    found = runs(dealt(SHAPE, shared.chunk, shared.workers))
    counts = []
    for worker in range(shared.workers):
        lengths = [length for owner, _, length in found if owner == worker]
        plural = "" if len(lengths) == 1 else "s"
        counts.append(f"{LETTERS[worker]} {sum(lengths)} draws in {len(lengths)} run{plural}")
    verdict = "the same bits as one machine" if shared.same_bits else "other bits"
    return Drawing(
        f"{'; '.join(counts)}. All blocks together: {verdict}.",
        f"Above, a matrix of 8 by 12 weights, coloured by worker; below, its 96 draws in a line, "
        f"coloured alike: {'; '.join(counts)}.",
    )


@explorer
def sharding_explorer() -> Explorer:
    """Choose the number of workers and the shape of a block."""
    return explore(
        "Which draws does a worker own, and does the matrix notice?",
        compute,
        draw,
        workers=slider("workers", 1, 4, value=2),
        rows=slider("rows of a block", 1, SHAPE[0], value=4),
        columns=slider("columns of a block", 1, SHAPE[1], value=6),
    )
