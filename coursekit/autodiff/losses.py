"""The two losses of the course, each as one node beside its derivative.

Chapter 11 trains with them. In both the derivative is a difference: predicted minus actual values,
predicted minus actual probabilities. As one node cross-entropy is exact where log(softmax(x))
would be log(0).
"""

import numpy as np

from coursekit.autodiff.arrays import FloatArray, integer_array
from coursekit.autodiff.shapes import require_below
from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import Operand, Tensor
from coursekit.errors import ShapeMismatch


@quiet
def mean_squared_error(prediction: Operand, target: Operand) -> Tensor:
    """Mean over all n elements of (prediction − target)².

    ∂/∂prediction = 2 (prediction − target) / n. The shapes must be equal: a target of shape [n]
    against a prediction of shape [n, 1] would broadcast to n × n differences.

    Raises: `WrongType`, `ReleasedOperand`, `ShapeMismatch`, also for no element at all,
        `NonFiniteForward`.

    >>> mean_squared_error([1.0, 4.0], [0.0, 2.0]).value
    array(2.5)
    """
    operands = live_operands("mean_squared_error", prediction, target)
    x, y = operands[0].value, operands[1].value
    if x.shape != y.shape or not x.size:
        rule = "two equal shapes of at least one element"
        raise ShapeMismatch("mean_squared_error", rule, (x.shape, y.shape))
    difference = x - y

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        slope = difference * (2.0 / x.size * adjoint)
        # −slope is as finite as slope: a constant target need not be told.
        return slope, -slope if operands[1].tracks_gradient else None

    value = np.asarray(np.vdot(difference, difference) / x.size)
    return record("mean_squared_error", value, operands, vjp)


@quiet
def cross_entropy(logits: Operand, targets: object) -> Tensor:
    """Mean over all samples of −log p[target], where p = softmax(logits) over the last axis.

    ∂/∂logits = (p − onehot(target)) / samples.

    Arguments:
        logits: unnormalized log-probabilities, shape [..., classes].
        targets: the right classes as integers, shape [...].

    Raises: `ReleasedOperand`, `WrongType`, `ShapeMismatch`, also for no sample at all,
        `OutOfRange` for a target that is no class, `NonFiniteForward`.

    Source: Bridle, "Probabilistic interpretation of feedforward classification network outputs",
    Neurocomputing (1990).

    >>> cross_entropy([[0.0, 0.0], [1000.0, 0.0]], [1, 0]).value  # (log 2 + 0)/2
    array(0.34657359)
    """
    (logits,) = live_operands("cross_entropy", logits)
    x = logits.value
    classes = integer_array("targets of cross_entropy", targets)
    if not x.ndim or not x.size or classes.shape != x.shape[:-1]:
        rule = "logits [..., classes] of at least one sample, and one target for each"
        raise ShapeMismatch("cross_entropy", rule, (x.shape, classes.shape))
    require_below("targets of cross_entropy", classes, x.shape[-1])
    columns = classes.ravel()
    samples = np.arange(columns.size)

    shifted = (x - np.maximum.reduce(x, axis=-1, keepdims=True)).reshape(columns.size, -1)
    p = np.exp(shifted)
    total = np.add.reduce(p, axis=1, keepdims=True)
    p /= total
    losses = np.log(total[:, 0]) - shifted[samples, columns]

    def vjp(adjoint: FloatArray) -> tuple[FloatArray]:
        share = adjoint / samples.size
        slope = p * share
        slope[samples, columns] -= share
        return (slope.reshape(x.shape),)

    return record("cross_entropy", np.add.reduce(losses) / samples.size, (logits,), vjp)
