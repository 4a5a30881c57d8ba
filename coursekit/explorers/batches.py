"""Explorer of chapter 10: batch size and momentum against the running statistics."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.explorers.core import Drawing, Explorer, choice, explore, explorer, ladder
from coursekit.figures import Figure, panels
from coursekit.figures.batches import running_averages
from coursekit.normalization import RunningStatistics, batch_norm
from coursekit.rng import SplitMix64

FloatArray = NDArray[np.float64]

BATCHES = 60
MEAN, VARIANCE = 3.0, 4.0
NEW_BATCH, OLD_AVERAGE = "the new batch (PyTorch)", "the old average (Keras)"


class Memory(NamedTuple):
    """What 60 batches left behind."""

    weight: float  # of a new batch
    mean: FloatArray  # before the first batch and after each
    variance: FloatArray
    expected_spread: float  # of the running mean after many batches


def compute(size: int, momentum: float, convention: str) -> Memory:
    """Feed normal batches of mean 3 and variance 4 to BatchNorm and follow its memory."""
    weight = momentum if convention == NEW_BATCH else 1.0 - momentum
    batches = MEAN + np.sqrt(VARIANCE) * SplitMix64(17).standard_normal((BATCHES, size, 1))
    running = RunningStatistics.start(1)
    means, variances = [0.0], [1.0]
    for batch in batches:
        batch_norm(batch, None, None, running, training=True, momentum=weight)
        means.append(float(running.mean[0]))
        variances.append(float(running.variance[0]))
    spread = float(np.sqrt(weight / (2.0 - weight) * VARIANCE / size))
    return Memory(weight, np.array(means), np.array(variances), spread)


def draw(figure: Figure, memory: Memory) -> Drawing:
    """Draw both running statistics and tell how much of the start and how much noise is left."""
    left: FloatArray = np.power(1.0 - memory.weight, np.arange(BATCHES + 1))
    running_averages(
        {"running mean": memory.mean, "running variance": memory.variance},
        {"running mean": MEAN * (1 - left), "running variance": left + VARIANCE * (1 - left)},
        {"running mean": MEAN, "running variance": VARIANCE},
        panels(figure, 1, 2),
    )
    mean, variance = memory.mean[-1], memory.variance[-1]
    return Drawing(
        f"A new batch weighs {memory.weight:.2g}. After {BATCHES} batches the start weighs "
        f"{left[-1]:.2g}, and the mean is expected to stray by ±{memory.expected_spread:.2g}.",
        f"Two lines over {BATCHES} batches: the running mean goes from 0 to {mean:.2f} with target "
        f"{MEAN:g}, the running variance from 1 to {variance:.2f} with target {VARIANCE:g}.",
    )


@explorer
def momentum_explorer() -> Explorer:
    """Set batch size, momentum and what it weighs."""
    return explore(
        "Which setting makes the running statistics settle soon and stay still?",
        compute,
        draw,
        size=ladder("values in a batch", [2, 4, 8, 16, 32, 64, 128, 256], 8),
        momentum=ladder("momentum", [0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99], 0.1),
        convention=choice("the momentum weighs", [NEW_BATCH, OLD_AVERAGE]),
    )
