"""Rows: training steps and a chain of nodes, beside PyTorch, micrograd and HIPS autograd.

All contestants compute in float64 on the same number of threads.
"""

import itertools

import numpy as np
from harness import Row, Step

from coursekit import autodiff
from coursekit.autodiff import constant, parameter

SIZES = (784, 256, 256, 10)
BATCH = 128
CHAIN = 1_000
RATE = 1e-3


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


def chain_coursekit(length: int = CHAIN) -> Step:
    x, c = parameter(np.ones(3)), constant(np.full(3, 1e-3))

    def step() -> object:
        y = x
        for _ in range(length):
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


def tiny_autograd() -> Step:
    import autograd
    import autograd.numpy as anp

    parameters = [TINY_W1.copy(), np.zeros(3), TINY_W2.copy(), np.zeros(1)]

    def loss(w1, b1, w2, b2):  # type: ignore[no-untyped-def]
        out = anp.maximum(anp.dot(TINY_X, w1) + b1, 0.0)
        return anp.mean((anp.dot(out, w2) + b2 - TINY_Y) ** 2)

    gradient = autograd.grad(loss, argnum=(0, 1, 2, 3))

    def step() -> object:
        for p, g in zip(parameters, gradient(*parameters), strict=True):
            p -= RATE * g
        return parameters

    return step


def rows() -> list[Row]:
    """Return the rows of this file."""
    return [
        Row(
            "training step 784–256–256–10, batch 128, silu",
            digits_coursekit,
            {"PyTorch": digits_torch},
            {"PyTorch": 0.9},
            repeat=5,
        ),
        Row(
            "training step 2–3–1, batch 4, relu",
            tiny_coursekit,
            {"PyTorch": tiny_torch, "micrograd": tiny_micrograd, "HIPS autograd": tiny_autograd},
            {"PyTorch": 0.4, "micrograd": 0.25},
            repeat=100,
        ),
        Row(
            "chain of 1,000 additions, forward and backward",
            chain_coursekit,
            {"PyTorch": chain_torch},
            units=CHAIN,
            unit="node",
        ),
        Row(
            "chain of 1,000,000 additions, forward and backward",
            lambda: chain_coursekit(1_000_000),
            {},
            units=1_000_000,
            unit="node",
        ),
    ]
