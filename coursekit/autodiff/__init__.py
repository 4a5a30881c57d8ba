"""Reverse-mode automatic differentiation on NumPy arrays, small enough to read in one sitting.

Chapter 7 builds it. Read `tensor.py` (what a tensor is), `tape.py` (how backward runs), then the
operations through `ops.py`, and `gradcheck.py`, which decides whether a derivative is right.

>>> from coursekit import autodiff
>>> w = autodiff.parameter([[0.5], [-0.5]])
>>> loss = autodiff.tanh(autodiff.constant([[1.0, 2.0]]) @ w).sum()
>>> loss.backward()
>>> w.grad
array([[0.78644773],
       [1.57289547]])
"""

from coursekit.autodiff import ops, tape
from coursekit.autodiff.gradcheck import Coordinate, GradcheckReport, gradcheck
from coursekit.autodiff.ops import *  # noqa: F403
from coursekit.autodiff.tape import Step, live_operands, no_grad, quiet, record, require_live
from coursekit.autodiff.tensor import Tensor, constant, parameter

backward = Tensor.backward

for _name in ops.__all__:  # `x.sum?` in a notebook then says where to read on
    if _name in vars(Tensor):
        getattr(Tensor, _name).__doc__ = f"`coursekit.autodiff.{_name}` of this tensor."

__all__ = [
    "Coordinate",
    "GradcheckReport",
    "Step",
    "Tensor",
    "backward",
    "constant",
    "gradcheck",
    "live_operands",
    "no_grad",
    "ops",
    "parameter",
    "quiet",
    "record",
    "require_live",
    "tape",
]
__all__ += ops.__all__
