"""Where every weight of a model lies on the stream, before one of them is drawn.

Chapter 13 teaches this module. A model description is a list of names, shapes and rules. Adding up
the draws that its lines take gives every parameter its offset (chapter 6), and an offset is all
that a block needs (`blockwise`): parameter 7,000 starts without the first 6,999.

Not promised: that a changed description keeps the weights it had. What is declared earlier moves
what is declared later, here as in chapter 6.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from coursekit.arguments import Size, checked_integer, checked_lengths
from coursekit.errors import DuplicateName, OutOfRange, WrongType
from coursekit.rng import SplitMix64
from coursekit.sharded.blockwise import Declared, Start, placed

__all__ = ["Declared", "Plan", "Start", "decoder", "tiles"]

PERIOD = 2**64


class Plan(Mapping[str, Start]):
    """The starts of a whole model, by name and in the order of its description.

        offset of parameter k = Σ draws of parameter j over all j < k
        state there           = seed + offset·G mod 2**64

    Equal, bit for bit, to declaring the same parameters one after another on `SplitMix64(seed)`.

    Args:
        description: `Declared` lines, or tuples of their fields.
        seed: of the one stream on which all of them lie.

    Raises:
        SeedError, WrongType: a seed that the generator refuses.
        For each line in turn: WrongType, if it is neither of the two; what `blockwise.placed`
        raises; DuplicateName, with both positions.
        OutOfRange: 2**64 draws or more, after which the stream repeats.

    Draws consumed: none, whatever the size of the model.

    >>> plan = Plan(decoder(layers=32, width=4096, hidden=11008, vocabulary=32000), seed=17)
    >>> f"{len(plan)} parameters, {plan.element_count:,} elements"
    '291 parameters, 6,738,415,616 elements'
    >>> plan["output.weight"][4095:, 31998:].round(6).tolist()
    [[0.010969, 0.007995]]
    """

    def __init__(self, description: Iterable[Declared | tuple[Any, ...]], seed: int) -> None:
        self._seed = SplitMix64(seed).state
        self._draws = 0
        starts: dict[str, Start] = {}
        for index, line in enumerate(description):
            if isinstance(line, tuple) and 2 <= len(line) <= 4:
                line = Declared(*line)
            if not isinstance(line, Declared):
                raise WrongType(f"line {index}", "Declared, or a tuple of its fields", line)
            start = placed(line, self._draws, seed)
            if start.name in starts:
                raise DuplicateName(start.name, list(starts).index(start.name), index)
            starts[start.name] = start
            self._draws += start.draws
        if self._draws >= PERIOD:
            raise OutOfRange(
                "draws of a plan", "below 2**64, where the stream repeats", self._draws
            )
        self._starts = starts

    @property
    def seed(self) -> int:
        """The seed of the stream."""
        return self._seed

    @property
    def draws(self) -> int:
        """How many draws all parameters take together."""
        return self._draws

    @property
    def state(self) -> int:
        """The generator's state after all draws, from which a larger model goes on."""
        return SplitMix64(self._seed).advance(self._draws).state

    @property
    def element_count(self) -> int:
        """How many numbers training can change: the sum of all sizes."""
        return sum(start.size for start in self.values())

    def __getitem__(self, name: str) -> Start:
        return self._starts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._starts)

    def __len__(self) -> int:
        return len(self._starts)

    def __repr__(self) -> str:
        return f"Plan({len(self)} parameters, {self.draws} draws, seed={self.seed})"


def tiles(shape: Size, chunk: Size) -> list[tuple[slice, ...]]:
    """Cut a shape into blocks of one chunk shape, in row-major order; the last may be smaller.

    Raises:
        WrongType, OutOfRange: lengths that are no integers, or negative; a chunk of another number
            of axes, or with a length of 0.

    >>> [(rows.start, columns.start) for rows, columns in tiles((4, 5), (2, 3))]
    [(0, 0), (0, 3), (2, 0), (2, 3)]
    """
    lengths, steps = checked_lengths(shape, "shape"), checked_lengths(chunk, "chunk")
    if len(steps) != len(lengths) or 0 in steps:
        raise OutOfRange("chunk", f"{len(lengths)} lengths of at least 1", steps)
    cuts = [
        [slice(first, min(first + step, length)) for first in range(0, length, step)]
        for length, step in zip(lengths, steps, strict=True)
    ]
    return list(product(*cuts))


def decoder(layers: int, width: int, hidden: int, vocabulary: int) -> list[Declared]:
    """Describe a decoder as large language models build it: matrices, unit gains, no biases.

    A token table; `layers` blocks of four attention projections [width, width], two matrices
    [width, hidden], one back, and two RMSNorm gains; a last gain, and an output projection.

    Raises:
        WrongType: a count that is no integer. OutOfRange: a count below 1.

    >>> len(decoder(layers=2, width=8, hidden=16, vocabulary=10))
    21

    Source: Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023, table 2: the
    smallest model has 32 layers of width 4096. Its hidden width is 11008, its vocabulary 32000.
    """
    counts = {"layers": layers, "width": width, "hidden": hidden, "vocabulary": vocabulary}
    for subject, count in counts.items():
        if checked_integer(count, subject) < 1:
            raise OutOfRange(subject, "at least 1", count)
    lines = [Declared("token_embedding.weight", (vocabulary, width))]
    for layer in range(layers):
        block = f"decoder.block.{layer}"
        lines.append(Declared(f"{block}.attention.norm.gain", width, "ones"))
        for role in ("query", "key", "value", "output"):
            lines.append(Declared(f"{block}.attention.{role}.weight", (width, width)))
        lines.append(Declared(f"{block}.feedforward.norm.gain", width, "ones"))
        lines.append(Declared(f"{block}.feedforward.gate.weight", (width, hidden)))
        lines.append(Declared(f"{block}.feedforward.up.weight", (width, hidden)))
        lines.append(Declared(f"{block}.feedforward.down.weight", (hidden, width)))
    lines.append(Declared("decoder.norm.gain", width, "ones"))
    return [*lines, Declared("output.weight", (width, vocabulary))]
