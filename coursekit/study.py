"""The study of chapter 11: one deep network, trained from many starts on real digits.

A network of blocks, each a linear layer, a normalization or none, an activation, and a residual
connection or none. Everything but the start is the same for all runs of a comparison: the data,
the order of batches, the learning rate. `python -m coursekit.study DIGITS RESULTS` remakes the
table of results that the chapter's explorer reads.

Source of the settings: none of them is taken from a paper; they are chosen so that the whole table
takes a few minutes. Not promised: that another depth, width or rate ranks the starts alike.
"""

import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, fields
from itertools import product
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from coursekit import autodiff, initializers
from coursekit.autodiff import Tensor, no_grad
from coursekit.autodiff.arrays import FloatArray
from coursekit.autodiff.tensor import Operand
from coursekit.errors import AutodiffError, DamagedFile, NonFiniteValue, UnknownChoice
from coursekit.layers import BatchNorm, Layer, LayerNorm, Linear, Sampler
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.rng import SplitMix64
from coursekit.training import sgd_step

Choice = TypeVar("Choice")

PIXELS, CLASSES = 64, 10
TRAINED_ON = 1437  # of 1797 digits; the other 360 measure accuracy
DATA_SEED = 1000  # of the split and of the batches: the same stream for every start
CHECKPOINTS = tuple(range(0, 151, 15))
SATURATED = 0.99  # |tanh| beyond this: a slope below 0.02

STARTS: Mapping[str, Sampler] = MappingProxyType(
    {
        "zero": lambda fan_in, fan_out, rng: initializers.zeros((fan_in, fan_out)),
        "small": lambda fan_in, fan_out, rng: (
            0.25 * initializers.xavier_uniform(fan_in, fan_out, rng)
        ),
        "xavier": initializers.xavier_uniform,
        "he": initializers.he_uniform,
        "oversized": lambda fan_in, fan_out, rng: (
            2.0 * initializers.xavier_uniform(fan_in, fan_out, rng)
        ),
    }
)
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType(
    {"tanh": autodiff.tanh, "relu": autodiff.relu, "silu": autodiff.silu}
)
NORMALIZATIONS: Mapping[str, Callable[[str, int], Layer] | None] = MappingProxyType(
    {"none": None, "layer": LayerNorm, "batch": BatchNorm}
)


@dataclass(frozen=True)
class Setting:
    """What one run is: the four things compared, and the seed of its weights."""

    start: str
    activation: str = "tanh"
    normalization: str = "none"
    residual: bool = False
    seed: int = 17


@dataclass(frozen=True)
class Digits:
    """8 × 8 pixels, each centred and scaled over the training part, and the digit they show.

    Fields: `pixels` [n, 64], `labels` [n] for training; the same with `test_` for measuring.
    """

    pixels: FloatArray
    labels: np.ndarray
    test_pixels: FloatArray
    test_labels: np.ndarray


@dataclass(frozen=True)
class Run:
    """What was measured in one run.

    Fields:
        losses: cross-entropy of each batch, in nats; shorter than asked for if the run broke off.
        accuracy: share of test digits named rightly at the end; 0.1 is guessing, 0 is no answer.
        gradient_norms: of each weight matrix at the first step, in declaration order.
        update_ratios: length of the first step over length of the weights, for each matrix.
        dead: share of hidden units that answer no test digit with more than 0 (relu), at the end.
        saturated: share of hidden values beyond ±0.99 (tanh), at the end.
        failure: the refusal that ended the run early, empty if none.
    """

    losses: list[float]
    accuracy: float
    gradient_norms: list[float]
    update_ratios: list[float]
    dead: float
    saturated: float
    failure: str


def load_digits(path: str | PathLike[str]) -> Digits:
    """Read the digits and split them by a permutation from their own stream.

    Raises: `OSError`; `DamagedFile` for rows that are not 64 pixels and a label.
    Draws consumed: none of the caller's; the split takes 1,797 of `SplitMix64(1000)`.
    """
    try:
        table = np.loadtxt(path, delimiter=",", dtype=np.int64, ndmin=2)
    except ValueError as error:
        raise DamagedFile(str(path), str(error)) from error
    if table.shape[1] != PIXELS + 1 or len(table) <= TRAINED_ON:
        raise DamagedFile(str(path), f"its table is {table.shape}, not [1797, 65]")
    table = table[SplitMix64(DATA_SEED).permutation(len(table))]
    pixels, labels = table[:, :PIXELS].astype(np.float64), table[:, PIXELS]
    centre = pixels[:TRAINED_ON].mean(axis=0)
    spread = pixels[:TRAINED_ON].std(axis=0)
    pixels = (pixels - centre) / np.where(spread > 0, spread, 1.0)
    return Digits(
        pixels[:TRAINED_ON], labels[:TRAINED_ON], pixels[TRAINED_ON:], labels[TRAINED_ON:]
    )


class DeepNetwork(Layer):
    """64 pixels → `depth` blocks of `width` features → 10 class scores.

    Arguments: the setting; `depth`, `width`, counts.
    Raises: `UnknownChoice` for a name that is not in `STARTS`, `ACTIVATIONS`, `NORMALIZATIONS`.
    Draws consumed: one a weight (none by the zero start) of `SplitMix64(setting.seed)`.
    """

    def __init__(self, setting: Setting, depth: int = 12, width: int = 32) -> None:
        sampler = _chosen("start", STARTS, setting.start)
        self.activation = _chosen("activation", ACTIVATIONS, setting.activation)
        norm = _chosen("normalization", NORMALIZATIONS, setting.normalization)
        self.residual = setting.residual
        rng = SplitMix64(setting.seed)
        self.entry = Linear("entry", PIXELS, width, rng, bias=True, weight=sampler)
        self.blocks = [
            Linear(f"block.{k}", width, width, rng, bias=True, weight=sampler) for k in range(depth)
        ]
        self.norms = [norm(f"block.{k}.norm", width) for k in range(depth)] if norm else []
        self.exit = Linear("exit", width, CLASSES, rng, bias=True, weight=sampler)
        layers = [self.entry, *self.blocks, *self.norms, self.exit]
        self.parameters = NamedParameters(one for layer in layers for one in layer.parameters)

    @property
    def weights(self) -> list[NamedParameter]:
        """The weight matrices from entry to exit."""
        return [layer.weight for layer in (self.entry, *self.blocks, self.exit)]

    def hidden(self, x: Operand, training: bool | None = None) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield, block by block, what its activation returned and what the block passes on."""
        signal = self.entry(x)
        for k, block in enumerate(self.blocks):
            z = block(signal)
            if self.norms:
                z = self.norms[k](z, training)
            value = self.activation(z)
            signal = signal + value if self.residual else value
            yield value, signal

    def __call__(self, x: Operand, training: bool | None = None) -> Tensor:
        *_, (_, signal) = self.hidden(x, training)
        return self.exit(signal)


def train(
    setting: Setting,
    digits: Digits,
    steps: int = CHECKPOINTS[-1] + 1,
    rate: float = 0.1,
    batch: int = 64,
    depth: int = 12,
    width: int = 32,
) -> Run:
    """Train by plain gradient descent and measure what the start decided.

    Arguments: `steps`, counts of batches; `rate`, the learning rate; `batch`, digits a batch.
    Raises: as `DeepNetwork`. A run whose numbers leave float64 is not an error but a result: it
    ends there, and `failure` names the refusal.
    Draws consumed: none of the caller's.
    """
    network = DeepNetwork(setting, depth, width)
    order = SplitMix64(DATA_SEED).advance(10**6)
    losses: list[float] = []
    norms: list[float] = []
    ratios: list[float] = []
    failure = ""
    try:
        for step in range(steps):
            chosen = order.permutation(len(digits.labels))[:batch]
            loss = autodiff.cross_entropy(
                network(digits.pixels[chosen], training=True), digits.labels[chosen]
            )
            losses.append(float(loss.value))
            network.parameters.zero_grad()
            loss.backward()
            if step == 0:
                norms = [_length(one.grad) for one in network.weights]
                sizes = [_length(one.value) for one in network.weights]
                ratios = [rate * g / s if s else 0.0 for g, s in zip(norms, sizes, strict=True)]
            sgd_step(network.parameters, rate)
    except (AutodiffError, NonFiniteValue) as refusal:
        failure = type(refusal).__name__
    return Run(losses, *_judged(network, digits, norms, ratios), failure)


def _judged(
    network: DeepNetwork, digits: Digits, norms: list[float], ratios: list[float]
) -> tuple[float, list[float], list[float], float, float]:
    try:
        with no_grad():
            scores = network(digits.test_pixels, training=False).value
            values = np.stack(
                [value.value for value, _ in network.hidden(digits.test_pixels, training=False)]
            )
    except AutodiffError:
        return 0.0, norms, ratios, float("nan"), float("nan")
    accuracy = float(np.mean(scores.argmax(axis=1) == digits.test_labels))
    dead = float(np.mean((values <= 0.0).all(axis=1)))
    return accuracy, norms, ratios, dead, float(np.mean(np.abs(values) > SATURATED))


# --- the table of results ---------------------------------------------------------------------

SEEDS = (17, 18, 19)
COLUMNS = [field.name for field in fields(Setting)] + ["accuracy", "dead", "saturated", "failure"]
COLUMNS += [f"loss_{step}" for step in CHECKPOINTS]


def settings() -> list[Setting]:
    """Return every setting of the table: 5 starts, 3 activations, 3 norms, residual or not."""
    grid = product(STARTS, ACTIVATIONS, NORMALIZATIONS, (False, True), SEEDS)
    return [Setting(*choice) for choice in grid]


def row(setting: Setting, run: Run) -> dict[str, str]:
    """Return one line of the table, rounded to what holds on every machine."""
    cells = {name: str(value) for name, value in asdict(setting).items()}
    cells |= {name: f"{getattr(run, name):.3f}" for name in ("accuracy", "dead", "saturated")}
    cells["failure"] = run.failure
    for step in CHECKPOINTS:
        cells[f"loss_{step}"] = f"{run.losses[step]:.4g}" if step < len(run.losses) else ""
    return cells


def load_results(path: str | PathLike[str]) -> dict[Setting, dict[str, str]]:
    """Read the table: setting → its cells as text.

    Raises: `OSError`; `DamagedFile` for a table with other columns.
    """
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise DamagedFile(str(path), f"its columns are {reader.fieldnames}")
        return {_setting(cells): cells for cells in reader}


def main(digits_path: str, results_path: str) -> None:
    """Run every setting and write the table."""
    digits = load_digits(digits_path)
    with Path(results_path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for count, setting in enumerate(every := settings(), 1):
            writer.writerow(row(setting, train(setting, digits)))
            print(f"\r{count}/{len(every)} {astuple(setting)}", end="\033[K", flush=True)
    print()


def _setting(cells: Mapping[str, str]) -> Setting:
    return Setting(
        cells["start"],
        cells["activation"],
        cells["normalization"],
        cells["residual"] == "True",
        int(cells["seed"]),
    )


def _chosen(subject: str, choices: Mapping[str, Choice], name: str) -> Choice:
    if name not in choices:
        raise UnknownChoice(subject, name, tuple(choices))
    return choices[name]


def _length(array: FloatArray | None) -> float:
    return 0.0 if array is None else float(np.sqrt(np.vdot(array, array)))


if __name__ == "__main__":
    main(*sys.argv[1:])
