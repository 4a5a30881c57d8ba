"""Signals and gradients from layer to layer, as a measurement: one network, really run.

Chapters 3 and 8 use it beside `expected.py`. What is measured holds for the network that was run.
Chapter 8 shows how far that can be from the average: at width 64 and depth 100 half of all linear
networks lose four fifths of their signal, although the average network loses nothing.

Source: Hanin and Nica, Products of many large random matrices and gradients in deep neural
networks, 2020 (the logarithm of the signal is nearly normal, hence the median).

Not promised: last digits, since matrix products and tanh round differently from machine to machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coursekit.autodiff import Tensor, constant, no_grad, parameter
from coursekit.errors import OutOfRange, ShapeMismatch
from coursekit.measure.expected import Activation, at_least_one, chosen, expected_moments
from coursekit.measure.sample import Population, population
from coursekit.rng import SplitMix64

FloatArray: TypeAlias = NDArray[np.float64]
Sampler: TypeAlias = Callable[[int, int, SplitMix64], FloatArray]


@dataclass(frozen=True)
class DepthRun:
    """One network, run: statistics of every signal and of the gradient that arrived at it.

    Index 0 is the input, index k what layer k made of it. `gradients` is empty without a backward
    pass.
    """

    activation: str
    residual: bool
    signals: tuple[Population, ...]
    gradients: tuple[Population, ...]


@dataclass(frozen=True)
class DepthComparison:
    """Second moments from layer to layer: one wanted everywhere, some expected, some measured."""

    target: float
    expected: tuple[float, ...]
    measured: tuple[float, ...]


def draw_network(widths: Sequence[int], sampler: Sampler, rng: SplitMix64) -> list[FloatArray]:
    """Draw one weight matrix a layer, first layer first, all from one stream.

    Args:
        widths: how many features there are before, between and after the layers.
        sampler: any initializer, or a function with its arguments.
        rng: moved by fan_in·fan_out draws for each layer.
    Raises:
        OutOfRange: fewer than two widths. Then what the sampler raises; the generator then stands
            where it stood.

    >>> from coursekit.initializers import he_normal
    >>> [matrix.shape for matrix in draw_network([4, 3, 2], he_normal, SplitMix64(1))]
    [(4, 3), (3, 2)]
    """
    if len(widths) < 2:
        raise OutOfRange("widths", "at least two", tuple(widths))
    trial = rng.clone()
    weights = [sampler(fan_in, fan_out, trial) for fan_in, fan_out in pairwise(widths)]
    rng._state = trial._state
    return weights


def measure_depth(
    weights: Sequence[ArrayLike],
    inputs: ArrayLike,
    activation: str = "linear",
    residual: bool = False,
    output_gradient: ArrayLike | None = None,
) -> DepthRun:
    """Run one network forward, and backward if a gradient is given, and describe what passes.

        h' = f(h W),  or  h' = h + f(h W) if residual

    Each layer is a tape of its own: its leaf is the signal that arrives, and the gradient of that
    leaf is the seed of the layer before.

    Args:
        weights: one [fan_in, fan_out] matrix a layer.
        inputs: [samples, features].
        activation: a key of `ACTIVATIONS`, applied in every layer.
        residual: whether each layer adds its input to its output.
        output_gradient: an array of the output's shape, to start the backward pass with.
    Raises:
        WrongType, UnknownChoice: an unknown activation.
        ShapeMismatch: matrices that do not fit each other, or a residual layer that is not square.
        NonFiniteForward and its relatives: a signal or gradient that leaves the range of float64.
    Draws consumed: none.

    >>> run = measure_depth([[[3.0]], [[0.5]]], [[2.0]], output_gradient=[[1.0]])
    >>> [signal.mean for signal in run.signals], [gradient.mean for gradient in run.gradients]
    ([2.0, 6.0, 3.0], [1.5, 0.5, 1.0])
    """
    f = chosen(activation)
    arrivals, results = [], []
    signal = inputs
    for matrix in weights:
        arrivals.append(parameter(signal))
        results.append(_layer(arrivals[-1], matrix, f, residual))
        signal = results[-1].value
    signals = (population(inputs), *(population(result.value) for result in results))
    gradients = []
    if output_gradient is not None:
        gradients.append(population(output_gradient))
        seed = output_gradient
        for arrival, result in zip(reversed(arrivals), reversed(results), strict=True):
            result.backward(seed)
            seed = np.asarray(arrival.grad)
            gradients.append(population(seed))
    return DepthRun(activation, residual, signals, tuple(reversed(gradients)))


def measure_networks(
    count: int,
    widths: Sequence[int],
    sampler: Sampler,
    rng: SplitMix64,
    inputs: ArrayLike,
    activation: str = "linear",
    residual: bool = False,
) -> FloatArray:
    """Return the second moment of the signals of many networks, one row a network.

    Args:
        count: how many networks to draw, one after the other, from one stream.
        widths, sampler, rng: as in `draw_network`.
        inputs, activation, residual: as in `measure_depth`; every network gets the same inputs.
    Returns:
        [count, number of widths] second moments.
    Raises:
        OutOfRange: a count below 1. Then as `draw_network` and `measure_depth`.
    Draws consumed: as `draw_network`, count times.

    >>> from coursekit.initializers import he_normal
    >>> measure_networks(3, [8, 8], he_normal, SplitMix64(1), [[1.0] * 8]).shape
    (3, 2)
    """
    f = chosen(activation)
    start = constant(inputs)
    moments = np.empty((at_least_one(count, "number of networks"), len(widths)))
    trial = rng.clone()
    with no_grad():
        for row in moments:
            signal = start
            row[0] = np.mean(np.square(signal.value))
            for layer, matrix in enumerate(draw_network(widths, sampler, trial), start=1):
                signal = _layer(signal, matrix, f, residual)
                row[layer] = np.mean(np.square(signal.value))
    rng._state = trial._state
    return moments


def compare_depth(
    sampler: Sampler,
    weight_variance: float,
    width: int,
    depth: int,
    rng: SplitMix64,
    activation: str = "linear",
    residual: bool = False,
    samples: int = 256,
) -> DepthComparison:
    """Draw and run one network of equal widths on standard normal inputs, beside its expectation.

    Args:
        sampler: an initializer; weight_variance: the target variance of its rule.
        width, depth: features a layer, and layers, at least 1 each.
        rng: gives the inputs first, then the weights.
        activation, residual: as in `measure_depth`.
        samples: rows of input, at least 1.
    Raises:
        as `measure_depth` and `expected_moments`.
    Draws consumed: samples·width + depth·width².
    """
    widths = [at_least_one(width, "width")] * (at_least_one(depth, "depth") + 1)
    expected = expected_moments(activation, widths, [weight_variance] * depth, residual=residual)
    trial = rng.clone()
    inputs = trial.standard_normal((at_least_one(samples, "samples"), width))
    run = measure_depth(draw_network(widths, sampler, trial), inputs, activation, residual)
    rng._state = trial._state
    return DepthComparison(1.0, expected, tuple(signal.second_moment for signal in run.signals))


def _layer(signal: Tensor, matrix: ArrayLike, f: Activation, residual: bool) -> Tensor:
    branch = f(signal @ constant(matrix))
    if not residual:
        return branch
    if branch.shape != signal.shape:
        raise ShapeMismatch("residual layer", "a square matrix", (signal.shape, branch.shape))
    return signal + branch
