"""Explorer of chapter 2: step the generator, flip one bit of its state, watch both words mix."""

from typing import NamedTuple

from coursekit.blocks import MASK, MIX_ONE, MIX_TWO, UNIT
from coursekit.explorers.core import Drawing, Explorer, explore, explorer, ladder, slider
from coursekit.figures import Figure, panels
from coursekit.figures.generator import word_stages
from coursekit.rng import SplitMix64

STAGES = ("state", "⊕ shift 30", "× first", "⊕ shift 27", "× second", "⊕ shift 31")


class Step(NamedTuple):
    """One draw and its neighbour: the words at each stage, and the number that comes out."""

    number: int
    flipped: int
    words: list[int]
    others: list[int]
    unit: float


def stages(word: int) -> list[int]:
    """Return the six words of `STAGES` for a state; the last is what a draw returns.

    >>> stages(SplitMix64(17).advance(1).state)[-1] == SplitMix64(17).next_u64()
    True
    """
    first = word ^ (word >> 30)
    second = first * MIX_ONE & MASK
    third = second ^ (second >> 27)
    fourth = third * MIX_TWO & MASK
    return [word, first, second, third, fourth, fourth ^ (fourth >> 31)]


def compute(seed: int, number: int, flipped: int) -> Step:
    """Return draw `number` after `seed`, and the same with one bit of the state flipped."""
    state = SplitMix64(seed).advance(number).state
    words = stages(state)
    return Step(number, flipped, words, stages(state ^ (1 << flipped)), (words[-1] >> 11) * UNIT)


def draw(figure: Figure, step: Step) -> Drawing:
    """Draw the six stages of both words on one picture."""
    count = word_stages(panels(figure), STAGES, step.words, step.others)
    figure.subplots_adjust(left=0.18, right=0.93)
    caption = (
        f"Draw {step.number} is 0x{step.words[-1]:016x}, u = {step.unit!r}. "
        f"Flipping bit {step.flipped} of the state changes {count} of its 64 bits."
    )
    alt = (
        f"Six rows of 64 bits. The differing bits grow from 1 in the state to {count} in the word."
    )
    return Drawing(caption, alt)


@explorer
def generator_explorer() -> Explorer:
    """Step from draw to draw, and choose the bit to flip."""
    return explore(
        "How far does one bit of the state reach?",
        compute,
        draw,
        seed=ladder("seed", [0, 1, 2, 16, 17, 18, 2**63, 2**64 - 1], 17),
        number=slider("draw number", 1, 40),
        flipped=slider("flipped bit of the state", 0, 63, 1, 0),
    )
