"""Exercise 9, match claims and sources: who says what, and what two scalings do and leave alone."""

import math
from typing import NamedTuple

import numpy as np

from coursekit.autodiff import Tensor, parameter
from coursekit.checks.answers import Answer
from coursekit.checks.misconceptions import (
    COVARIATE_SHIFT,
    DEVIATION_FOR_VARIANCE,
    LECUN_FOR_XAVIER,
    SCALING_IS_A_START,
    TABLE_HAS_FANS,
    TRANSFORMER_INITIALIZER,
    WIDTH_AWARE_2003,
)
from coursekit.checks.mistakes import Hint, Mistake
from coursekit.checks.parts import part
from coursekit.checks.tolerances import rounding
from coursekit.checks.wording import call_as
from coursekit.rng import SplitMix64

# --- a: who says it, and what it is about ---------------------------------------------------------

NOBODY = "no paper here"
SOURCES = (
    "LeCun 1998",
    "Bengio 2003",
    "Glorot 2010",
    "He 2015",
    "Ioffe 2015",
    "Vaswani 2017",
    "Santurkar 2018",
    "Devlin 2019",
    "Touvron 2023",
    NOBODY,
)
ABOUT = ("start", "forward", "explanation")


class Claim(NamedTuple):
    """Who makes a claim, what it is about, and hints for those who see it otherwise."""

    source: str
    about: str
    hint: Hint
    hints: dict[str, Hint]


_NEAR_LINEAR = "Glorot and Bengio think of near-linear units and of both fans."
_SAID = "It stands in the paper that introduced the Transformer: in which section, and of what?"
CLAIMS = {
    "A": Claim(
        "Glorot 2010",
        "start",
        "Who weighs the request of the signal against that of the gradient?",
        {"LeCun 1998": LECUN_FOR_XAVIER, "He 2015": "He's rule has fan_in alone."},
    ),
    "B": Claim(
        "He 2015",
        "start",
        "Who gives back what a rectifier takes?",
        {"Glorot 2010": _NEAR_LINEAR, "LeCun 1998": "There is no 2 in LeCun's rule, and no ReLU."},
    ),
    "C": Claim(
        "LeCun 1998",
        "start",
        "It is the oldest rule of the list.",
        {"Glorot 2010": LECUN_FOR_XAVIER, "He 2015": "He's rule has a 2 over fan_in."},
    ),
    "D": Claim("Vaswani 2017", "forward", _SAID, {}),
    "E": Claim("Vaswani 2017", "forward", _SAID, {}),
    "F": Claim(
        NOBODY,
        "start",
        "Search each paper for a start of query, key and value. What do you find?",
        {"Vaswani 2017": TRANSFORMER_INITIALIZER, "Glorot 2010": "In 2010 there was no query."},
    ),
    "G": Claim(
        "Bengio 2003",
        "start",
        "Word features came long before attention did.",
        dict.fromkeys(("LeCun 1998", "Glorot 2010", "He 2015"), WIDTH_AWARE_2003),
    ),
    "H": Claim(
        NOBODY,
        "start",
        TABLE_HAS_FANS,
        {"Bengio 2003": WIDTH_AWARE_2003, "Vaswani 2017": TRANSFORMER_INITIALIZER},
    ),
    "I": Claim(
        "Ioffe 2015",
        "explanation",
        COVARIATE_SHIFT,
        {"Santurkar 2018": "They tested this claim, and argue against it."},
    ),
    "J": Claim(
        "Santurkar 2018",
        "explanation",
        "Who put the old explanation to a test, three years later?",
        {"Ioffe 2015": "They proposed the explanation; this result speaks against it."},
    ),
    "K": Claim(
        "Touvron 2023",
        "forward",
        "Which model of the list left LayerNorm for RMSNorm?",
        dict.fromkeys(("Vaswani 2017", "Devlin 2019"), "That model has LayerNorm."),
    ),
}


@part("ex09.a", "source and subject of eleven claims")
def matches(answer: Answer) -> str:
    rows = answer.entries(tuple(CLAIMS), f"a dict with the rows {', '.join(CLAIMS)}")
    for letter, claim in CLAIMS.items():
        rows[letter].label = letter
        source, about = rows[letter].items(2, "[source, subject]")
        named = source.choice(SOURCES)
        if named != claim.source:
            source.reject("another source", claim.hints.get(named, claim.hint))
        told = about.choice(ABOUT)
        if told != claim.about:
            about.reject("another subject", _of_subject(claim.about, told))
    return "Two starts of a Transformer have no source here: somebody decides them."


def _of_subject(right: str, told: str) -> Hint:
    if right == "forward" and told == "start":
        return SCALING_IS_A_START
    return {
        "start": "It says which numbers the weights are before any training.",
        "forward": "It is computed each time the network runs.",
        "explanation": "It says why something works or does not, and changes nothing itself.",
    }[right]


# --- b: two forward scalings ----------------------------------------------------------------------


@part("ex09.b", "attention scores with both scalings, and the leaves left alone")
def forward_scalings(answer: Answer) -> str:
    scores = answer.function("ids, table, query, key")
    rng = SplitMix64(9)
    for ids, (vocabulary, width, head) in (
        ([3, 0, 3, 5], (7, 9, 5)),
        ([1, 2], (4, 6, 6)),
        ([0], (3, 2, 11)),
    ):
        leaves = [
            parameter(rng.standard_normal(shape))
            for shape in ((vocabulary, width), (width, head), (width, head))
        ]
        before = [leaf.value.tobytes() for leaf in leaves]
        given = call_as(f"{ids}, table, query, key", scores, ids, *leaves)
        for name, leaf, bits in zip(("table", "query", "key"), leaves, before, strict=True):
            if leaf.value.tobytes() != bits:
                given.reject(f"scores, and {name} as it was", SCALING_IS_A_START)
        _check_scores(given, ids, leaves)
    return "Both act on what is computed; table, query and key kept every bit of their start."


def _check_scores(given: Answer, ids: list[int], leaves: list[Tensor]) -> None:
    table, query, key = (leaf.value for leaf in leaves)
    width, head = query.shape
    rows = math.sqrt(width) * table[ids]
    right = (rows @ query) @ (rows @ key).T / math.sqrt(head)
    given.expect(
        right,
        rounding(8 * width * head, float(np.abs(right).max())),
        "Rows of the table, times √width; by query and by key; row by row products; over √d_k.",
        [
            Mistake(right * math.sqrt(head) / width, "Neither scaling is there yet."),
            Mistake(right / width, "The embeddings are not multiplied by √width."),
            Mistake(right * math.sqrt(head), "The scores are not divided by √d_k."),
            Mistake(right / math.sqrt(head), "Divide by √d_k: its root, not d_k itself."),
            Mistake(right / math.sqrt(width), "Queries and keys both come from scaled embeddings."),
            Mistake(
                right * math.sqrt(head / width), "d_k is the width of a query, not of the stream."
            ),
            Mistake(right * width, "Multiply the embeddings by √width, not by the width."),
            Mistake(right.T, "Rows belong to queries, columns to keys."),
            Mistake(lambda v: v.shape == right.shape and not v.any(), "All scores are zero."),
        ],
        form=f"scores of {len(ids)} queries and {len(ids)} keys",
    )


# --- c: the scale of a table ----------------------------------------------------------------------


@part("ex09.c", "the variance of a token table whose scaled rows have mean square 1")
def table_variance(answer: Answer) -> str:
    variance = answer.function("vocabulary, width")
    for vocabulary, width in ((1000, 64), (2000, 64), (4, 9), (50257, 768)):
        variance(vocabulary, width).expect(
            1 / width,
            rounding(4),
            "A lookup copies a row. What does √width do to the mean square of a copy?",
            [
                Mistake(2 / (vocabulary + width), TABLE_HAS_FANS),
                Mistake(1 / vocabulary, TABLE_HAS_FANS),
                Mistake(2 / vocabulary, TABLE_HAS_FANS),
                Mistake(1.0, "Then a row has mean square 1 before it is scaled, and width after."),
                Mistake(1 / math.sqrt(width), DEVIATION_FOR_VARIANCE),
                Mistake(
                    1 / width**2, "√width multiplies the numbers: their mean square, by width."
                ),
            ],
            form=f"the variance for {vocabulary} tokens of width {width}",
        )
    return "1/width, whatever the vocabulary: nothing is summed, so nothing has a fan-in."


# --- d: fold a factor into the start --------------------------------------------------------------


@part("ex09.d", "start and rate of a network that has the factor folded in")
def folding(answer: Answer) -> str:
    fold = answer.function("start, rate, c")
    rng = SplitMix64(3)
    for shape, rate, c in (((2, 3), 0.3, 1 / 8), ((4, 1), 0.01, 5.0), ((1, 1), 2.0, 0.5)):
        start = rng.standard_normal(shape)
        weights, slower = call_as(f"start, {rate}, {c}", fold, start, rate, c).items(
            2, "a list of 2: folded start, folded rate"
        )
        weights.expect(
            c * start,
            rounding(2),
            "The first scores must agree: what has to act on x from now on?",
            [
                Mistake(start, "Then the first scores are 1/c of what they were."),
                Mistake(start / c, "The factor in front is gone: the weights take it over."),
                Mistake(c * c * start, "For the first scores the factor counts once."),
            ],
            form="the folded start",
        )
        slower.expect(
            c * c * rate,
            rounding(3),
            "How far does c·W move in one step, and how far does the folded weight?",
            [
                Mistake(rate, "With the same rate the folded weight moves 1/c² times as far."),
                Mistake(c * rate, "One c comes from the gradient. What of the c in front of W?"),
                Mistake(
                    rate / c, "It has to make up for a larger gradient, not for a smaller one."
                ),
                Mistake(rate / c**2, "The folded weight moves too far already when c is below 1."),
            ],
            form="the folded rate",
        )
    return "Same scores, same training: multiplier, start and rate are one decision."
