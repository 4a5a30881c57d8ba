"""The three norms as the page of a paper writes them: in means, squares and roots.

Chapters 9 and 10 derive the fused versions from these and compare them. The tape finds the
derivative here; it agrees with the one made by hand up to rounding. Not promised: sense at
extreme values. A square of 1e200 overflows (`NonFiniteForward`), a mean of 1e8 costs digits, and
a constant row may show a spread that is rounding.
"""

from coursekit.autodiff.elementwise import sqrt
from coursekit.autodiff.tape import live_operands
from coursekit.autodiff.tensor import Operand, Tensor


def composed_layer_norm(
    x: Operand,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    epsilon: float = 1e-5,
) -> Tensor:
    """LayerNorm in nine elementary operations: y = gamma·(x − μ)/sqrt(v + ε) + beta.

    Arguments and result as for `layer_norm`.

    >>> composed_layer_norm([1.0, 2.0, 3.0, 4.0]).value.round(6)
    array([-1.341635, -0.447212,  0.447212,  1.341635])
    """
    (x,) = live_operands("composed_layer_norm", x)
    return _affine(_standardized(x - x.mean(axis=-1, keepdims=True), -1, epsilon), gamma, beta)


def composed_rms_norm(x: Operand, gain: Operand | None = None, epsilon: float = 1e-5) -> Tensor:
    """RMSNorm in elementary operations: y = gain·x/sqrt(mean(x²) + ε).

    Arguments and result as for `rms_norm`.

    >>> composed_rms_norm([3.0, 4.0]).value.round(5)
    array([0.84853, 1.13137])
    """
    (x,) = live_operands("composed_rms_norm", x)
    return _affine(_standardized(x, -1, epsilon), gain, None)


def composed_batch_norm(
    x: Operand,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    epsilon: float = 1e-5,
) -> Tensor:
    """BatchNorm in training, on [rows, features], without running statistics.

    Arguments and result as for `batch_norm`.

    >>> composed_batch_norm([[1.0], [3.0]]).value.round(6)
    array([[-0.999995],
           [ 0.999995]])
    """
    (x,) = live_operands("composed_batch_norm", x)
    return _affine(_standardized(x - x.mean(axis=0, keepdims=True), 0, epsilon), gamma, beta)


def _standardized(deviation: Tensor, axis: int, epsilon: float) -> Tensor:
    variance = (deviation * deviation).mean(axis=axis, keepdims=True)
    return deviation / sqrt(variance + epsilon)


def _affine(normalized: Tensor, gain: Operand | None, shift: Operand | None) -> Tensor:
    scaled = normalized if gain is None else normalized * gain
    return scaled if shift is None else scaled + shift
