"""Training: a step of gradient descent, and a run that can be stopped and resumed.

Chapter 11 trains with it. A run is more than its weights: the velocity of the descent, the running
statistics of BatchNorm and the state of the generator that shuffles decide what comes next. All of
them go into one file, so that a resumed run gives the numbers of an uninterrupted one.

Sources: H. Robbins, S. Monro, "A Stochastic Approximation Method", Annals of Mathematical
Statistics 22 (1951); for momentum B. T. Polyak, "Some methods of speeding up the convergence of
iteration methods", USSR Computational Mathematics and Mathematical Physics 4 (1964), in the form of
I. Sutskever et al., ICML 2013, section 2. Not promised: the same numbers on another machine, since
training passes through exp and matrix products.
"""

import json
import os
from collections.abc import Mapping

import numpy as np

from coursekit import storage
from coursekit.arguments import checked_integer, checked_real
from coursekit.autodiff.arrays import FloatArray, first_non_finite
from coursekit.autodiff.tape import quiet
from coursekit.errors import (
    CourseError,
    DamagedFile,
    NonFiniteValue,
    OutOfRange,
    ShapeMismatch,
    WrongType,
)
from coursekit.layers import Layer
from coursekit.normalization import RunningStatistics
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.rng import SplitMix64

KIND = "training run 1"


@quiet
def sgd_step(
    parameters: NamedParameters,
    learning_rate: float,
    momentum: float = 0.0,
    velocity: Mapping[str, FloatArray] | None = None,
) -> dict[str, FloatArray]:
    """Move every parameter against its gradient, and return the velocity for the next step.

    v ← momentum·v + gradient;  parameter ← parameter − learning_rate·v.

    Arguments: `learning_rate`, at least 0; `momentum` in [0, 1); `velocity`, what the step before
    returned, None for standing still.
    Raises: `WrongType`, `OutOfRange`, `ShapeMismatch` (a velocity of other parameters),
    `NonFiniteValue` with the name of the first parameter that would leave float64. No parameter
    has moved then.
    Draws consumed: none.

    >>> w = NamedParameter.from_array("w", [3.0, -1.0])
    >>> (w.tensor * w.tensor).sum().backward()
    >>> velocity = sgd_step(NamedParameters([w]), learning_rate=0.25)
    >>> w.value, velocity
    (array([ 1.5, -0.5]), {'w': array([ 6., -2.])})

    Source: Polyak (1964); Sutskever et al. (2013), equations 1 and 2, up to the sign of v.
    """
    rate, momentum = _checked_rates(learning_rate, momentum)
    before = velocity or {one.name: np.zeros(one.shape) for one in parameters}
    _require_same_shapes("velocity", before, parameters)
    after = {one.name: momentum * before[one.name] + _gradient(one) for one in parameters}
    moved = {one.name: one.value - rate * after[one.name] for one in parameters}
    for name, value in moved.items():
        _require_finite(f"{name} after the step", value)
    for one in parameters:
        one.tensor.assign(moved[one.name])
    return after


def save_run(
    path: str | os.PathLike[str],
    model: Layer,
    rng: SplitMix64,
    velocity: Mapping[str, FloatArray] | None = None,
    step: int = 0,
) -> None:
    """Write parameters, running statistics, velocity, generator state and step to one file.

    The file is a safetensors file like that of `NamedParameters.save`, written whole or not at all.

    Arguments: `model`, a layer or `Sequence`; `rng`, the generator that the run draws from;
    `velocity`, what `sgd_step` returned; `step`, how far the run is, as the caller counts.
    Raises: `WrongType`, `OutOfRange` (a negative step), `ShapeMismatch` (a velocity of other
    parameters), `OSError`. The old file is still there then.
    Draws consumed: none.

    >>> import tempfile
    >>> from coursekit.layers import Linear
    >>> rng = SplitMix64(17)
    >>> model = Linear("output", 2, 2, rng)
    >>> twin = Linear("output", 2, 2, SplitMix64(18))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_run(f"{folder}/run.safetensors", model, rng, step=3)
    ...     velocity, step = load_run(f"{folder}/run.safetensors", twin, other := SplitMix64(0))
    >>> velocity, step, other == rng
    (None, 3, True)
    >>> bool((twin.weight.value == model.weight.value).all())
    True
    """
    _require_model_and_generator(model, rng)
    step = _checked_step(checked_integer(step, "step"))
    if velocity is not None:
        _require_same_shapes("velocity", velocity, model.parameters)
    arrays = {f"parameter/{one.name}": one.value for one in model.parameters}
    arrays |= {f"velocity/{name}": np.array(value) for name, value in (velocity or {}).items()}
    for name, statistics in model.running.items():
        arrays[f"mean/{name}"], arrays[f"variance/{name}"] = statistics.mean, statistics.variance
    counts = {name: statistics.count for name, statistics in model.running.items()}
    notes = {"kind": KIND, "step": str(step), "state": str(rng.state), "counts": json.dumps(counts)}
    storage.save_arrays(path, arrays, notes)


def load_run(
    path: str | os.PathLike[str], model: Layer, rng: SplitMix64
) -> tuple[dict[str, FloatArray] | None, int]:
    """Put a saved run into `model` and `rng`, and return its velocity and its step.

    `model` is built first, as it was for the run; its own start and the position of `rng` do not
    matter. Gradients are set to zeros.

    Returns: the velocity, None if none was saved, and the step.
    Raises: `WrongType`; `OSError`; `DamagedFile` for a file that is not, or no longer, what
    `save_run` wrote; `ShapeMismatch` for a run of another model. Model and generator are what they
    were then.
    Draws consumed: none; afterwards the next draw is the one that would have followed in the run.
    """
    _require_model_and_generator(model, rng)
    arrays, notes = storage.load_arrays(path)
    try:
        if notes["kind"] != KIND:
            raise ValueError(f"its kind is {notes['kind']!r}, not {KIND!r}")
        step = _checked_step(int(notes["step"]))
        state = SplitMix64.from_state(int(notes["state"])).state
        counts = json.loads(notes["counts"])
        kinds = ("parameter", "velocity", "mean", "variance")
        values, velocity, means, variances = (_under(f"{kind}/", arrays) for kind in kinds)
        running = {
            name: RunningStatistics(means[name], variances[name], counts[name]) for name in means
        }
        for name, array in arrays.items():
            _require_finite(name, array)
    except (CourseError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise DamagedFile(os.fspath(path), f"no training run: {error}") from error
    _require_same_shapes("saved parameters", values, model.parameters)
    if velocity:
        _require_same_shapes("saved velocity", velocity, model.parameters)
    _require_same_statistics(running, model)
    for one in model.parameters:
        one.tensor.assign(values[one.name])
        one.tensor.zero_grad()
    for name, statistics in model.running.items():
        statistics.assign(running[name].mean, running[name].variance, running[name].count)
    rng._state = state
    return velocity or None, step


def _checked_rates(learning_rate: float, momentum: float) -> tuple[float, float]:
    rate = checked_real(learning_rate, "learning rate")
    if rate < 0.0:
        raise OutOfRange("learning rate", "at least 0", learning_rate)
    weight = checked_real(momentum, "momentum")
    if not 0.0 <= weight < 1.0:
        raise OutOfRange("momentum", "at least 0 and below 1", momentum)
    return rate, weight


def _checked_step(step: int) -> int:
    if step < 0:
        raise OutOfRange("step", "at least 0", step)
    return step


def _gradient(of: NamedParameter) -> FloatArray:
    gradient = of.grad
    assert gradient is not None  # for the type checker: only other tensors have none
    return gradient


def _require_model_and_generator(model: Layer, rng: SplitMix64) -> None:
    if not isinstance(model, Layer):
        raise WrongType("model", "a Layer", model)
    if not isinstance(rng, SplitMix64):
        raise WrongType("generator", "a SplitMix64", rng)


def _require_same_shapes(
    subject: str, given: Mapping[str, FloatArray], parameters: NamedParameters
) -> None:
    expected = {one.name: one.shape for one in parameters}
    shapes = {name: array.shape for name, array in given.items()}
    if shapes != expected:
        rule = "one array of the parameter's shape for each parameter"
        raise ShapeMismatch(subject, rule, (expected, shapes))


def _require_same_statistics(running: Mapping[str, RunningStatistics], model: Layer) -> None:
    expected = {name: statistics.mean.shape for name, statistics in model.running.items()}
    shapes = {name: statistics.mean.shape for name, statistics in running.items()}
    if shapes != expected:
        rule = "running statistics of the width of each BatchNorm"
        raise ShapeMismatch("saved running statistics", rule, (expected, shapes))


def _require_finite(subject: str, array: FloatArray) -> None:
    index = first_non_finite(array)
    if index is not None:
        raise NonFiniteValue(subject, index, float(array.flat[index]))


def _under(prefix: str, arrays: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
