"""Reverse-mode automatic differentiation on NumPy arrays, small enough to read in one sitting."""

from coursekit.autodiff import tape
from coursekit.autodiff.activations import relu, sigmoid, silu, tanh
from coursekit.autodiff.elementwise import add, div, exp, log, mul, neg, sqrt, sub
from coursekit.autodiff.products import matmul
from coursekit.autodiff.reductions import log_softmax, logsumexp, max, mean, softmax, sum
from coursekit.autodiff.tape import Step, no_grad, record, require_live
from coursekit.autodiff.tensor import Tensor, constant, parameter

backward = Tensor.backward

__all__ = [
    "Step",
    "Tensor",
    "add",
    "backward",
    "constant",
    "div",
    "exp",
    "log",
    "log_softmax",
    "logsumexp",
    "matmul",
    "max",
    "mean",
    "mul",
    "neg",
    "no_grad",
    "parameter",
    "record",
    "relu",
    "require_live",
    "sigmoid",
    "silu",
    "softmax",
    "sqrt",
    "sub",
    "sum",
    "tanh",
    "tape",
]
