"""LayerNorm and RMSNorm: every row by its own statistics.

Chapter 9 derives both. A row is what lies along the last axis: the features of one sample or one
token. Rows do not see each other, so training and evaluation compute the same thing, and a batch
of one is as good as any other. Each norm is one node of the tape with a derivative worked out by
hand; `composed` spells the same functions out in elementary operations.

Sources: J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer Normalization", arXiv:1607.06450 (2016),
equations 3 and 4; B. Zhang, R. Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019,
arXiv:1910.07467, equation 4. Not promised: an output variance of 1. It is v/(v + ε) for a row of
variance v.
"""

import numpy as np

from coursekit.autodiff.arrays import FloatArray
from coursekit.autodiff.tape import quiet, record
from coursekit.autodiff.tensor import Operand, Tensor
from coursekit.normalization.checks import checked_epsilon, checked_operands
from coursekit.normalization.kernels import normalize, pull_back

BLOCK_ELEMENTS = 64 * 1024  # 512 KB of float64, half of a common second-level cache


def layer_norm(
    x: Operand,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    epsilon: float = 1e-5,
) -> Tensor:
    """Centre every row, divide it by its standard deviation, then scale and shift each feature.

    y = gamma·x̂ + beta,  x̂ = (x − μ)/sqrt(v + ε),  μ = Σx/n,  v = Σ(x − μ)²/n  over the last axis.
    Backward: dx = (h − mean(h) − x̂·mean(h·x̂))/sqrt(v + ε) with h = gamma·dy;
    dgamma = Σ dy·x̂ and dbeta = Σ dy over all rows.

    Arguments: `x` [..., n]; `gamma`, `beta` [n], without them 1 and 0; `epsilon` in the unit of x².
    Returns: a tensor of the shape of `x`.
    Raises: `WrongType`, `InvalidEpsilon`, what the tape refuses (`NonFiniteLeaf`,
    `ReleasedOperand`), `WidthMismatch` (gamma, then beta), `EmptyFeatureWidth`, `ZeroEnergyRow`
    (a constant row and an epsilon of exactly 0), `NonFiniteForward`.
    Draws consumed: none.

    >>> layer_norm([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]]).value.round(6)
    array([[-1.341635, -0.447212,  0.447212,  1.341635],
           [-1.341641, -0.447214,  0.447214,  1.341641]])

    Source: Ba, Kiros and Hinton (2016), equations 3 and 4.
    """
    epsilon = checked_epsilon(epsilon)
    operands = checked_operands("layer_norm", x, gamma=(gamma, 1.0), beta=(beta, 0.0))
    return _row_norm("layer_norm", operands, epsilon, centred=True)


def rms_norm(x: Operand, gain: Operand | None = None, epsilon: float = 1e-5) -> Tensor:
    """Divide every row by its root mean square, then scale each feature.

    y = gain·x̂,  x̂ = x/sqrt(q + ε),  q = Σx²/n  over the last axis: LayerNorm without a mean.
    Backward: dx = (h − x̂·mean(h·x̂))/sqrt(q + ε) with h = gain·dy;  dgain = Σ dy·x̂ over all rows.

    Arguments: `x` [..., n]; `gain` [n], without it 1; `epsilon` in the unit of x².
    Returns: a tensor of the shape of `x`.
    Raises: as `layer_norm`; here a row of zeros is the one without energy.
    Draws consumed: none.

    >>> rms_norm([3.0, 4.0]).value.round(5)
    array([0.84853, 1.13137])

    Source: Zhang and Sennrich (2019), equation 4.
    """
    epsilon = checked_epsilon(epsilon)
    operands = checked_operands("rms_norm", x, gain=(gain, 1.0))
    return _row_norm("rms_norm", operands, epsilon, centred=False)


@quiet
def _row_norm(
    operation: str, operands: tuple[Tensor, ...], epsilon: float, centred: bool
) -> Tensor:
    """Record one of the two norms; `operands` are x, the gain and, if there is one, the shift."""
    x, gain, *shift = (operand.value for operand in operands)
    rows = x.reshape(-1, x.shape[-1])
    y = np.empty(rows.shape)
    for block in _blocks(rows):
        part = normalize(
            rows[block], epsilon, y[block], axis=1, centred=centred, first_line=block.start
        ).values
        part *= gain
        if shift:
            part += shift[0]

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, ...]:
        dy, dx = adjoint.reshape(rows.shape), np.empty(rows.shape)
        d_gain, d_shift = np.zeros((2, len(gain)))
        for block in _blocks(rows):
            # x̂ once more: in the cache that costs less than to have kept it in memory.
            normalized = normalize(
                rows[block], epsilon, np.empty(rows[block].shape), axis=1, centred=centred
            )
            part = np.multiply(dy[block], normalized.values, out=dx[block])
            ones = np.ones(len(part))
            d_gain += ones @ part
            d_shift += ones @ dy[block]
            np.multiply(dy[block], gain, out=part)
            pull_back(part, normalized, axis=1, centred=centred)
        return (dx.reshape(x.shape), d_gain, d_shift)[: len(operands)]

    return record(operation, y.reshape(x.shape), operands, vjp)


def _blocks(rows: FloatArray) -> list[slice]:
    """Cut the rows into slices that stay in the cache while they are worked on."""
    step = max(1, BLOCK_ELEMENTS // rows.shape[1])
    return [slice(start, start + step) for start in range(0, len(rows), step)]
