"""Every operation on tensors, in the order in which chapter 7 meets them.

Each operation is one function that computes the value and, beside it, the VJP (the vector-Jacobian
product) that carries an adjoint back: read `elementwise.py` first. Operands are tensors, numbers or
arrays; numbers and arrays become constants. Every operation refuses a released operand, mismatched
shapes and a result that is not finite, in this order. No promise is made that bits agree between
machines where exp, log or a matrix product is involved.
"""

from coursekit.autodiff.activations import gelu, leaky_relu, relu, sigmoid, silu, softplus, tanh
from coursekit.autodiff.elementwise import add, div, exp, log, mul, neg, pow, sqrt, sub
from coursekit.autodiff.losses import cross_entropy, mean_squared_error
from coursekit.autodiff.products import linear, matmul
from coursekit.autodiff.reductions import log_softmax, logsumexp, max, mean, softmax, sum
from coursekit.autodiff.shapes import (
    broadcast_to,
    concatenate,
    gather_rows,
    reshape,
    transpose,
    where,
)

__all__ = [
    "add",
    "broadcast_to",
    "concatenate",
    "cross_entropy",
    "div",
    "exp",
    "gather_rows",
    "gelu",
    "leaky_relu",
    "linear",
    "log",
    "log_softmax",
    "logsumexp",
    "matmul",
    "max",
    "mean",
    "mean_squared_error",
    "mul",
    "neg",
    "pow",
    "relu",
    "reshape",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "sqrt",
    "sub",
    "sum",
    "tanh",
    "transpose",
    "where",
]
