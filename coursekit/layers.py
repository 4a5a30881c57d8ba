"""Layers: objects that own named parameters and can be called.

Chapters 9 to 11 build networks from them. A layer is a name prefix, the parameters under it, and
a formula. What it computes is an operation of the tape or one of the norms; a layer adds only the
memory of which parameters belong to it and in which order they were declared. `Sequence` chains
layers and plain functions, which is all that the chapters need.

There is no hidden switch between training and evaluation. Only BatchNorm behaves differently, and
it asks: a network that contains one must be called with `training=True` or `training=False`.

Every constructor that draws moves the generator last: a refused layer has taken no draws. Not
promised: a framework. A layer object may stand in one place of one network only.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeAlias

from coursekit import autodiff, initializers
from coursekit.arguments import checked_integer
from coursekit.autodiff import Tensor
from coursekit.autodiff.arrays import FloatArray
from coursekit.autodiff.tensor import Operand, as_tensor
from coursekit.errors import EmptyFeatureWidth, OutOfRange, ShapeMismatch, WrongType
from coursekit.normalization import RunningStatistics, batch_norm, layer_norm, rms_norm
from coursekit.normalization.checks import checked_epsilon, checked_momentum
from coursekit.parameters import NamedParameter, NamedParameters, validate_name
from coursekit.rng import SplitMix64

Sampler: TypeAlias = Callable[[int, int, SplitMix64], FloatArray]
Activation: TypeAlias = Callable[[Tensor], Tensor]


class Layer(ABC):
    """What every layer has: `parameters` in declaration order, and a call."""

    parameters: NamedParameters

    @property
    def running(self) -> dict[str, RunningStatistics]:
        """The running statistics in this layer, by name prefix: empty except for BatchNorm."""
        return {}

    @abstractmethod
    def __call__(self, x: Operand, training: bool | None = None) -> Tensor:
        """Return the layer's output for `x`; `training` matters to BatchNorm only."""

    def __repr__(self) -> str:
        owned = ", ".join(f"{one.name} {list(one.shape)}" for one in self.parameters)
        return f"{type(self).__name__}({owned})"


@contextmanager
def transaction(rng: SplitMix64) -> Iterator[SplitMix64]:
    """Lend a clone of the generator, and move the generator to where the clone got at the end.

    If the block raises, the generator stays where it was. It makes the construction of many layers
    as atomic as that of one.

    Raises: `WrongType` for what is no SplitMix64.

    >>> rng = SplitMix64(17)
    >>> with transaction(rng) as trial:
    ...     first = Linear("first", 2, 2, trial)
    ...     second = Linear("Second", 2, 2, trial)
    Traceback (most recent call last):
      ...
    coursekit.errors.initialization.InvalidNameCharacter: parameter name must consist of ...
    >>> rng == SplitMix64(17)
    True
    """
    if not isinstance(rng, SplitMix64):
        raise WrongType("generator", "a SplitMix64", rng)
    trial = rng.clone()
    yield trial
    rng._state = trial._state  # nothing can fail any more


class Linear(Layer):
    """x @ weight + bias, for x of shape [..., fan_in].

    Owns `….weight` [fan_in, fan_out] and, if asked for, `….bias` [fan_out] of zeros.

    Arguments: `prefix`, a parameter name; the two fans; `rng`; `bias`, whether there is one;
    `weight`, a sampler (fan_in, fan_out, rng) → array such as those of `initializers`.
    Raises: what `validate_name` raises; `WrongType`; what the sampler raises; `ShapeMismatch` when
    its array is not [fan_in, fan_out]; `NonFiniteLeaf`.
    Draws consumed: those of the sampler, and none by a refused construction.

    >>> Linear("decoder.block.0.attention.query", 2, 3, SplitMix64(17), bias=True)
    Linear(decoder.block.0.attention.query.weight [2, 3], decoder.block.0.attention.query.bias [3])
    """

    def __init__(
        self,
        prefix: str,
        fan_in: int,
        fan_out: int,
        rng: SplitMix64,
        bias: bool = False,
        weight: Sampler = initializers.xavier_uniform,
    ) -> None:
        validate_name(prefix)
        if not isinstance(bias, bool):
            raise WrongType("bias", "True or False", bias)
        with transaction(rng) as trial:
            self.weight = _sampled(f"{prefix}.weight", weight, fan_in, fan_out, trial)
            self.bias = NamedParameter.zeros(f"{prefix}.bias", fan_out) if bias else None
        self.parameters = NamedParameters([self.weight] + ([self.bias] if self.bias else []))

    def __call__(self, x: Operand, training: bool | None = None) -> Tensor:
        return autodiff.linear(x, self.weight.tensor, self.bias.tensor if self.bias else None)


class Embedding(Layer):
    """Row `ids[i]` of a token table, for integer ids of any shape.

    Owns `….weight` [vocabulary, width]. A lookup sums over nothing, so a fan-in has no meaning
    here; handing (vocabulary, width) to a sampler is a convention. In the backward pass the
    gradients of all places where an id occurred are added in its row.

    Arguments, errors and draws: as `Linear`.

    >>> table = Embedding("token_embedding", 4, 2, SplitMix64(17))
    >>> table([[3, 0, 3]]).shape
    (1, 3, 2)
    """

    def __init__(
        self,
        prefix: str,
        vocabulary: int,
        width: int,
        rng: SplitMix64,
        weight: Sampler = initializers.xavier_uniform,
    ) -> None:
        validate_name(prefix)
        with transaction(rng) as trial:
            self.weight = _sampled(f"{prefix}.weight", weight, vocabulary, width, trial)
        self.parameters = NamedParameters([self.weight])

    def __call__(self, ids: object, training: bool | None = None) -> Tensor:
        return autodiff.gather_rows(self.weight.tensor, ids)


class LayerNorm(Layer):
    """`normalization.layer_norm` with its own `….gamma` of ones and `….beta` of zeros.

    Raises: `WrongType`, `InvalidEpsilon`, `EmptyFeatureWidth`, `OutOfRange`, what `validate_name`
    raises, `AllocationFailed`. Draws consumed: none.

    >>> LayerNorm("block.0.norm", 4)
    LayerNorm(block.0.norm.gamma [4], block.0.norm.beta [4])
    """

    def __init__(self, prefix: str, width: int, epsilon: float = 1e-5) -> None:
        self.epsilon = checked_epsilon(epsilon)
        self.gamma, self.beta = _scale_and_shift(prefix, width)
        self.parameters = NamedParameters([self.gamma, self.beta])

    def __call__(self, x: Operand, training: bool | None = None) -> Tensor:
        return layer_norm(x, self.gamma.tensor, self.beta.tensor, self.epsilon)


class RMSNorm(Layer):
    """`normalization.rms_norm` with its own `….gain` of ones. Errors as `LayerNorm`.

    >>> RMSNorm("block.0.norm", 4)
    RMSNorm(block.0.norm.gain [4])
    """

    def __init__(self, prefix: str, width: int, epsilon: float = 1e-5) -> None:
        self.epsilon = checked_epsilon(epsilon)
        width = _checked_width(width)
        validate_name(prefix)
        self.gain = NamedParameter.ones(f"{prefix}.gain", width)
        self.parameters = NamedParameters([self.gain])

    def __call__(self, x: Operand, training: bool | None = None) -> Tensor:
        return rms_norm(x, self.gain.tensor, self.epsilon)


class BatchNorm(Layer):
    """`normalization.batch_norm` with its own `….gamma`, `….beta` and running statistics.

    A call must say `training=True` or `training=False`; only the former changes the statistics.
    Errors as `LayerNorm`, and `OutOfRange` for a momentum outside [0, 1].

    >>> norm = BatchNorm("block.0.norm", 1)
    >>> norm([[1.0], [3.0]], training=True).value.round(6).tolist()
    [[-0.999995], [0.999995]]
    >>> norm.running
    {'block.0.norm': RunningStatistics(mean=[0.2], variance=[1.1], count=1)}
    """

    def __init__(
        self, prefix: str, width: int, momentum: float = 0.1, epsilon: float = 1e-5
    ) -> None:
        self.epsilon = checked_epsilon(epsilon)
        self.momentum = checked_momentum(momentum)
        self.gamma, self.beta = _scale_and_shift(prefix, width)
        self.parameters = NamedParameters([self.gamma, self.beta])
        self.statistics = RunningStatistics.start(width)
        self._prefix = prefix

    @property
    def running(self) -> dict[str, RunningStatistics]:
        return {self._prefix: self.statistics}

    def __call__(self, x: Operand, training: bool | None = None) -> Tensor:
        if training is None:
            raise WrongType("training, for a network with BatchNorm,", "True or False", training)
        return batch_norm(
            x,
            self.gamma.tensor,
            self.beta.tensor,
            self.statistics,
            training,
            self.momentum,
            self.epsilon,
        )


class Sequence(Layer):
    """Layers and plain functions, each called with the result of the one before.

    `parameters` are those of all layers in their order.

    Raises: `WrongType` for what cannot be called, `DuplicateName` when two layers own one name.

    >>> rng = SplitMix64(17)
    >>> network = Sequence(
    ...     Linear("hidden", 2, 3, rng), autodiff.silu, Linear("output", 3, 1, rng, bias=True)
    ... )
    >>> network.parameters.names
    ('hidden.weight', 'output.weight', 'output.bias')
    >>> network([[1.0, -1.0]]).shape
    (1, 1)
    """

    def __init__(self, *layers: Layer | Activation) -> None:
        for index, layer in enumerate(layers):
            if not callable(layer):
                raise WrongType(f"layer {index}", "a Layer or a function", layer)
        self.layers = layers
        owners = [layer for layer in layers if isinstance(layer, Layer)]
        self.parameters = NamedParameters(one for owner in owners for one in owner.parameters)

    @property
    def running(self) -> dict[str, RunningStatistics]:
        owners = [layer for layer in self.layers if isinstance(layer, Layer)]
        return {name: one for owner in owners for name, one in owner.running.items()}

    def __call__(self, x: Operand, training: bool | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, training) if isinstance(layer, Layer) else layer(x)  # type: ignore[arg-type]
        return as_tensor(x)


def perceptron(
    prefix: str,
    widths: tuple[int, ...] | list[int],
    rng: SplitMix64,
    activation: Activation,
    bias: bool = True,
    weight: Sampler = initializers.xavier_uniform,
) -> Sequence:
    """Return linear layers `prefix.0`, `prefix.1`, …, with the activation between every two.

    Arguments: `widths`, features before, between and after the layers, at least two numbers;
    the rest as `Linear`.
    Raises: `OutOfRange` for fewer than two widths, else as `Linear`; whichever layer is refused,
    the generator has not moved.
    Draws consumed: one for each weight, layer by layer.

    >>> perceptron("classifier", [4, 3, 2], SplitMix64(17), autodiff.tanh).parameters.names
    ('classifier.0.weight', 'classifier.0.bias', 'classifier.1.weight', 'classifier.1.bias')
    """
    if len(widths) < 2:
        raise OutOfRange("widths", "two numbers or more", widths)
    with transaction(rng) as trial:
        layers: list[Layer | Activation] = []
        for index, (fan_in, fan_out) in enumerate(pairwise(widths)):
            layers += [Linear(f"{prefix}.{index}", fan_in, fan_out, trial, bias, weight)]
            layers += [activation]
    return Sequence(*layers[:-1])


def _sampled(
    name: str, sampler: Sampler, fan_in: int, fan_out: int, rng: SplitMix64
) -> NamedParameter:
    rule = getattr(sampler, "__name__", "")
    if getattr(initializers, rule, None) is sampler and hasattr(NamedParameter, rule):
        made: NamedParameter = getattr(NamedParameter, rule)(name, fan_in, fan_out, rng)
        return made  # and it knows its rule
    values = sampler(fan_in, fan_out, rng)
    made = NamedParameter.from_array(name, values)
    if made.shape != (fan_in, fan_out):
        raise ShapeMismatch(name, f"weights of shape {(fan_in, fan_out)}", (made.shape,))
    return made


def _scale_and_shift(prefix: str, width: int) -> tuple[NamedParameter, NamedParameter]:
    width = _checked_width(width)
    validate_name(prefix)
    gamma = NamedParameter.ones(f"{prefix}.gamma", width)
    return gamma, NamedParameter.zeros(f"{prefix}.beta", width)


def _checked_width(width: int) -> int:
    width = checked_integer(width, "feature width")
    if width == 0:
        raise EmptyFeatureWidth((0,))
    return width
