"""BatchNorm: every feature by the statistics of the batch, or of the batches before.

Chapter 10 sets it beside LayerNorm. In training a column of the batch is normalized with its own
mean and biased variance (n in the denominator), and the running averages take in the mean and the
unbiased variance (n − 1). In evaluation the running averages are used and nothing changes. So the
same row gives different results in different batches, and a batch of one row gives none at all.

Source: S. Ioffe, C. Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing
Internal Covariate Shift", ICML 2015, arXiv:1502.03167, algorithms 1 and 2. That it works because
it reduces that shift is a hypothesis of the title, with evidence against it (Santurkar et al.,
NeurIPS 2018, arXiv:1805.11604); nothing here promises it.
"""

import numpy as np
from numpy.typing import ArrayLike

from coursekit.arguments import checked_integer, checked_shape
from coursekit.autodiff.arrays import FloatArray, first_non_finite, float_array
from coursekit.autodiff.tape import quiet, record
from coursekit.autodiff.tensor import Operand, Tensor
from coursekit.errors import (
    BatchTooSmall,
    NonFiniteForward,
    OutOfRange,
    WidthMismatch,
    WrongType,
    ZeroEnergyRow,
)
from coursekit.normalization.checks import checked_epsilon, checked_momentum, checked_operands
from coursekit.normalization.kernels import centre, normalize, pull_back


class RunningStatistics:
    """The averages that BatchNorm carries from training into evaluation.

    `mean` and `variance` hold one number a feature and are read-only; `count` is the number of
    training batches taken in. `assign` replaces all three or none.

    >>> RunningStatistics.start(2)
    RunningStatistics(mean=[0.0, 0.0], variance=[1.0, 1.0], count=0)
    """

    __slots__ = ("_count", "_mean", "_variance")

    def __init__(self, mean: ArrayLike, variance: ArrayLike, count: int = 0) -> None:
        self.assign(mean, variance, count)

    @classmethod
    def start(cls, width: int) -> "RunningStatistics":
        """Return mean 0 and variance 1 for each of `width` features: evaluation changes little."""
        (length,) = checked_shape((width,), "feature width")
        return cls(np.zeros(length), np.ones(length))

    def assign(self, mean: ArrayLike, variance: ArrayLike, count: int) -> None:
        """Replace the statistics by copies of the given ones.

        Raises: `WrongType`; `WidthMismatch` when the two are no vectors of one length;
        `OutOfRange` for a mean that is not finite, a variance that is not finite or negative, a
        negative count.
        """
        new_mean = float_array("running mean", mean)
        new_variance = float_array("running variance", variance)
        count = checked_integer(count, "batch count")
        if new_mean.ndim != 1:
            raise WidthMismatch("running mean", new_mean.size, new_mean.shape)
        if new_variance.shape != new_mean.shape:
            raise WidthMismatch("running variance", new_mean.size, new_variance.shape)
        if not np.isfinite(new_mean).all():
            raise OutOfRange("running mean", "finite", new_mean)
        if not (np.isfinite(new_variance) & (new_variance >= 0.0)).all():
            raise OutOfRange("running variance", "finite and at least 0", new_variance)
        if count < 0:
            raise OutOfRange("batch count", "at least 0", count)
        new_mean.flags.writeable = new_variance.flags.writeable = False
        self._mean, self._variance, self._count = new_mean, new_variance, count

    @property
    def mean(self) -> FloatArray:
        """The running mean of each feature, read-only."""
        return self._mean

    @property
    def variance(self) -> FloatArray:
        """The running unbiased variance of each feature, read-only."""
        return self._variance

    @property
    def count(self) -> int:
        """The number of training batches taken in so far."""
        return self._count

    def __repr__(self) -> str:
        mean, variance = self._mean.tolist(), self._variance.tolist()
        return f"RunningStatistics(mean={mean}, variance={variance}, count={self._count})"


def batch_norm(
    x: Operand,
    gamma: Operand | None,
    beta: Operand | None,
    running: RunningStatistics,
    training: bool,
    momentum: float = 0.1,
    epsilon: float = 1e-5,
) -> Tensor:
    """Centre every column, divide it by its standard deviation, then scale and shift it.

    y = gamma·x̂ + beta,  x̂ = (x − μ)/sqrt(v + ε).
    Training: μ = Σx/n and v = Σ(x − μ)²/n over all axes but the last; afterwards
    running mean ← (1 − momentum)·running mean + momentum·μ, and the running variance alike with
    Σ(x − μ)²/(n − 1). `momentum` weighs the new batch, as in PyTorch; Keras weighs the old average.
    Evaluation: μ and v are the running statistics, constants for the derivative.

    Arguments: `x` [..., features], at least two values a feature in training; `gamma`, `beta`
    [features], None for 1 and 0; `epsilon` in the unit of x².
    Returns: a tensor of the shape of `x`. In training, `running` has taken in the batch.
    Raises: `WrongType`, `InvalidEpsilon`, `OutOfRange` (momentum outside [0, 1]), what the tape
    refuses (`NonFiniteLeaf`, `ReleasedOperand`), `WidthMismatch`, `EmptyFeatureWidth`,
    `BatchTooSmall`, `ZeroEnergyRow` (epsilon 0; its row is the feature), `NonFiniteForward` (also
    when a running statistic would leave float64). After any of them `running` is what it was.
    Draws consumed: none.

    >>> running = RunningStatistics.start(1)
    >>> batch_norm([[1.0], [3.0]], None, None, running, training=True).value.round(6)
    array([[-0.999995],
           [ 0.999995]])
    >>> running
    RunningStatistics(mean=[0.2], variance=[1.1], count=1)

    Source: Ioffe and Szegedy (2015), algorithms 1 and 2.
    """
    epsilon = checked_epsilon(epsilon)
    momentum = checked_momentum(momentum)
    if not isinstance(running, RunningStatistics):
        raise WrongType("running", "a RunningStatistics", running)
    if not isinstance(training, bool):
        raise WrongType("training", "True or False", training)
    operands = checked_operands("batch_norm", x, gamma=(gamma, 1.0), beta=(beta, 0.0))
    width = operands[0].shape[-1]
    if running.mean.shape != (width,):
        raise WidthMismatch("running statistics", width, running.mean.shape)
    if training:
        return _train(operands, running, momentum, epsilon)
    return _evaluate(operands, running, epsilon)


# --- training: the statistics of the batch ----------------------------------------------------


@quiet
def _train(
    operands: tuple[Tensor, ...], running: RunningStatistics, momentum: float, epsilon: float
) -> Tensor:
    x, gamma, beta = (operand.value for operand in operands)
    rows = x.reshape(-1, x.shape[-1])
    if len(rows) < 2:
        raise BatchTooSmall(len(rows))
    normalized = normalize(rows, epsilon, np.empty(rows.shape), axis=0, centred=True)
    y = normalized.values * gamma
    y += beta
    taken_in = _taken_in(running, rows, momentum)

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, ...]:
        dy = adjoint.reshape(rows.shape)
        dx = dy * gamma
        pull_back(dx, normalized, axis=0, centred=True)
        d_gamma = np.einsum("ij,ij->j", dy, normalized.values)
        return dx.reshape(x.shape), d_gamma, np.ones(len(dy)) @ dy

    output = record("batch_norm", y.reshape(x.shape), operands, vjp)
    running.assign(*taken_in)  # last: nothing can fail any more
    return output


def _taken_in(
    running: RunningStatistics, rows: FloatArray, momentum: float
) -> tuple[FloatArray, FloatArray, int]:
    """Return the running statistics after this batch, without storing them."""
    if momentum == 0.0:  # then not even an infinite variance of the batch has weight
        return running.mean, running.variance, running.count + 1
    centred = np.empty(rows.shape)
    mean = centre(rows, centred, axis=0)
    variance = np.einsum("ij,ij->j", centred, centred) / (len(rows) - 1)
    mean = (1.0 - momentum) * running.mean + momentum * mean
    variance = (1.0 - momentum) * running.variance + momentum * variance
    _require_finite("batch_norm running mean", mean)
    _require_finite("batch_norm running variance", variance)
    return mean, variance, running.count + 1


def _require_finite(operation: str, statistic: FloatArray) -> None:
    index = first_non_finite(statistic)
    if index is not None:
        raise NonFiniteForward(operation, index, float(statistic[index]))


# --- evaluation: the statistics of the batches before -----------------------------------------


@quiet
def _evaluate(operands: tuple[Tensor, ...], running: RunningStatistics, epsilon: float) -> Tensor:
    x, gamma, beta = (operand.value for operand in operands)
    variance = running.variance + epsilon
    if not variance.all():
        raise ZeroEnergyRow(int(np.argmin(variance)))
    _require_finite("batch_norm variance + epsilon", variance)
    inverse = 1.0 / np.sqrt(variance)
    normalized = (x - running.mean) * inverse

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, ...]:
        all_but_last = tuple(range(x.ndim - 1))
        d_gamma = (adjoint * normalized).sum(axis=all_but_last)
        return adjoint * gamma * inverse, d_gamma, adjoint.sum(axis=all_but_last)

    return record("batch_norm", normalized * gamma + beta, operands, vjp)
