"""Time the norms against PyTorch on one thread, in one run: ratios, best of interleaved rounds.

    OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_normalization.py [rounds]

Needs torch; not part of the test command. A machine that is busy makes both columns slow, so only
the ratio means something, and only the best round of each is taken. PyTorch computes its RMSNorm
in float64 from several kernels and its LayerNorm in one.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from coursekit.autodiff import Tensor, parameter
from coursekit.normalization import RunningStatistics, batch_norm, layer_norm, rms_norm

SHAPES = [(4096, 1024), (128, 256), (4, 8)]
# Upper bounds of the ratio forward + backward that the course holds itself to.
TARGETS = {("layer_norm", (4096, 1024)): 1.3, ("rms_norm", (4096, 1024)): 0.6}


def ours(name: str, arrays: list[np.ndarray], upstream: np.ndarray) -> Callable[[], None]:
    x, gamma, beta = map(parameter, arrays)
    running = RunningStatistics.start(x.shape[-1])
    forward: dict[str, Callable[[], Tensor]] = {
        "layer_norm": lambda: layer_norm(x, gamma, beta),
        "rms_norm": lambda: rms_norm(x, gamma),
        "batch_norm": lambda: batch_norm(x, gamma, beta, running, training=True),
    }

    def step() -> None:
        for leaf in (x, gamma, beta):
            leaf.zero_grad()
        forward[name]().backward(upstream)

    return step


def theirs(name: str, arrays: list[np.ndarray], upstream: np.ndarray) -> Callable[[], None]:
    x, gamma, beta = (torch.tensor(array, requires_grad=True) for array in arrays)
    gradient = torch.tensor(upstream)
    width = x.shape[-1:]
    mean, variance = torch.zeros(width, dtype=x.dtype), torch.ones(width, dtype=x.dtype)
    functional = torch.nn.functional
    forward = {
        "layer_norm": lambda: functional.layer_norm(x, width, gamma, beta),
        "rms_norm": lambda: functional.rms_norm(x, width, gamma, 1e-5),
        "batch_norm": lambda: functional.batch_norm(x, mean, variance, gamma, beta, training=True),
    }

    def step() -> None:
        for leaf in (x, gamma, beta):
            leaf.grad = None
        forward[name]().backward(gradient)

    return step


def best_times(steps: list[Callable[[], None]], rounds: int, repeats: int) -> list[float]:
    best = [float("inf")] * len(steps)
    for _ in range(rounds):
        for index, step in enumerate(steps):
            start = time.perf_counter()
            for _ in range(repeats):
                step()
            best[index] = min(best[index], (time.perf_counter() - start) / repeats)
    return best


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    torch.set_num_threads(1)
    rng = np.random.default_rng(17)
    print("forward + backward, float64, one thread")
    print(f"{'norm':<12}{'shape':<14}{'ours µs':>10}{'torch µs':>10}{'ratio':>8}{'target':>8}")
    for shape in SHAPES:
        arrays = [rng.standard_normal(shape), *rng.standard_normal((2, shape[1]))]
        upstream = rng.standard_normal(shape)
        repeats = max(1, 200_000 // arrays[0].size)
        for name in ("layer_norm", "rms_norm", "batch_norm"):
            steps = [ours(name, arrays, upstream), theirs(name, arrays, upstream)]
            mine, other = (1e6 * t for t in best_times(steps, rounds, repeats))
            target = TARGETS.get((name, shape), "")
            print(
                f"{name:<12}{shape!s:<14}{mine:>10.0f}{other:>10.0f}{mine / other:>8.2f}{target:>8}"
            )


if __name__ == "__main__":
    main()
