"""A second way to differentiate, as plain as can be: one object a number, and recursion.

Every number knows the numbers it was made from and the slope in each. The derivative in a leaf is
the sum over its operands of slope times their derivative: forward, recursive, without a tape, an
order or a shape. NumPy does the shapes, on arrays of such objects.
"""

import math

import numpy as np


class Num:
    """A number, and (operand, slope) for each operand that it was made from."""

    __slots__ = ("edges", "value")

    def __init__(self, value, *edges):
        self.value, self.edges = value, edges

    def __add__(self, other):
        other = lifted(other)
        return Num(self.value + other.value, (self, 1.0), (other, 1.0))

    def __neg__(self):
        return Num(-self.value, (self, -1.0))

    def __sub__(self, other):
        return self + -lifted(other)

    def __mul__(self, other):
        other = lifted(other)
        return Num(self.value * other.value, (self, other.value), (other, self.value))

    def __truediv__(self, other):
        other = lifted(other)
        a, b = self.value, other.value
        return Num(a / b, (self, 1.0 / b), (other, -a / (b * b)))

    __radd__, __rmul__ = __add__, __mul__


def lifted(number):
    return number if isinstance(number, Num) else Num(float(number))


def numbers(values):
    """An array of fresh leaves."""
    values = np.asarray(values, dtype=float)
    made = np.empty(values.shape, dtype=object)
    for place in np.ndindex(values.shape):
        made[place] = Num(float(values[place]))
    return made


def values_of(nums):
    return np.array([num.value for num in nums.flat]).reshape(nums.shape)


def derivative(num, leaf, known):
    """(∂num/∂leaf, the same with every term's sign dropped: how much could have cancelled)."""
    if num is leaf:
        return 1.0, 1.0
    if num not in known:
        slope = size = 0.0
        for operand, weight in num.edges:
            inner, inner_size = derivative(operand, leaf, known)
            slope, size = slope + weight * inner, size + abs(weight) * inner_size
        known[num] = slope, size
    return known[num]


# --- functions of one number, and of one row ----------------------------------------------------


def each(value, slope):
    """A function of one number, from its formula and that of its derivative."""

    def on_array(nums):
        made = np.empty(nums.shape, dtype=object)
        for place in np.ndindex(nums.shape):
            x = nums[place]
            made[place] = Num(value(x.value), (x, slope(x.value)))
        return made

    return on_array


tanh = each(math.tanh, lambda x: 1.0 / math.cosh(x) ** 2)
exp = each(math.exp, math.exp)
log = each(math.log, lambda x: 1.0 / x)
sqrt = each(math.sqrt, lambda x: 0.5 / math.sqrt(x))
sigmoid = each(lambda x: 1.0 / (1.0 + math.exp(-x)), lambda x: 0.25 / math.cosh(x / 2.0) ** 2)
relu = each(lambda x: max(x, 0.0), lambda x: float(x > 0.0))
cube = each(lambda x: x * x * x, lambda x: 3.0 * x * x)


def rows(function):
    """A function of the last axis that gives one number for each row of it."""

    def on_array(nums):
        if not nums.ndim:
            raise ValueError("a scalar has no rows")
        made = np.empty(nums.shape[:-1], dtype=object)
        for place in np.ndindex(made.shape):
            made[place] = function(list(nums[place]))
        return made

    return on_array


@rows
def largest(row):
    top = max(x.value for x in row)
    winners = [x for x in row if x.value == top]
    return Num(top, *((x, 1.0 / len(winners)) for x in winners))


@rows
def logsumexp(row):
    total = math.fsum(math.exp(x.value) for x in row)
    return Num(math.log(total), *((x, math.exp(x.value) / total) for x in row))


@rows
def total(row):
    return Num(math.fsum(x.value for x in row), *((x, 1.0) for x in row))


@rows
def average(row):
    return Num(math.fsum(x.value for x in row) / len(row), *((x, 1.0 / len(row)) for x in row))


def softmax(nums):
    return exp(nums - logsumexp(nums)[..., np.newaxis])
