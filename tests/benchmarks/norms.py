"""Rows: the three norms, forward and backward, beside PyTorch on the same threads."""

from collections.abc import Callable

import numpy as np
from harness import Row, Step

from coursekit.autodiff import Tensor, parameter
from coursekit.normalization import RunningStatistics, batch_norm, layer_norm, rms_norm

SHAPES = ((32, 128), (256, 1024), (4096, 1024))
NAMES = ("layer_norm", "rms_norm", "batch_norm")
# Upper bounds of the ratio that the course holds itself to.
TARGETS = {("layer_norm", (4096, 1024)): 1.2, ("rms_norm", (4096, 1024)): 0.5}


def ours(name: str, arrays: list[np.ndarray], upstream: np.ndarray) -> Step:
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


def theirs(name: str, arrays: list[np.ndarray], upstream: np.ndarray) -> Step:
    import torch

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


def rows() -> list[Row]:
    """Return the rows of this file."""
    found = []
    for shape in SHAPES:
        rng = np.random.default_rng(17)
        arrays = [rng.standard_normal(shape), *rng.standard_normal((2, shape[1]))]
        upstream = rng.standard_normal(shape)
        for name in NAMES:
            given = (name, arrays, upstream)
            goal = TARGETS.get((name, shape))
            found.append(
                Row(
                    f"{name}, forward and backward, {shape[0]} × {shape[1]}",
                    lambda given=given: ours(*given),
                    {"PyTorch": lambda given=given: theirs(*given)},
                    {} if goal is None else {"PyTorch": goal},
                    repeat=max(1, 300_000 // upstream.size),
                    units=upstream.size,
                    unit="element",
                )
            )
    return found
