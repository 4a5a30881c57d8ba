"""Is this derivative right? The question is put to the function itself, by finite differences.

Chapter 7. Backward claims a gradient; the central difference (f(x+h) − f(x−h)) / 2h measures it,
with an error of order h² from the curvature and of order ε/h from rounding. Near h = ε^(1/3) both
are small, so that a right derivative agrees to nine or ten digits and a wrong one hardly to two.

Where a function has a kink (relu at 0) the slopes from the left and from the right differ and
there is nothing to compare with. Such coordinates are found, listed as kinks, and only asked to
have a claimed slope between the two.

Agreement in the checked points is strong evidence and no proof; and a loss of digits near points
where f changes abruptly says nothing against the derivative.

Source: Griewank and Walther, "Evaluating Derivatives", 2nd ed. (2008), section 1.3; the choice of h
follows Press et al., "Numerical Recipes", 3rd ed. (2007), section 5.7.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coursekit.arguments import checked_integer, checked_real
from coursekit.autodiff.arrays import FloatArray, float_array
from coursekit.autodiff.tape import no_grad
from coursekit.autodiff.tensor import Tensor, constant, parameter
from coursekit.errors import OutOfRange, ShapeMismatch, WrongType

_STEP = float(np.finfo(np.float64).eps) ** (1 / 3)
# One-sided slopes of a smooth function differ by about h·f″; from this share on they are looked at.
_SUSPICIOUS_GAP = 1e-3


class Permuting(Protocol):
    """A generator that can draw an order: `SplitMix64` and NumPy's `Generator` both can."""

    def permutation(self, n: int, /) -> NDArray[np.integer]: ...


@dataclass(frozen=True)
class Coordinate:
    """One partial derivative, claimed by backward and measured by finite differences."""

    argument: int
    index: tuple[int, ...]
    claimed: float
    measured: float
    left: float
    right: float

    @property
    def error(self) -> float:
        """|claimed − measured|, relative to the larger of both where that exceeds 1."""
        return abs(self.claimed - self.measured) / max(1.0, abs(self.claimed), abs(self.measured))

    @property
    def gap(self) -> float:
        """|right − left|, relative to the larger slope where that exceeds 1."""
        return abs(self.right - self.left) / max(1.0, abs(self.left), abs(self.right))

    def is_between_slopes(self, tolerance: float) -> bool:
        """Whether the claim is a slope that a kink admits, from the left one to the right one."""
        low, high = sorted((self.left, self.right))
        slack = tolerance * max(1.0, abs(low), abs(high))
        return low - slack <= self.claimed <= high + slack

    def __str__(self) -> str:
        place = f"argument {self.argument}, index {self.index}"
        return f"{place}: claimed {self.claimed!r}, measured {self.measured!r}"


@dataclass(frozen=True)
class GradcheckReport:
    """What `gradcheck` found; true in a condition if no checked coordinate failed."""

    checked: int
    tolerance: float
    worst: Coordinate | None
    failures: tuple[Coordinate, ...]
    kinks: tuple[Coordinate, ...]

    @property
    def ok(self) -> bool:
        """Whether every checked coordinate agrees within the tolerance or is a kink."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        verdict = (
            f"{len(self.failures)} of {self.checked} coordinates differ"
            if self.failures
            else (f"{self.checked} coordinates agree")
        )
        lines = [f"{verdict}, tolerance {self.tolerance:g}"]
        if self.worst is not None:
            lines.append(f"worst: {self.worst}, error {self.worst.error:.2e}")
        lines += [f"differs: {each}, error {each.error:.2e}" for each in self.failures]
        lines += [f"kink: {k}, left slope {k.left!r}, right slope {k.right!r}" for k in self.kinks]
        return "\n".join(lines)


def gradcheck(
    function: Callable[..., Tensor],
    *arrays: ArrayLike,
    step: float = _STEP,
    tolerance: float = 1e-6,
    sample: int | None = None,
    rng: Permuting | None = None,
) -> GradcheckReport:
    """Compare the gradient that backward computes with central differences.

    A result of several elements is made a number by a sum with fixed, unequal weights between ½
    and 1½, the first of them 1, so that errors in several elements do not cancel.

    Arguments:
        function: takes one tensor for each array and returns a tensor, without side effects.
        arrays: the point at which to check.
        step: h for |x| ≤ 1, h/|x| beyond. The difference is divided by the spacing of the two
            arguments that rounding leaves, not by 2h.
        tolerance: largest admissible `Coordinate.error`.
        sample: how many coordinates to check, drawn without repetition; None for all.
        rng: the generator that draws them, by one `permutation`; needed only for a sample.

    Raises: `WrongType`, `OutOfRange`, `NonFiniteLeaf`, and what `function` raises.

    >>> from coursekit.autodiff import record, tanh
    >>> print(gradcheck(tanh, [0.5, -1.0]))  # doctest: +ELLIPSIS
    2 coordinates agree, tolerance 1e-06
    worst: argument 0, index (...,): claimed ..., error ...e-1...
    >>> def wrong(x):  # the derivative of x² is not x
    ...     return record("wrong", x.value**2, (x,), lambda adjoint: (adjoint * x.value,))
    >>> gradcheck(wrong, [3.0]).ok
    False
    """
    step = _checked_positive(step, "step of gradcheck")
    tolerance = _checked_positive(tolerance, "tolerance of gradcheck")
    probe = _Probe(function, [float_array("argument of gradcheck", array) for array in arrays])
    chosen = _chosen_coordinates(probe.points, sample, rng)
    compared, kinks, failures = [], [], []
    for argument, flat in chosen:
        found, is_kink = probe.examine(argument, flat, step)
        if is_kink:
            kinks.append(found)
            agrees = found.is_between_slopes(tolerance)
        else:
            compared.append(found)
            agrees = found.error <= tolerance
        if not agrees:
            failures.append(found)
    worst = max(compared, key=lambda each: each.error, default=None)
    return GradcheckReport(len(chosen), tolerance, worst, tuple(failures), tuple(kinks))


class _Probe:
    """f = Σ weights · function(points) as a number that can be moved one coordinate at a time."""

    def __init__(self, function: Callable[..., Tensor], points: list[FloatArray]) -> None:
        self.function = function
        self.points = points
        leaves = [parameter(point) for point in points]
        output = self._output(leaves)
        golden_steps = np.arange(output.value.size) * ((math.sqrt(5.0) - 1.0) / 2.0)
        self.weights = (0.5 + (0.5 + golden_steps) % 1.0).reshape(output.shape)
        self.centre = self._weighed(output)
        if output.tracks_gradient:
            output.backward(seed=self.weights)
        self.gradients = [np.asarray(leaf.grad) for leaf in leaves]

    def examine(self, argument: int, flat: int, step: float) -> tuple[Coordinate, bool]:
        """Claimed and measured partial derivative in one coordinate, and whether it is a kink.

        The slopes to the left and to the right of a smooth point approach each other as the step
        shrinks, also if there is a kink nearby; at a kink they keep their distance.
        """
        found = self._differences(argument, flat, step)
        while found.gap > _SUSPICIOUS_GAP:
            step /= 4.0
            finer = self._differences(argument, flat, step)
            if finer.gap > 0.5 * found.gap:
                return found, True
            found = finer
        return found, False

    def _differences(self, argument: int, flat: int, step: float) -> Coordinate:
        point = self.points[argument]
        x = float(point.flat[flat])
        h = step * max(1.0, abs(x))
        above, below = x + h, x - h
        if not below < x < above:
            raise OutOfRange("step of gradcheck", f"large enough to move {x}", step)
        f_above = self._moved(argument, flat, above)
        f_below = self._moved(argument, flat, below)
        return Coordinate(
            argument,
            index=tuple(int(i) for i in np.unravel_index(flat, point.shape)),
            claimed=float(self.gradients[argument].flat[flat]),
            measured=(f_above - f_below) / (above - below),
            left=(self.centre - f_below) / (x - below),
            right=(f_above - self.centre) / (above - x),
        )

    def _moved(self, argument: int, flat: int, value: float) -> float:
        """f with one coordinate replaced."""
        points = [point.copy() if i == argument else point for i, point in enumerate(self.points)]
        points[argument].flat[flat] = value
        with no_grad():
            return self._weighed(self._output([constant(point) for point in points]))

    def _output(self, operands: list[Tensor]) -> Tensor:
        output = self.function(*operands)
        if not isinstance(output, Tensor):
            raise WrongType("result of the function under gradcheck", "a tensor", output)
        return output

    def _weighed(self, output: Tensor) -> float:
        if output.shape != self.weights.shape:
            rule = "a function whose result keeps its shape"
            raise ShapeMismatch("gradcheck", rule, (self.weights.shape, output.shape))
        return math.fsum((self.weights * output.value).flat)


def _chosen_coordinates(
    points: list[FloatArray], sample: int | None, rng: Permuting | None
) -> list[tuple[int, int]]:
    everything = [(i, flat) for i, point in enumerate(points) for flat in range(point.size)]
    if sample is None:
        return everything
    if checked_integer(sample, "sample of gradcheck") < 1:
        raise OutOfRange("sample of gradcheck", "at least 1", sample)
    if rng is None or not hasattr(rng, "permutation"):
        raise WrongType("rng of gradcheck", "a generator, where a sample is asked for", rng)
    return [everything[i] for i in rng.permutation(len(everything))[:sample]]


def _checked_positive(value: float, subject: str) -> float:
    number = checked_real(value, subject)
    if number <= 0.0:
        raise OutOfRange(subject, "above 0", value)
    return number
