"""What the norms refuse, in the order in which it is asked.

Chapters 9 and 10 break each rule once. A refused call has recorded nothing and changed nothing. Not
checked here: that values are finite, which the tape guarantees for every tensor.
"""

import math
from numbers import Real

import numpy as np

from coursekit.arguments import checked_real
from coursekit.autodiff.tape import live_operands
from coursekit.autodiff.tensor import Operand, Tensor, as_tensor
from coursekit.errors import EmptyFeatureWidth, InvalidEpsilon, OutOfRange, WidthMismatch, WrongType


def checked_epsilon(epsilon: float) -> float:
    """Return epsilon as a float of at least 0.

    Raises: `WrongType` for a bool and for what is no real number, `InvalidEpsilon` for a negative
    number, NaN and infinity.

    >>> checked_epsilon(0), checked_epsilon(1e-5)
    (0.0, 1e-05)
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        raise WrongType("epsilon", "a real number", epsilon)
    try:
        value = float(epsilon)
    except OverflowError:  # an integer of more than 308 digits
        value = math.inf
    if not 0.0 <= value < math.inf:
        raise InvalidEpsilon(value)
    return abs(value)  # −0.0 is 0


def checked_momentum(momentum: float) -> float:
    """Return the weight of the new batch as a float from 0 to 1.

    Raises: `WrongType`, `OutOfRange`.
    """
    value = checked_real(momentum, "momentum")
    if not 0.0 <= value <= 1.0:
        raise OutOfRange("momentum", "from 0 to 1", momentum)
    return value


def checked_operands(
    operation: str, x: Operand, **per_feature: tuple[Operand | None, float]
) -> tuple[Tensor, ...]:
    """Return `x` and one vector for each further name as tensors whose shapes fit.

    Each name comes with what the caller gave, and the number that stands in all places of the
    vector when that is None.

    Raises: `WrongType`, `NonFiniteLeaf`, `ReleasedOperand`; `EmptyFeatureWidth` for a scalar;
    `WidthMismatch` in the order of the names; `EmptyFeatureWidth` for a last axis of length 0.
    """
    x = as_tensor(x)
    if x.shape == ():
        raise EmptyFeatureWidth(())
    width = x.shape[-1]
    vectors = [
        np.full(width, default) if given is None else given
        for given, default in per_feature.values()
    ]
    operands = live_operands(operation, x, *vectors)
    for name, vector in zip(per_feature, operands[1:], strict=True):
        if vector.shape != (width,):
            raise WidthMismatch(name, width, vector.shape)
    if width == 0:
        raise EmptyFeatureWidth(x.shape)
    return operands
