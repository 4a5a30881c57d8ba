"""What a finite set of numbers has, and how far it may stray from what was asked for.

Chapter 8 builds it; chapters 3 to 5 use it. Every statistic here is that of a *population*: the
numbers at hand are all there are, so a sum of squares is divided by their count, and the result is
a fact about them, not an estimate of something else. What links it to the distribution that the
numbers were drawn from is the standard error.

Source: Chan, Golub and LeVeque, Algorithms for computing the sample variance, The American
Statistician 37 (1983): the two-pass form, and what becomes of the others.

Promised: the bits of `population` and `histogram`, which add in the order of the numbers. Not
promised: the smallest rounding error; adding in pairs would have a smaller one, in no fixed order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coursekit.arguments import checked_integer, checked_real
from coursekit.errors import NonFiniteValue, OutOfRange, WrongType

FloatArray: TypeAlias = NDArray[np.float64]

UNIFORM_KURTOSIS = 9.0 / 5.0  # E[(x − mean)⁴]/variance² of a uniform distribution
NORMAL_KURTOSIS = 3.0


# --- one population of numbers ------------------------------------------------------------------


@dataclass(frozen=True)
class Population:
    """What a finite set of numbers has: nothing here is an estimate of something else."""

    count: int
    minimum: float
    maximum: float
    mean: float
    variance: float

    @property
    def standard_deviation(self) -> float:
        """The root of the variance, in the unit of the numbers."""
        return math.sqrt(self.variance)

    @property
    def second_moment(self) -> float:
        """The mean square, variance + mean²; what a ReLU halves."""
        return self.variance + self.mean * self.mean


def population(values: ArrayLike) -> Population:
    """Describe all of `values` in two passes.

        mean = Σx / n,  then  variance = Σ(x − mean)² / n

    The second pass needs the first one's result: the shortcut Σx²/n − mean² cancels when the mean
    is large. Both sums run from the first number to the last, one at a time, which fixes the bits.

    Args:
        values: finite numbers in an array of any shape, read in row-major order.
    Raises:
        WrongType: values that are no real numbers.
        OutOfRange: no values, or a sum that leaves the range of float64.
        NonFiniteValue: NaN or an infinity among them.
    Draws consumed: none.

    >>> population([1.0, 2.0, 3.0, 4.0])
    Population(count=4, minimum=1.0, maximum=4.0, mean=2.5, variance=1.25)
    """
    flat = _finite_numbers(values, "values")
    if not flat.size:
        raise OutOfRange("number of values", "at least 1", 0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _sum_in_order(flat) / flat.size
        deviations = flat - mean
        variance = _sum_in_order(deviations * deviations) / flat.size
    if not math.isfinite(variance):
        raise OutOfRange("sum of squares", "within float64", f"a largest size of {abs(flat).max()}")
    return Population(flat.size, float(flat.min()), float(flat.max()), mean, variance)


@dataclass(frozen=True)
class Histogram:
    """Counts of numbers between edges, and of those beyond the first and the last edge."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    underflow: int
    overflow: int

    @property
    def total(self) -> int:
        """How many numbers there were, those beyond the edges included."""
        return self.underflow + sum(self.counts) + self.overflow

    @property
    def percentages(self) -> tuple[float, ...]:
        """The share of each bin in all numbers; less than 100 together if some lie beyond."""
        return tuple(100.0 * count / self.total for count in self.counts)


def histogram(values: ArrayLike, edges: ArrayLike) -> Histogram:
    """Count how many of `values` lie in each bin, losing none.

    A bin holds its left edge and not its right one, except the last, which holds both.

    Args:
        values: at least one finite number.
        edges: at least two, finite and increasing, in the unit of the values.
    Raises:
        WrongType, NonFiniteValue: as `population`, for the values and then for the edges.
        OutOfRange: no values, fewer than two edges, edges that do not increase.
    Draws consumed: none.

    >>> histogram([-1.0, 0.0, 0.5, 1.0, 1.5], [0.0, 0.5, 1.0])
    Histogram(edges=(0.0, 0.5, 1.0), counts=(1, 2), underflow=1, overflow=1)
    """
    ordered = np.sort(_finite_numbers(values, "values"))
    bounds = _finite_numbers(edges, "edges")
    if not ordered.size:
        raise OutOfRange("number of values", "at least 1", 0)
    if bounds.size < 2 or not (bounds[1:] > bounds[:-1]).all():
        raise OutOfRange("edges", "two or more that increase", bounds.tolist())
    below = np.searchsorted(ordered, bounds, side="left")
    below[-1] = np.searchsorted(ordered, bounds[-1], side="right")
    return Histogram(
        edges=tuple(bounds.tolist()),
        counts=tuple(np.diff(below).tolist()),
        underflow=int(below[0]),
        overflow=ordered.size - int(below[-1]),
    )


# --- how far a sample may stray -----------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """Target, expected and measured value of one quantity, and the sampling error between them."""

    target: float
    expected: float
    measured: float
    standard_error: float

    @property
    def standard_errors_from_target(self) -> float:
        """(measured − target) in standard errors; beyond ±3 in about 3 of 1,000 fair samples."""
        distance = self.measured - self.target
        if self.standard_error == 0.0:  # as for zeros, which cannot stray
            return math.copysign(math.inf, distance) if distance else 0.0
        return distance / self.standard_error


def standard_error_of_mean(variance: float, count: int) -> float:
    """Return √(variance/count): how far the mean of `count` draws strays from that of all draws.

    >>> standard_error_of_mean(4.0, 100)
    0.2
    """
    return math.sqrt(_not_negative(variance, "variance") / _positive(count, "count"))


def standard_error_of_variance(variance: float, count: int, kurtosis: float) -> float:
    """Return variance·√((kurtosis − 1)/count): how far the variance of `count` draws strays.

    That is variance·√(0.8/n) for uniform draws and variance·√(2/n) for normal ones; the terms of
    order 1/n² are left out.

    Args:
        variance: of the distribution, in squared units.
        count: number of draws.
        kurtosis: `UNIFORM_KURTOSIS`, `NORMAL_KURTOSIS`, or another number of at least 1.
    Raises:
        WrongType, OutOfRange.

    >>> standard_error_of_variance(1.0, 80, UNIFORM_KURTOSIS)
    0.1
    """
    variance = _not_negative(variance, "variance")
    kurtosis = checked_real(kurtosis, "kurtosis")
    if kurtosis < 1.0:
        raise OutOfRange("kurtosis", "at least 1", kurtosis)
    return variance * math.sqrt((kurtosis - 1.0) / _positive(count, "count"))


def compare_mean(values: ArrayLike, target_variance: float) -> Comparison:
    """Hold the mean of drawn weights against the 0 that every rule asks for. Raises: as above."""
    found = population(values)
    return Comparison(0.0, 0.0, found.mean, standard_error_of_mean(target_variance, found.count))


def compare_variance(
    values: ArrayLike, target_variance: float, kurtosis: float = UNIFORM_KURTOSIS
) -> Comparison:
    """Hold the population variance of drawn weights against the target variance of their rule.

    Deviations are taken from the mean of the sample, which lies amid it: the expected value is
    therefore (1 − 1/n) times the target.

    Raises: as `population`, then as `standard_error_of_variance`. Draws consumed: none.

    >>> from coursekit.initializers import SplitMix64, xavier_uniform
    >>> weights = xavier_uniform(64, 64, SplitMix64(17))
    >>> compared = compare_variance(weights, 1 / 64)
    >>> compared.target, round(compared.measured, 9)
    (0.015625, 0.015801411)
    >>> round(compared.standard_errors_from_target, 2)
    0.81
    """
    found = population(values)
    error = standard_error_of_variance(target_variance, found.count, kurtosis)
    return Comparison(
        target_variance, (1.0 - 1.0 / found.count) * target_variance, found.variance, error
    )


# --- what is counted and what is refused --------------------------------------------------------


def _sum_in_order(values: FloatArray) -> float:
    # np.sum adds in pairs and in lanes, as the processor likes; accumulate promises an order.
    return float(np.add.accumulate(values)[-1])


def _finite_numbers(values: ArrayLike, subject: str) -> FloatArray:
    try:
        given = np.asarray(values)
    except ValueError:  # rows of unequal length
        raise WrongType(subject, "real numbers", values) from None
    if given.dtype.kind not in "iuf" and given.size:
        raise WrongType(subject, "real numbers", values)
    flat = np.ravel(given).astype(np.float64, copy=False)
    if not np.isfinite(flat).all():
        index = int(np.argmin(np.isfinite(flat)))
        raise NonFiniteValue(subject, index, float(flat[index]))
    return flat


def _positive(count: int, subject: str) -> int:
    count = checked_integer(count, subject)
    if count < 1:
        raise OutOfRange(subject, "at least 1", count)
    return count


def _not_negative(value: float, subject: str) -> float:
    value = checked_real(value, subject)
    if value < 0.0:
        raise OutOfRange(subject, "at least 0", value)
    return value
