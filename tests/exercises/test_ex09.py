"""Exercise 9, match claims and sources."""

import math
from fractions import Fraction

import numpy as np
import pytest
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.autodiff import constant, gather_rows, parameter
from coursekit.checks.misconceptions import (
    COVARIATE_SHIFT,
    DEVIATION_FOR_VARIANCE,
    LECUN_FOR_XAVIER,
    SCALING_IS_A_START,
    TABLE_HAS_FANS,
    TRANSFORMER_INITIALIZER,
    WIDTH_AWARE_2003,
)
from coursekit.rng import SplitMix64

TRUE = {
    "A": ("Glorot 2010", "start"),
    "B": ("He 2015", "start"),
    "C": ("LeCun 1998", "start"),
    "D": ("Vaswani 2017", "forward"),
    "E": ("Vaswani 2017", "forward"),
    "F": ("no paper here", "start"),
    "G": ("Bengio 2003", "start"),
    "H": ("no paper here", "start"),
    "I": ("Ioffe 2015", "explanation"),
    "J": ("Santurkar 2018", "explanation"),
    "K": ("Touvron 2023", "forward"),
}


def but(letter, source=None, about=None):
    """Return the right table with one row changed."""
    named, told = TRUE[letter]
    return TRUE | {letter: (source or named, about or told)}


def scores_with(embedding, score, both=True):
    """Return a function with these two factors, functions of width, d_k and vocabulary."""

    def scores(ids, table, query, key):
        sizes = (*query.shape, len(table.value))
        rows = table.value[ids]
        scaled = embedding(*sizes) * rows
        return score(*sizes) * (scaled @ query.value) @ ((scaled if both else rows) @ key.value).T

    return scores


def root(d, head, vocabulary):
    return math.sqrt(d)


def over_root(d, head, vocabulary):
    return 1 / math.sqrt(head)


def one(d, head, vocabulary):
    return 1.0


right_scores = scores_with(root, over_root)


def by_loops(ids, table, query, key):
    d, head = query.shape
    rows = [[math.sqrt(d) * float(w) for w in table.value[i]] for i in ids]

    def projected(by):
        return [[sum(r[i] * by.value[i, j] for i in range(d)) for j in range(head)] for r in rows]

    q, k = projected(query), projected(key)
    return [[sum(a * b for a, b in zip(u, v, strict=True)) / head**0.5 for v in k] for u in q]


def on_the_tape(ids, table, query, key):
    rows = gather_rows(table, ids) * math.sqrt(query.shape[0])
    return (rows @ query / query.shape[1] ** 0.5) @ (rows @ key).transpose(1, 0)


def scaling_the_leaves(ids, table, query, key):
    d, head = query.shape
    table.assign(math.sqrt(d) * table.value)
    query.assign(query.value / math.sqrt(head))
    rows = table.value[ids]
    return (rows @ query.value) @ (rows @ key.value).T


def scaling_one_leaf(ids, table, query, key):
    found = right_scores(ids, table, query, key)
    query.assign(query.value / 8)
    return found


RIGHT = [
    Right("ex09.a", "tuples", TRUE),
    Right("ex09.a", "in other letters", {k: [s.lower(), t.upper()] for k, (s, t) in TRUE.items()}),
    Right("ex09.b", "on arrays", right_scores),
    Right("ex09.b", "in loops", by_loops),
    Right("ex09.b", "on the tape", on_the_tape),
    Right("ex09.c", "a fraction", lambda vocabulary, width: Fraction(1, width)),
    Right("ex09.c", "a squared deviation", lambda vocabulary, width: (width**-0.5) ** 2),
    Right("ex09.d", "a tuple", lambda start, rate, c: (start * c, rate * c * c)),
    Right("ex09.d", "a list of lists", lambda s, r, c: [(c * s).tolist(), np.float64(r * c**2)]),
]

WRONG = [
    Wrong("ex09.a", "F by programs", but("F", "Vaswani 2017"), TRANSFORMER_INITIALIZER),
    Wrong("ex09.a", "F by its rule", but("F", "Glorot 2010"), "In 2010 there was no query"),
    Wrong("ex09.a", "A for LeCun", but("A", "LeCun 1998"), LECUN_FOR_XAVIER),
    Wrong("ex09.a", "C for Glorot", but("C", "Glorot 2010"), LECUN_FOR_XAVIER),
    Wrong("ex09.a", "B for Glorot", but("B", "Glorot 2010"), "near-linear units"),
    Wrong("ex09.a", "D without source", but("D", "no paper here"), "introduced the Transformer"),
    Wrong("ex09.a", "D is a start", but("D", about="start"), SCALING_IS_A_START),
    Wrong("ex09.a", "E is a start", but("E", about="start"), SCALING_IS_A_START),
    Wrong("ex09.a", "G knows widths", but("G", "Glorot 2010"), WIDTH_AWARE_2003),
    Wrong("ex09.a", "G by attention", but("G", "Vaswani 2017"), "long before attention"),
    Wrong("ex09.a", "H for Glorot", but("H", "Glorot 2010"), TABLE_HAS_FANS),
    Wrong("ex09.a", "H for Bengio", but("H", "Bengio 2003"), WIDTH_AWARE_2003),
    Wrong("ex09.a", "I by those who doubt", but("I", "Santurkar 2018"), "argue against it"),
    Wrong("ex09.a", "I by nobody", but("I", "no paper here"), COVARIATE_SHIFT),
    Wrong("ex09.a", "I is computed", but("I", about="forward"), "why something works"),
    Wrong("ex09.a", "J for Ioffe", but("J", "Ioffe 2015"), "speaks against it"),
    Wrong("ex09.a", "K for BERT", but("K", "Devlin 2019"), "That model has LayerNorm"),
    Wrong("ex09.a", "a row left out", dict(list(TRUE.items())[:-1]), "There is no entry 'K'"),
    Wrong("ex09.a", "sources alone", {k: s for k, (s, _) in TRUE.items()}, "square brackets"),
    Wrong("ex09.b", "none", scores_with(one, one), "Neither scaling is there yet"),
    Wrong("ex09.b", "no √d", scores_with(one, over_root), "The embeddings are not multiplied"),
    Wrong("ex09.b", "no √d_k", scores_with(root, one), "The scores are not divided"),
    Wrong("ex09.b", "d_k, no root", scores_with(root, lambda d, h, v: 1 / h), "its root, not d_k"),
    Wrong("ex09.b", "√d for √d_k", scores_with(root, lambda d, h, v: d**-0.5), "not of the stream"),
    Wrong("ex09.b", "d for √d", scores_with(lambda d, h, v: d, over_root), "not by the width"),
    Wrong("ex09.b", "queries alone", scores_with(root, over_root, both=False), "both come from"),
    Wrong("ex09.b", "turned", lambda *args: right_scores(*args).T, "Rows belong to queries"),
    Wrong("ex09.b", "the leaves scaled", scaling_the_leaves, SCALING_IS_A_START),
    Wrong("ex09.b", "right, and a leaf scaled", scaling_one_leaf, SCALING_IS_A_START),
    Wrong("ex09.c", "Xavier by shape", lambda v, d: 2 / (v + d), TABLE_HAS_FANS),
    Wrong("ex09.c", "LeCun by shape", lambda v, d: 1 / v, TABLE_HAS_FANS),
    Wrong("ex09.c", "unscaled", lambda v, d: 1.0, "before it is scaled"),
    Wrong("ex09.c", "the deviation", lambda v, d: d**-0.5, DEVIATION_FOR_VARIANCE),
    Wrong("ex09.c", "squared twice", lambda v, d: 1 / d**2, "their mean square, by width"),
    Wrong("ex09.c", "turned over", lambda v, d: d, "one over the right number"),
    Wrong("ex09.d", "the same rate", lambda s, r, c: [c * s, r], "moves 1/c² times as far"),
    Wrong("ex09.d", "c once", lambda s, r, c: [c * s, c * r], "the c in front of W"),
    Wrong("ex09.d", "over c²", lambda s, r, c: [c * s, r / c**2], "moves too far already"),
    Wrong("ex09.d", "over c", lambda s, r, c: [c * s, r / c], "not for a smaller one"),
    Wrong("ex09.d", "start over c", lambda s, r, c: [s / c, r * c**2], "take it over"),
    Wrong("ex09.d", "the same start", lambda s, r, c: [s, r * c**2], "first scores are 1/c"),
    Wrong("ex09.d", "start times c²", lambda s, r, c: [c**2 * s, r * c**2], "counts once"),
    Wrong("ex09.d", "in place", lambda s, r, c: [np.multiply(s, c, out=s), r * c**2], "on a copy"),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


@pytest.mark.parametrize(("shares", "agree"), [((1, 2), True), ((1, 1), False), ((1, 0), False)])
def test_only_the_folded_pair_trains_the_same_network(shares, agree):
    x, keys, wanted = SplitMix64(1).standard_normal((3, 8, 8))
    start, rate, c = SplitMix64(2).standard_normal((8, 8)), 0.1, 0.5

    def acting(weights, rate, c):
        leaf = parameter(weights)
        for _ in range(5):
            ((c * (constant(x) @ leaf) @ keys - wanted) ** 2).mean().backward()
            leaf.assign(leaf.value - rate * leaf.grad)
            leaf.zero_grad()
        return c * leaf.value

    folded = acting(c ** shares[0] * start, c ** shares[1] * rate, 1.0)
    assert np.allclose(folded, acting(start, rate, c), rtol=1e-9) == agree
