"""How fast the tape is beside PyTorch and micrograd, measured in turns within one run.

Run it as a script; pytest does not collect it:

    python tests/benchmarks/bench_autodiff.py

PyTorch and micrograd are compared with where they are installed. All contestants compute in
float64 on the same number of threads. One round times every contestant once, one after the other,
so that a busy machine is busy for all of them; the table shows the median over all rounds and the
median of the ratios within rounds. Only the ratios mean something on another machine.
"""

import argparse
import importlib.util
import itertools
import os
import statistics
import time
from collections.abc import Callable

import numpy as np

from coursekit import autodiff
from coursekit.autodiff import constant, parameter

Step = Callable[[], object]
SIZES = (784, 256, 256, 10)
BATCH = 128
CHAIN = 1_000
RATE = 1e-3


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def digits() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Inputs, targets and Xavier weights of the 784–256–256–10 network."""
    source = np.random.default_rng(17)
    pairs = list(itertools.pairwise(SIZES))
    limits = [np.sqrt(6.0 / (n + m)) for n, m in pairs]
    weights = [source.uniform(-a, a, pair) for a, pair in zip(limits, pairs, strict=True)]
    return source.random((BATCH, SIZES[0])), source.integers(0, SIZES[-1], BATCH), weights


def digits_coursekit() -> Step:
    images, targets, starts = digits()
    x = constant(images)
    weights = [parameter(start) for start in starts]
    biases = [parameter(np.zeros(start.shape[1])) for start in starts]

    def step() -> object:
        h = x
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = autodiff.silu(autodiff.linear(h, w, b))
        loss = autodiff.cross_entropy(autodiff.linear(h, weights[-1], biases[-1]), targets)
        loss.backward()
        for p in weights + biases:
            p.assign(p.value - RATE * p.grad)
            p.zero_grad()
        return loss

    return step


def digits_torch() -> Step:
    import torch

    images, targets, starts = digits()
    x, classes = torch.tensor(images), torch.tensor(targets)
    weights = [torch.tensor(start, requires_grad=True) for start in starts]
    biases = [torch.zeros(len(start[0]), dtype=x.dtype, requires_grad=True) for start in starts]
    optimizer = torch.optim.SGD(weights + biases, lr=RATE)

    def step() -> object:
        h = x
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = torch.nn.functional.silu(torch.addmm(b, h, w))
        logits = torch.addmm(biases[-1], h, weights[-1])
        loss = torch.nn.functional.cross_entropy(logits, classes)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return step


TINY_X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
TINY_Y = np.array([[0.0], [1.0], [1.0], [0.0]])
TINY_W1 = np.array([[0.5, -0.4, 0.3], [-0.2, 0.6, 0.1]])
TINY_W2 = np.array([[0.7], [-0.5], [0.2]])


def tiny_coursekit() -> Step:
    x, y = constant(TINY_X), constant(TINY_Y)
    w1, w2 = parameter(TINY_W1), parameter(TINY_W2)
    b1, b2 = parameter(np.zeros(3)), parameter(np.zeros(1))

    def step() -> object:
        out = autodiff.linear(autodiff.relu(autodiff.linear(x, w1, b1)), w2, b2)
        loss = autodiff.mean_squared_error(out, y)
        loss.backward()
        for p in (w1, b1, w2, b2):
            p.assign(p.value - RATE * p.grad)
            p.zero_grad()
        return loss

    return step


def tiny_torch() -> Step:
    import torch

    x, y = torch.tensor(TINY_X), torch.tensor(TINY_Y)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    model.double()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)

    def step() -> object:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return step


def tiny_micrograd() -> Step:
    from micrograd.nn import MLP

    model = MLP(2, [3, 1])
    inputs, targets = TINY_X.tolist(), TINY_Y[:, 0].tolist()

    def step() -> object:
        loss = sum((model(x) - y) ** 2 for x, y in zip(inputs, targets, strict=True)) * 0.25
        loss.backward()
        for p in model.parameters():
            p.data -= RATE * p.grad
        model.zero_grad()
        return loss

    return step


def chain_coursekit() -> Step:
    x, c = parameter(np.ones(3)), constant(np.full(3, 1e-3))

    def step() -> object:
        y = x
        for _ in range(CHAIN):
            y = y + c
        y.backward(seed=np.ones(3))
        return y

    return step


def chain_torch() -> Step:
    import torch

    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    c, seed = torch.full((3,), 1e-3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)

    def step() -> object:
        y = x
        for _ in range(CHAIN):
            y = y + c
        y.backward(seed)
        return y

    return step


def compare(
    title: str, unit: float, repeat: int, rounds: int, **makers: Callable[[], Step]
) -> None:
    """Print the median time of each contestant in µs per `unit`, and coursekit's ratio to it."""
    steps = {name: make() for name, make in makers.items()}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 2):
        for name, step in steps.items():
            begin = time.perf_counter()
            for _ in range(repeat):
                step()
            elapsed = (time.perf_counter() - begin) / repeat
            if number >= 2:  # the first two rounds warm up
                times[name].append(elapsed)
    for name, measured in times.items():
        ratios = [ours / theirs for ours, theirs in zip(times["coursekit"], measured, strict=True)]
        micros = statistics.median(measured) * 1e6 / unit
        print(f"{title:<34} {name:<10} {micros:>10.2f} {statistics.median(ratios):>8.2f}×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    torch_there, micrograd_there = installed("torch"), installed("micrograd")
    if torch_there:
        import torch

        torch.set_num_threads(options.threads)
    print(
        f"{'median of ' + str(options.rounds) + ' rounds':<34} {'who':<10} {'µs':>10} {'ratio':>9}"
    )
    digits_makers = {"coursekit": digits_coursekit} | (
        {"torch": digits_torch} if torch_there else {}
    )
    compare("784-256-256-10, batch 128, a step", 1, 5, options.rounds, **digits_makers)
    tiny = {"coursekit": tiny_coursekit} | ({"torch": tiny_torch} if torch_there else {})
    tiny |= {"micrograd": tiny_micrograd} if micrograd_there else {}
    compare("2-3-1, batch 4, a step", 1, 100, options.rounds, **tiny)
    chain = {"coursekit": chain_coursekit} | ({"torch": chain_torch} if torch_there else {})
    compare("chain of additions, a node", CHAIN, 1, options.rounds, **chain)


if __name__ == "__main__":
    main()
