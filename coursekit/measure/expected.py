"""Signals and gradients from layer to layer, as a calculation: the average over all networks.

Chapters 3 and 8 derive it. Nothing here is drawn and nothing is run. Each function names the
assumptions under which its number is the average over all networks that a rule could draw; a
network of finite width is one of them, and need not be like their average.

Sources: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
networks, 2010, equations 5 and 6 (linear layers, forward and backward); Poole, Lahiri, Raghu,
Sohl-Dickstein and Ganguli, Exponential expressivity in deep neural networks through transient
chaos, 2016, equation 3 (through any activation); Schoenholz, Gilmer, Ganguli and Sohl-Dickstein,
Deep information propagation, 2017 (the same recurrence for gradients).

Not promised: more than 1e-12 relative accuracy where a function integrates numerically.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coursekit import autodiff
from coursekit.arguments import checked_integer, checked_real
from coursekit.autodiff import Tensor, constant, parameter
from coursekit.errors import OutOfRange, UnknownChoice, WrongType
from coursekit.initializers import second_moment

FloatArray: TypeAlias = NDArray[np.float64]
Activation: TypeAlias = Callable[[Tensor], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "linear": lambda z: z,
    "tanh": autodiff.tanh,
    "relu": autodiff.relu,
    "silu": autodiff.silu,
}


def expected_forward(
    widths: Sequence[int], weight_variances: Sequence[float], input_variance: float = 1.0
) -> tuple[float, ...]:
    """Return the expected signal variance before layer 1 and after each linear layer.

        Var(y) = fan_in · Var(w) · Var(x)

    Assumes zero-centred independent weights of one variance a layer, independent of zero-centred
    independent inputs. It is a statement about the average over networks, not about one.

    Args:
        widths: how many features there are before, between and after the layers.
        weight_variances: one for each layer.
        input_variance: of each input feature.
    Raises:
        WrongType, OutOfRange: a width below 1, a negative variance, or not one variance a layer.
    Draws consumed: none.

    >>> expected_forward([64, 64, 64], [4 / 64, 4 / 64])
    (1.0, 4.0, 16.0)

    Source: Glorot and Bengio (2010), equation 5.
    """
    layers = _layers(widths, weight_variances)
    variances = [_moment(input_variance, "input variance")]
    for fan_in, _, variance in layers:
        variances.append(fan_in * variance * variances[-1])
    return tuple(variances)


def expected_backward(
    widths: Sequence[int], weight_variances: Sequence[float], output_variance: float = 1.0
) -> tuple[float, ...]:
    """Return the expected variance of the gradient at the same places, for linear layers.

        Var(∂x) = fan_out · Var(w) · Var(∂y)

    Args, Raises: as `expected_forward`, with the variance of the gradient that arrives at the end.

    >>> expected_backward([4, 2, 2], [1 / 3, 1 / 2])
    (0.6666666666666666, 1.0, 1.0)

    Source: Glorot and Bengio (2010), equation 6.
    """
    layers = _layers(widths, weight_variances)
    variances = [_moment(output_variance, "output variance")]
    for _, fan_out, variance in reversed(layers):
        variances.append(fan_out * variance * variances[-1])
    return tuple(reversed(variances))


def expected_moments(
    activation: str,
    widths: Sequence[int],
    weight_variances: Sequence[float],
    input_moment: float = 1.0,
    residual: bool = False,
) -> tuple[float, ...]:
    """Return the expected second moment before layer 1 and after each layer with an activation.

        z ~ N(0, fan_in · Var(w) · q),  then  q' = E[f(z)²]

    A residual layer adds its input h: q' = q + 2·E[h]·E[f(z)] + E[f(z)²]. Assumes, besides what
    `expected_forward` assumes, layers so wide that z is normal and independent of h.

    Args:
        activation: a key of `ACTIVATIONS`.
        widths, weight_variances: as in `expected_forward`.
        input_moment: E[x²] of the input features, whose mean is taken to be 0.
        residual: whether each layer adds its input to its output.
    Raises:
        WrongType, UnknownChoice: an unknown activation. Then as `expected_forward`.
    Draws consumed: none. Tolerance: 1e-12 relative, by quadrature.

    >>> [round(q, 6) for q in expected_moments("relu", [64, 64, 64], [2 / 64, 2 / 64])]
    [1.0, 1.0, 1.0]

    Source: Poole et al. (2016), equation 3.
    """
    f = _values(chosen(activation))
    mean, moments = 0.0, [_moment(input_moment, "input moment")]
    for fan_in, _, variance in _layers(widths, weight_variances):
        arriving = fan_in * variance * moments[-1]
        branch_moment = _mean_square(f, arriving)
        # E[(f + 1)²] = E[f²] + 2·E[f] + 1: the same quadrature serves the mean.
        shifted = _mean_square(lambda z: f(z) + 1.0, arriving)
        branch_mean = (shifted - branch_moment - 1.0) / 2.0
        kept, kept_mean = (moments[-1], mean) if residual else (0.0, 0.0)
        moments.append(kept + 2.0 * kept_mean * branch_mean + branch_moment)
        mean = kept_mean + branch_mean
    return tuple(moments)


def expected_gradients(
    activation: str,
    widths: Sequence[int],
    weight_variances: Sequence[float],
    input_moment: float = 1.0,
    output_moment: float = 1.0,
    residual: bool = False,
) -> tuple[float, ...]:
    """Return the expected second moment of the gradient at the same places.

        E[∂h²] = fan_out · Var(w) · E[f′(z)²] · E[∂h′²],  plus E[∂h′²] if residual

    Assumes, besides what `expected_moments` assumes, gradients that are zero-centred and
    independent of the forward pass: an approximation, since both pass the same weights. Where a
    residual network without normalization grows, it fails grossly: 20 ReLU layers of width 64
    were expected to give 3,325 and measured 113,872 (chapter 8).

    Args:
        output_moment: E[g²] of the gradient that arrives at the end.
        The others: as in `expected_moments`.
    Raises: as `expected_moments`. Draws consumed: none. Tolerance: 1e-12 relative.

    >>> [round(g, 6) for g in expected_gradients("relu", [64, 64, 64], [2 / 64, 2 / 64])]
    [1.0, 1.0, 1.0]

    Source: Schoenholz et al. (2017).
    """
    f = chosen(activation)
    signals = expected_moments(activation, widths, weight_variances, input_moment, residual)
    moments = [_moment(output_moment, "output moment")]
    layers = zip(_layers(widths, weight_variances), signals[:-1], strict=True)
    for (fan_in, fan_out, variance), arriving in reversed(list(layers)):
        slope = _mean_square(_slopes(f), fan_in * variance * arriving)
        branch = fan_out * variance * slope * moments[-1]
        moments.append(branch + moments[-1] if residual else branch)
    return tuple(reversed(moments))


def chosen(activation: str) -> Activation:
    """Return the activation of this name. Raises: `WrongType`, `UnknownChoice`."""
    if not isinstance(activation, str):
        raise WrongType("activation", "text", activation)
    if activation not in ACTIVATIONS:
        raise UnknownChoice("activation", activation, tuple(ACTIVATIONS))
    return ACTIVATIONS[activation]


def at_least_one(value: int, subject: str) -> int:
    """Return a count of at least 1. Raises: `WrongType`, `OutOfRange`."""
    if checked_integer(value, subject) < 1:
        raise OutOfRange(subject, "at least 1", value)
    return checked_integer(value, subject)


def _values(f: Activation) -> Callable[[FloatArray], FloatArray]:
    return lambda z: f(constant(z)).value


def _slopes(f: Activation) -> Callable[[FloatArray], FloatArray]:
    def slopes(z: FloatArray) -> FloatArray:
        leaf = parameter(z)
        (f(leaf) * 1.0).backward(np.ones(z.shape))
        return np.asarray(leaf.grad)

    return slopes


def _mean_square(f: Callable[[FloatArray], FloatArray], variance: float) -> float:
    """E[f(z)²] for z ~ N(0, variance); a variance of 0 leaves z = 0 alone."""
    if variance == 0.0:
        return float(f(np.zeros(1))[0]) ** 2
    return second_moment(f, variance)


def _layers(
    widths: Sequence[int], weight_variances: Sequence[float]
) -> list[tuple[int, int, float]]:
    """(fan_in, fan_out, weight variance) of each layer."""
    counted = [at_least_one(width, "width") for width in widths]
    variances = [_moment(variance, "weight variance") for variance in weight_variances]
    if len(variances) != len(counted) - 1:
        raise OutOfRange(
            "weight variances", "one for each layer between two widths", tuple(variances)
        )
    return [(n_in, n_out, v) for (n_in, n_out), v in zip(pairwise(counted), variances, strict=True)]


def _moment(value: float, subject: str) -> float:
    if checked_real(value, subject) < 0.0:
        raise OutOfRange(subject, "at least 0", value)
    return float(value)
