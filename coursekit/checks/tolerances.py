"""How far an answer may lie from the right one, and why just so far.

Three reasons exist. Arithmetic: each of k operations rounds by at most 2⁻⁵³ relative, so that two
right formulas differ by a few multiples of it. Writing: a number typed from paper has as many
digits as were asked for. Sampling: a measured number scatters around its expectation, and a check
grants it four standard errors. Where bits were asked for, there is no tolerance.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Tolerance:
    """|given − right| ≤ relative · |right| + absolute, element by element; `said` tells it.

    With `decimal_digits`, half a unit of the last of so many digits of each right number is added.
    """

    relative: float
    absolute: float
    said: str
    decimal_digits: int | None = None

    def holds(self, given: float | FloatArray, right: float | FloatArray) -> bool:
        """Whether `given` is close enough to `right`, everywhere; a NaN never is.

        >>> rounding(1).holds(0.1 + 0.2, 0.3), EXACT.holds(0.1 + 0.2, 0.3)
        (True, False)
        """
        given, right = np.asarray(given), np.asarray(right)
        if given.shape != right.shape:
            return False
        allowed = self.relative * np.abs(right) + self.absolute
        if self.decimal_digits is not None:
            allowed = allowed + _half_unit(right, self.decimal_digits)
        return bool(np.all(np.abs(given - right) <= allowed))

    def is_narrow(self, right: FloatArray) -> bool:
        """Whether it is below 1 % of `right` everywhere, so that a wrong factor stands out.

        >>> rounding(3).is_narrow(np.array(0.5)), sampling(0.1).is_narrow(np.array(0.5))
        (True, False)
        """
        return not self.holds(right * 1.01, right) and not self.holds(right * 0.99, right)


def _half_unit(right: FloatArray, count: int) -> FloatArray:
    """Return 0.5 in the last of `count` significant digits; 0 for a right number 0."""
    size = np.where(right == 0, 1.0, np.abs(right))
    unit = 10.0 ** (np.floor(np.log10(size)) + 1 - count)
    # A right answer may be rounded from one that lies on the edge.
    return np.asarray(np.where(right == 0, 0.0, 0.5 * unit * (1 + 1e-9)))


EXACT = Tolerance(0.0, 0.0, "to the last bit")


def rounding(operations: int, scale: float = 0.0) -> Tolerance:
    """For numbers computed in float64 by formulas of about so many operations.

    Each right formula errs by at most `operations` · 2⁻⁵³ relative, so two of them differ by at
    most twice that.

    Args:
        scale: of the terms, where they cancel and the result may be near 0.

    >>> rounding(4).said
    'within 8.9e-16 relative, for 4 roundings'
    """
    share = operations * 2.0**-52
    said = f"within {share:.1e} relative, for {operations} roundings"
    if scale:
        said = f"within {share * scale:.1e}, for {operations} roundings at scale {scale:g}"
    return Tolerance(share, share * scale, said)


def digits(count: int) -> Tolerance:
    """For numbers written by hand, right to `count` significant digits.

    >>> [digits(3).holds(given, 0.5**0.5) for given in (0.707, 0.7071067, 0.71)]
    [True, True, False]
    """
    said = f"right to {count} significant digit{'s' if count > 1 else ''}"
    return Tolerance(0.0, 0.0, said, count)


def sampling(standard_error: float, factor: float = 4.0) -> Tolerance:
    """For measured numbers that scatter by `standard_error` around the right one.

    A right answer is refused once in 16,000 at 4 standard errors, if the scatter is normal.

    >>> sampling(0.03).said
    'within 0.12, which is 4 standard errors of the measurement'
    """
    width = factor * standard_error
    said = f"within {width:.2g}, which is {factor:g} standard errors of the measurement"
    return Tolerance(0.0, width, said)
