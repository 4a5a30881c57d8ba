"""The tape: how operations are recorded, and how a backward pass runs over the record.

Chapter 7 derives the pass. The adjoint of a node is the gradient of the output with respect to it.
The output's adjoint is the seed. Going from the newest node to the oldest, each operation turns its
result's adjoint into one contribution for each operand (its vector-Jacobian product, VJP), and an
operand's adjoint is the sum of the contributions of all its consumers. No sorting by dependence is
needed: an operand is older than its result, so newest-first visits every consumer before the node.

Nothing here recurses, so a graph may be a million operations deep. Everything is computed and
checked before the first gradient is stored: a pass succeeds as a whole or changes nothing.

Source: Griewank and Walther, "Evaluating Derivatives", 2nd ed. (2008), section 3.2, equation 3.7.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import isfinite
from operator import attrgetter

import numpy as np
from numpy import vdot

from coursekit.autodiff.arrays import (
    FloatArray,
    Vjp,
    as_float,
    first_non_finite,
    float_array,
    is_number,
)
from coursekit.autodiff.tensor import Operand, Tensor, as_tensor, clock
from coursekit.errors import (
    GraphReleased,
    NonFiniteAccumulatedGradient,
    NonFiniteForward,
    NonFinitePassAdjoint,
    NonFiniteSeed,
    NonFiniteVjp,
    ReleasedOperand,
    SeedShapeMismatch,
    ShapeMismatch,
    StaleOperandValue,
    UntrackedOutput,
)

# NumPy's floating-point warnings are off inside operations: `record` and the backward pass check
# every result and raise an error that names the operation and the element.
quiet = np.errstate(all="ignore")

_recording: ContextVar[bool] = ContextVar("recording", default=True)
_last_release = 0  # clock reading
_order_of = attrgetter("_order")
_ZERO, _ONE = np.zeros(()), np.ones(())
_ONE.setflags(write=False)


# --- recording --------------------------------------------------------------------------------


def record(operation: str, value: FloatArray, operands: tuple[Tensor, ...], vjp: Vjp) -> Tensor:
    """The tensor that an operation returns: its checked value, with the way back.

    For modules that add operations: call `live_operands` or `require_live` first, then compute
    (under `quiet`), then record.

    Arguments:
        operation: the name shown by `Tensor.operation` and in errors.
        value: the result; not written to afterwards.
        operands: the tensors it was computed from.
        vjp: takes the adjoint of the result and returns a tuple with one contribution for each
            operand, of that operand's shape, or None for "nothing flows to it". A contribution is
            a new array, or the adjoint, or a view of it; the VJP writes to none of the arrays it
            is given or keeps.

    Raises: `ReleasedOperand`, `NonFiniteForward`.

    >>> from coursekit.autodiff import parameter
    >>> def double(x):
    ...     require_live("double", x)
    ...     return record("double", 2 * x.value, (x,), lambda adjoint: (2 * adjoint,))
    >>> x = parameter(3.0)
    >>> double(x).backward()
    >>> x.grad
    array(2.)
    """
    value = np.asarray(value)  # NumPy returns 0-d results as scalars
    if not isfinite(vdot(value, value)):
        _require_finite_result(operation, value)
    tracks = False
    for operand in operands:
        if operand._tracks:
            tracks = True
            if operand._known_live < _last_release:
                require_live(operation, *operands)
    if tracks and _recording.get():
        return Tensor(value, operation, operands, vjp, True)
    return Tensor(value, operation)


def _require_finite_result(operation: str, value: FloatArray) -> None:
    index = first_non_finite(value)
    if index is not None:
        raise NonFiniteForward(operation, index, float(value.flat[index]))


@contextmanager
def no_grad() -> Iterator[None]:
    """Compute without recording: results are constants in all but name. Also a decorator.

    >>> from coursekit.autodiff import parameter
    >>> x = parameter([1.0])
    >>> with no_grad():
    ...     y = x + x
    >>> y.tracks_gradient
    False
    """
    token = _recording.set(False)
    try:
        yield
    finally:
        _recording.reset(token)


def live_operands(operation: str, *given: Operand) -> tuple[Tensor, ...]:
    """The operands as tensors, none of them released.

    Raises: `WrongType`, `NonFiniteLeaf`, `ReleasedOperand`.
    """
    for operand in given:
        if type(operand) is not Tensor or operand._known_live < _last_release:
            break
    else:
        return given  # type: ignore[return-value]
    tensors = tuple([as_tensor(operand) for operand in given])
    require_live(operation, *tensors)
    return tensors


def require_live(operation: str, *operands: Tensor) -> None:
    """Raise `ReleasedOperand` if an operand, or anything it was computed from, is released."""
    for index, operand in enumerate(operands):
        if operand._known_live < _last_release and is_released(operand):
            raise ReleasedOperand(operation, index)


def is_released(tensor: Tensor) -> bool:
    """Whether `tensor` or one of its ancestors has been released.

    The walk stops at nodes known to be live since the last release, and remembers what it
    learned; building a graph of n nodes costs n steps, plus one walk after each release.
    """
    seen = {tensor}
    pending = [tensor]
    for node in pending:  # grows while it is walked
        if node._released:
            return True
        if node._known_live < _last_release:
            unseen = [operand for operand in node._operands if operand not in seen]
            seen.update(unseen)
            pending.extend(unseen)
    now = next(clock)
    for node in pending:
        node._known_live = max(node._known_live, now)
    return False


# --- running backward -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Step:
    """One node of a traced backward pass: the adjoint it received and what it handed on."""

    operation: str
    operands: tuple[Tensor, ...]
    adjoint: FloatArray
    contributions: tuple[FloatArray | None, ...]
    node: Tensor


@quiet
def reverse_pass(
    output: Tensor, seed: object, retain_graph: bool, trace: bool
) -> list[Step] | None:
    """`Tensor.backward`: check, compute all gradients, and only then store them and release."""
    if not output._tracks:
        raise UntrackedOutput(output._operation)
    adjoints = {output: _seed_array(output, seed)}
    nodes = _history(output)
    steps: list[Step] | None = [] if trace else None
    gradients = _gradients(nodes, adjoints, steps)
    for leaf, gradient in gradients:
        gradient.setflags(write=False)
        leaf._gradient = gradient
    if not retain_graph:
        _release(nodes)
    return steps


def _seed_array(output: Tensor, seed: object) -> FloatArray:
    shape = output._value.shape
    if seed is None:
        if shape != ():
            raise SeedShapeMismatch(shape, None)
        return _ONE
    array = float_array("backward seed", as_float(seed) if is_number(seed) else seed)  # type: ignore[arg-type]
    if array.shape != shape:
        raise SeedShapeMismatch(shape, array.shape)
    index = first_non_finite(array)
    if index is not None:
        raise NonFiniteSeed(index, float(array.flat[index]))
    return array


def _history(output: Tensor) -> list[Tensor]:
    """Every tracked node that `output` was computed from, and itself, newest first."""
    nodes: list[Tensor] = []
    stale: tuple[str, int] | None = None
    pending, seen = [output], {output}
    while pending:
        node = pending.pop()
        if node._released:
            raise GraphReleased(node._operation)
        nodes.append(node)
        for index, operand in enumerate(node._operands):
            if operand._tracks:
                if operand._order > node._order:
                    stale = stale or (node._operation, index)
                if operand not in seen:
                    seen.add(operand)
                    pending.append(operand)
    if stale is not None:
        raise StaleOperandValue(*stale)
    nodes.sort(key=_order_of, reverse=True)
    return nodes


def _gradients(
    nodes: list[Tensor], adjoints: dict[Tensor, FloatArray], steps: list[Step] | None
) -> list[tuple[Tensor, FloatArray]]:
    """The new gradient of every parameter among `nodes`; `adjoints` holds the seed."""
    gradients = []
    borrowed = {nodes[0]}  # nodes whose adjoint may be another's as well
    summed: set[Tensor] = set()  # nodes whose adjoint is a sum made here
    for node in nodes:
        adjoint = adjoints.pop(node, None)
        if adjoint is None:
            continue
        if node._vjp is None:
            gradients.append((node, _accumulated(node, adjoint, node in borrowed)))
            continue
        contributions = node._vjp(adjoint)
        for index, operand in enumerate(node._operands):
            contribution = contributions[index]
            if contribution is None:
                continue
            if contribution.shape != operand._value.shape:
                raise _wrong_shape(node, index, contribution)
            if contribution is not adjoint and not isfinite(vdot(contribution, contribution)):
                _require_finite(node, index, contribution)
            if operand._tracks:
                if operand in adjoints:
                    earlier = adjoints[operand]
                    contribution = _summed(operand, earlier, contribution, operand in summed)
                    summed.add(operand)
                    borrowed.discard(operand)
                elif contribution is adjoint:
                    borrowed.add(operand)
                adjoints[operand] = np.asarray(contribution)
        if steps is not None:
            steps.append(_step(node, adjoint, contributions))
    return gradients


def _wrong_shape(node: Tensor, index: int, contribution: FloatArray) -> ShapeMismatch:
    rule = f"a VJP whose contribution to operand {index} has the shape of that operand"
    given = (node._operands[index].shape, contribution.shape)
    return ShapeMismatch(node._operation, rule, given)


def _require_finite(node: Tensor, index: int, contribution: FloatArray) -> None:
    offender = first_non_finite(contribution)
    if offender is not None:
        value = float(contribution.flat[offender])
        raise NonFiniteVjp(node._operation, index, offender, value)


def _summed(
    operand: Tensor, earlier: FloatArray, contribution: FloatArray, in_place: bool
) -> FloatArray:
    """In a new array the first time, because `earlier` may also be the adjoint of another node."""
    total = np.asarray(np.add(earlier, contribution, out=earlier if in_place else None))
    index = first_non_finite(total)
    if index is not None:
        raise NonFinitePassAdjoint(operand._operation, index, float(total.flat[index]))
    return total


def _accumulated(leaf: Tensor, adjoint: FloatArray, borrowed: bool) -> FloatArray:
    """Stored gradient plus this pass, in an array that nobody else writes to."""
    if leaf._gradient is not None:
        total = np.asarray(adjoint + leaf._gradient)
        index = first_non_finite(total)
        if index is not None:
            raise NonFiniteAccumulatedGradient(index, float(total.flat[index]))
    elif borrowed or not (adjoint.flags.owndata and adjoint.flags.writeable):
        total = np.asarray(adjoint + _ZERO)
    else:
        total = np.add(adjoint, _ZERO, out=adjoint)  # not nothing: −0 + 0 is 0
    return total if total.flags.c_contiguous else total.copy()


def _step(node: Tensor, adjoint: FloatArray, contributions: tuple[FloatArray | None, ...]) -> Step:
    copies = tuple(None if c is None else np.array(c) for c in contributions)
    return Step(node._operation, node._operands, adjoint.copy(), copies, node)


def _release(nodes: list[Tensor]) -> None:
    """Cut every operation off from its operands, which frees what only backward needed."""
    global _last_release
    for node in nodes:
        if node._vjp is not None:
            node._released = True
            node._operands = ()
            node._vjp = None
    if nodes[0]._released:  # not if a parameter alone was differentiated
        _last_release = next(clock)
