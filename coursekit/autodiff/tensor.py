"""A value on the tape: a float64 array that remembers which operation made it, and from what.

Chapter 7 builds this class from nothing. A `Tensor` is a node of the computation graph. Leaves
are parameters, which collect gradients, and constants, which do not; every other tensor is the
result of an operation and keeps its operands, so that `backward` can walk from a result to the
parameters it came from. `tape.py` does the walking, the operation modules supply the derivatives.

Values never change under a reader: arrays are copied when a leaf is made, handed out read-only,
and `assign` puts a new array in place of the old one. No promise is made about speed or bits of
operations that pass through `exp`, `log` or a matrix product.

Source: the arrangement follows Baydin, Pearlmutter, Radul and Siskind, "Automatic differentiation
in machine learning: a survey", JMLR 18 (2018), section 3.2, reverse accumulation.
"""

import itertools
from collections.abc import Sequence
from math import inf
from typing import Any, Literal, TypeAlias, overload

import numpy as np

# The operations import `Tensor`, and its methods call the operations: this line binds the package
# itself, whose functions are looked up when a method is called.
import coursekit.autodiff as autodiff
from coursekit.autodiff.arrays import (
    Axis,
    FloatArray,
    Lengths,
    Vjp,
    as_float,
    float_array,
    is_number,
    require_finite_leaf,
)
from coursekit.errors import NotAParameter, ShapeMismatch

# One tick for each tensor made and each value assigned: an operand is always older than its result.
clock = itertools.count(1)


class Tensor:
    """A node of the computation graph; made by `parameter`, `constant` and the operations.

    `x + y`, `x.sum(axis=0)` and the like call the operation of that name in this package. Two
    tensors compare equal only if they are one node.

    >>> from coursekit.autodiff import parameter
    >>> x = parameter([1.0, 2.0])
    >>> y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    array([2., 4.])
    """

    __slots__ = (
        "__weakref__",
        "_gradient",  # sum of all backward passes since zero_grad; None stands for zeros
        "_known_live",  # clock reading until which no ancestor had been released; no end for leaves
        "_operands",
        "_operation",
        "_order",  # clock reading at which the value was made
        "_released",
        "_tracks",
        "_value",
        "_vjp",
    )

    # Lets `array + tensor` reach Tensor.__radd__ instead of NumPy's elementwise loop.
    __array_ufunc__ = None

    def __init__(
        self,
        value: FloatArray,
        operation: str,
        operands: tuple["Tensor", ...] = (),
        vjp: Vjp | None = None,
        tracks: bool = False,
    ) -> None:
        value.setflags(write=False)
        self._value = value
        self._operation = operation
        self._operands = operands
        self._vjp = vjp
        self._tracks = tracks
        self._released = False
        self._gradient: FloatArray | None = None
        self._order = next(clock)
        self._known_live = self._order if operands else inf

    @property
    def value(self) -> FloatArray:
        """The numbers, as a read-only array."""
        return self._value

    @property
    def grad(self) -> FloatArray | None:
        """The sum of all gradients since the last `zero_grad`, read-only; None for non-parameters.

        A later pass puts a new array here and leaves this one as it is.
        """
        if self._operation != "parameter":
            return None
        if self._gradient is None:
            self._gradient = np.zeros(self._value.shape)
            self._gradient.setflags(write=False)
        return self._gradient

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self._value.shape

    @property
    def operation(self) -> str:
        """The name of the operation that made this tensor, or `parameter`, or `constant`."""
        return self._operation

    @property
    def is_parameter(self) -> bool:
        """Whether this leaf collects gradients."""
        return self._operation == "parameter"

    @property
    def tracks_gradient(self) -> bool:
        """Whether the value depends on a parameter through recorded operations."""
        return self._tracks

    @property
    def is_released(self) -> bool:
        """Whether a backward pass has released this node or one that it was computed from."""
        return autodiff.tape.is_released(self)

    def is_same_node(self, other: "Tensor") -> bool:
        """Whether both names stand for one node, so that a gradient for one is there for both."""
        return self is other

    def detach(self) -> "Tensor":
        """A constant with this value; nothing flows back through it."""
        return Tensor(self._value, "constant")

    def zero_grad(self) -> None:
        """Forget the gradient collected so far.

        Raises: `NotAParameter`.
        """
        if self._operation != "parameter":
            raise NotAParameter("zero_grad", self._operation)
        self._gradient = None

    def assign(self, values: object) -> None:
        """Give a parameter a new value of the same shape; its gradient stays.

        A graph that used the old value refuses `backward` from then on.

        Raises: `NotAParameter`, `WrongType`, `ShapeMismatch`, `NonFiniteLeaf`.
        """
        if self._operation != "parameter":
            raise NotAParameter("assign", self._operation)
        array = float_array("values to assign", values)
        if array.shape != self._value.shape:
            rule = "the shape that the parameter has"
            raise ShapeMismatch("assign", rule, (self._value.shape, array.shape))
        require_finite_leaf(array)
        array.setflags(write=False)
        self._value = array
        self._order = next(clock)

    @overload
    def backward(
        self, seed: object = None, retain_graph: bool = False, trace: Literal[False] = False
    ) -> None: ...

    @overload
    def backward(
        self, seed: object = None, retain_graph: bool = False, *, trace: Literal[True]
    ) -> "list[autodiff.Step]": ...

    def backward(
        self, seed: object = None, retain_graph: bool = False, trace: bool = False
    ) -> "list[autodiff.Step] | None":
        """Add to every parameter's `grad` its share in this tensor: seed · ∂self/∂parameter.

        All or nothing: a refused or failed pass changes no gradient and releases nothing.

        Arguments:
            seed: the gradient that arrives at this tensor, of exactly its shape; may be left out
                for shape (), where it is 1.
            retain_graph: keep the graph for another pass; otherwise it is released.
            trace: return the steps of the pass, newest node first.

        Raises: `UntrackedOutput`, `WrongType`, `SeedShapeMismatch`, `NonFiniteSeed`,
            `GraphReleased`, `StaleOperandValue`, `NonFiniteVjp`, `NonFinitePassAdjoint`,
            `NonFiniteAccumulatedGradient`.

        >>> from coursekit.autodiff import parameter
        >>> x = parameter([3.0, -1.0])
        >>> (x * 2.0).backward(seed=[1.0, 10.0])
        >>> x.grad
        array([ 2., 20.])
        """
        return autodiff.tape.reverse_pass(self, seed, retain_graph, trace)

    def __repr__(self) -> str:
        numbers = np.array2string(self._value, separator=", ", threshold=16)
        return f"Tensor({numbers}, shape={self.shape}, operation={self._operation!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles carry value and gradient; the graph behind the tensor stays here."""
        return _restored, (self._value, self._gradient, self.is_parameter)

    # --- operators ----------------------------------------------------------------------------

    def __add__(self, other: "Operand") -> "Tensor":
        return autodiff.add(self, other)

    def __radd__(self, other: "Operand") -> "Tensor":
        return autodiff.add(other, self)

    def __sub__(self, other: "Operand") -> "Tensor":
        return autodiff.sub(self, other)

    def __rsub__(self, other: "Operand") -> "Tensor":
        return autodiff.sub(other, self)

    def __mul__(self, other: "Operand") -> "Tensor":
        return autodiff.mul(self, other)

    def __rmul__(self, other: "Operand") -> "Tensor":
        return autodiff.mul(other, self)

    def __truediv__(self, other: "Operand") -> "Tensor":
        return autodiff.div(self, other)

    def __rtruediv__(self, other: "Operand") -> "Tensor":
        return autodiff.div(other, self)

    def __matmul__(self, other: "Operand") -> "Tensor":
        return autodiff.matmul(self, other)

    def __rmatmul__(self, other: "Operand") -> "Tensor":
        return autodiff.matmul(other, self)

    def __neg__(self) -> "Tensor":
        return autodiff.neg(self)

    def __pow__(self, exponent: "Operand") -> "Tensor":
        return autodiff.pow(self, exponent)

    def __rpow__(self, base: "Operand") -> "Tensor":
        return autodiff.pow(base, self)

    # --- the operations as methods --------------------------------------------------------------

    @property
    def T(self) -> "Tensor":  # noqa: N802 - NumPy's name
        """The axes in reverse order: `coursekit.autodiff.transpose`."""
        return autodiff.transpose(self)

    def transpose(self, *axes: Lengths) -> "Tensor":
        return autodiff.transpose(self, axes or None)

    def reshape(self, *shape: Lengths) -> "Tensor":
        return autodiff.reshape(self, shape)

    def broadcast_to(self, *shape: Lengths) -> "Tensor":
        return autodiff.broadcast_to(self, shape)

    def sum(self, axis: Axis = None, keepdims: bool = False) -> "Tensor":
        return autodiff.sum(self, axis, keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> "Tensor":
        return autodiff.mean(self, axis, keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> "Tensor":
        return autodiff.max(self, axis, keepdims)

    def logsumexp(self, axis: Axis = None, keepdims: bool = False) -> "Tensor":
        return autodiff.logsumexp(self, axis, keepdims)

    def softmax(self, axis: Axis = -1) -> "Tensor":
        return autodiff.softmax(self, axis)

    def log_softmax(self, axis: Axis = -1) -> "Tensor":
        return autodiff.log_softmax(self, axis)

    def exp(self) -> "Tensor":
        return autodiff.exp(self)

    def log(self) -> "Tensor":
        return autodiff.log(self)

    def sqrt(self) -> "Tensor":
        return autodiff.sqrt(self)

    def tanh(self) -> "Tensor":
        return autodiff.tanh(self)

    def sigmoid(self) -> "Tensor":
        return autodiff.sigmoid(self)

    def softplus(self) -> "Tensor":
        return autodiff.softplus(self)

    def silu(self) -> "Tensor":
        return autodiff.silu(self)

    def gelu(self) -> "Tensor":
        return autodiff.gelu(self)

    def relu(self) -> "Tensor":
        return autodiff.relu(self)

    def leaky_relu(self, slope: float = 0.01) -> "Tensor":
        return autodiff.leaky_relu(self, slope)


# What an operation accepts beside a tensor becomes a constant.
Operand: TypeAlias = Tensor | float | FloatArray | Sequence[Any]


def parameter(values: object) -> Tensor:
    """A leaf that collects gradients, holding a float64 copy of `values`.

    Raises: `WrongType` for anything but real floating-point numbers, `NonFiniteLeaf`.

    >>> parameter([[1.0, 2.0]]).grad
    array([[0., 0.]])
    """
    array = float_array("parameter", values)
    require_finite_leaf(array)
    return Tensor(array, "parameter", tracks=True)


def constant(values: object) -> Tensor:
    """A leaf that collects no gradient, holding a float64 copy of `values`.

    Raises: `WrongType` for anything but real floating-point numbers, `NonFiniteLeaf`.

    >>> constant([0.5]).tracks_gradient
    False
    """
    array = float_array("constant", values)
    require_finite_leaf(array)
    return Tensor(array, "constant")


def as_tensor(operand: Operand) -> Tensor:
    """The operand itself if it is a tensor; a number or an array as a constant."""
    if isinstance(operand, Tensor):
        return operand
    if is_number(operand):
        return constant(as_float(operand))  # type: ignore[arg-type]
    return constant(operand)


def _restored(value: FloatArray, gradient: FloatArray | None, is_parameter: bool) -> Tensor:
    if not is_parameter:
        return constant(value)
    tensor = parameter(value)
    if gradient is not None:
        tensor._gradient = gradient.copy()
        tensor._gradient.setflags(write=False)
    return tensor
