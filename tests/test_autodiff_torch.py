"""PyTorch as a second witness for values and gradients, where it is installed."""

import importlib.util

import numpy as np
import pytest

from coursekit import autodiff
from coursekit.autodiff import parameter

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None,
    reason="PyTorch is not installed; closed forms and gradcheck decide",
)

SOURCE = np.random.default_rng(17)
X, Y = SOURCE.normal(size=(2, 3, 4)), SOURCE.normal(size=(3, 4))
POSITIVE = np.abs(X) + 0.1
MATRIX, BIAS = SOURCE.normal(size=(4, 5)), SOURCE.normal(size=5)
CHOSEN, IDS, CLASSES = Y > 0, np.array([[2, 0], [2, 2]]), np.array([[0, 3, 1], [2, 2, 0]])

# Name, operands, the operation here, and the same in terms of `torch` (t) and its `functional` (f).
CASES = [
    ("add", (X, Y), autodiff.add, lambda t, f, x, y: x + y),
    ("sub", (X, Y), autodiff.sub, lambda t, f, x, y: x - y),
    ("mul", (X, Y), autodiff.mul, lambda t, f, x, y: x * y),
    ("div", (X, Y), autodiff.div, lambda t, f, x, y: x / y),
    ("pow", (POSITIVE, Y), autodiff.pow, lambda t, f, x, y: x**y),
    ("cube", (X,), lambda x: x**3, lambda t, f, x: x**3),
    ("neg", (X,), autodiff.neg, lambda t, f, x: -x),
    ("exp", (X,), autodiff.exp, lambda t, f, x: x.exp()),
    ("log", (POSITIVE,), autodiff.log, lambda t, f, x: x.log()),
    ("sqrt", (POSITIVE,), autodiff.sqrt, lambda t, f, x: x.sqrt()),
    ("tanh", (X,), autodiff.tanh, lambda t, f, x: x.tanh()),
    ("sigmoid", (X,), autodiff.sigmoid, lambda t, f, x: x.sigmoid()),
    ("softplus", (X,), autodiff.softplus, lambda t, f, x: f.softplus(x)),
    ("silu", (X,), autodiff.silu, lambda t, f, x: f.silu(x)),
    ("gelu", (X,), autodiff.gelu, lambda t, f, x: f.gelu(x)),
    ("relu", (X,), autodiff.relu, lambda t, f, x: f.relu(x)),
    ("leaky", (X,), lambda x: x.leaky_relu(0.2), lambda t, f, x: f.leaky_relu(x, 0.2)),
    ("sum", (X,), lambda x: x.sum((0, 2)), lambda t, f, x: x.sum((0, 2))),
    ("mean", (X,), lambda x: x.mean(1), lambda t, f, x: x.mean(1)),
    ("max", (np.round(X),), lambda x: x.max((0, 2)), lambda t, f, x: x.amax((0, 2))),
    ("logsumexp", (X,), lambda x: x.logsumexp(1), lambda t, f, x: x.logsumexp(1)),
    ("softmax", (X,), lambda x: x.softmax(1), lambda t, f, x: x.softmax(1)),
    ("log_softmax", (X,), lambda x: x.log_softmax(), lambda t, f, x: x.log_softmax(-1)),
    ("reshape", (X,), lambda x: x.reshape(4, -1), lambda t, f, x: x.reshape(4, -1)),
    ("transpose", (X,), lambda x: x.transpose(1, 2, 0), lambda t, f, x: x.permute(1, 2, 0)),
    ("expand", (Y,), lambda y: y.broadcast_to(2, 3, 4), lambda t, f, y: y.expand(2, 3, 4)),
    ("cat", (X, X), lambda *x: autodiff.concatenate(x, 1), lambda t, f, *x: t.cat(x, 1)),
    (
        "where",
        (X, Y),
        lambda x, y: autodiff.where(CHOSEN, x, y),
        lambda t, f, x, y: t.where(t.tensor(CHOSEN), x, y),
    ),
    (
        "gather",
        (Y,),
        lambda y: autodiff.gather_rows(y, IDS),
        lambda t, f, y: f.embedding(t.tensor(IDS), y),
    ),
    ("matmul", (X, MATRIX), autodiff.matmul, lambda t, f, x, w: x @ w),
    ("batched", (X, X.swapaxes(1, 2)), autodiff.matmul, lambda t, f, x, y: x @ y),
    ("vector", (Y[0], MATRIX), autodiff.matmul, lambda t, f, y, w: y @ w),
    ("linear", (X, MATRIX, BIAS), autodiff.linear, lambda t, f, x, w, b: f.linear(x, w.T, b)),
    (
        "cross_entropy",
        (X,),
        lambda x: autodiff.cross_entropy(x, CLASSES),
        lambda t, f, x: f.cross_entropy(x.reshape(6, 4), t.tensor(CLASSES.reshape(6))),
    ),
    ("mse", (X, X + 1), autodiff.mean_squared_error, lambda t, f, x, y: f.mse_loss(x, y)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_pytorch_finds_the_same_value_and_gradients(case):
    import torch

    _, values, ours, theirs = case
    leaves = [parameter(value) for value in values]
    twins = [torch.tensor(value, requires_grad=True) for value in values]
    result, witness = ours(*leaves), theirs(torch, torch.nn.functional, *twins)
    np.testing.assert_allclose(result.value, witness.detach().numpy(), rtol=1e-13, atol=1e-14)
    seed = np.linspace(-1.0, 2.0, result.value.size).reshape(result.shape)
    result.backward(seed)
    witness.backward(torch.tensor(seed))
    for leaf, twin in zip(leaves, twins, strict=True):
        np.testing.assert_allclose(leaf.grad, twin.grad.numpy(), rtol=1e-12, atol=1e-13)
