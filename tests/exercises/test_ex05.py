"""Exercise 5, compare two seeds."""

import numpy as np
from proof import Right, Wrong, assert_passes, assert_rejected, each

from coursekit.checks import ex05
from coursekit.checks.misconceptions import DECIMALS_ARE_BITS, SEEDS_ARE_UNIQUE
from coursekit.initializers import xavier_scale, xavier_uniform
from coursekit.rng import INCREMENT, SplitMix64

WORD = SplitMix64(17).next_u64()
VERDICTS = {
    "A": "shown",
    "B": "shown",
    "C": "open",
    "D": "refuted",
    "E": "refuted",
    "F": "shown",
    "G": "open",
}


def unmix(word):
    """Undo the five steps of the mixer, by search over the bits that a shift leaves."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        for known in range(shift, 64, shift):
            word ^= (word >> shift) & (2**64 - 1) >> known & ~((2**64 - 1) >> (known + shift))
        word = word * pow(factor, -1, 2**64) % 2**64
    return word


def seed_of(word):
    return (unmix(word) - INCREMENT) % 2**64


def comparing(view):
    """Return a comparison of what `view` makes of the two generators and the fans."""
    return lambda seed, other, n, m: bool(
        view(SplitMix64(seed), n, m) == view(SplitMix64(other), n, m)
    )


def units(rng, fan_in, fan_out):
    return [rng.next_unit_f64() for _ in range(fan_in * fan_out)]


def decimals(rng, fan_in, fan_out):
    return [f"{weight:.12f}" for weight in xavier_uniform(fan_in, fan_out, rng).ravel()]


def first_weight(rng, fan_in, fan_out):
    return xavier_uniform(fan_in, fan_out, rng)[0, 0]


def words(rng, fan_in, fan_out):
    return rng.random_raw(fan_in * fan_out).tolist()


def one_generator(seed, other, fan_in, fan_out):
    rng = SplitMix64(seed)
    pair = [xavier_uniform(fan_in, fan_out, rng).tobytes() for _ in range(2)]
    return pair[0] == pair[1]


def elementwise(seed, other, n, m):
    return xavier_uniform(n, m, SplitMix64(seed)) == xavier_uniform(n, m, SplitMix64(other))


def but(**changed):
    return VERDICTS | changed


RIGHT = [
    Right("ex05.a", "by the numbers", comparing(units)),
    Right("ex05.a", "by array_equal", lambda *a: np.array_equal(elementwise(*a), np.ones(a[2:]))),
    Right("ex05.b", "the highest dropped bit", seed_of(WORD ^ 1 << 10)),
    Right("ex05.b", "all dropped bits 0", np.uint64(seed_of(WORD >> 11 << 11))),
    Right("ex05.b", "all dropped bits 1", seed_of(WORD | 2047)),
    Right("ex05.c", "typed out", (2048, 9007199254740992)),
    Right("ex05.c", "by division", [2**64 // 2**53, 2**64 // 2**11]),
    Right("ex05.d", "in capitals", {letter: word.upper() for letter, word in VERDICTS.items()}),
    Right("ex05.d", "in another order", dict(sorted(VERDICTS.items(), reverse=True))),
]

WRONG = [
    Wrong("ex05.a", "the seeds", lambda a, b, n, m: a == b, SEEDS_ARE_UNIQUE),
    Wrong("ex05.a", "the words", comparing(words), "Compare the weights alone."),
    Wrong("ex05.a", "twelve decimals", comparing(decimals), DECIMALS_ARE_BITS),
    Wrong("ex05.a", "the first weight", comparing(first_weight), "one weight is not the matrix"),
    Wrong("ex05.a", "one stream for both", one_generator, "One seed gives one matrix"),
    Wrong("ex05.a", "never", lambda a, b, n, m: False, "One seed gives one matrix"),
    Wrong("ex05.a", "always", lambda a, b, n, m: True, "Compare the stored weights"),
    Wrong("ex05.a", "weight by weight", elementwise, "sum it up in one"),
    Wrong("ex05.b", "itself", 17, "That is seed 17 itself."),
    Wrong("ex05.b", "the seed's low bit", 16, "run the mixer backwards"),
    Wrong("ex05.b", "the next seed", 18, "run the mixer backwards"),
    Wrong("ex05.b", "one circle further", 17 + 2**64, "the generator refuses all others"),
    Wrong("ex05.b", "the state after the draw", unmix(WORD ^ 1), "one G before it"),
    Wrong("ex05.b", "a bit that is kept", seed_of(WORD ^ 1 << 11), "its 53 high bits are not"),
    Wrong("ex05.b", "the highest bit", seed_of(WORD ^ 1 << 63), "its 53 high bits are not"),
    Wrong("ex05.b", "the word", WORD ^ 1, "run the mixer backwards"),
    Wrong("ex05.b", "the published pair", ex05.TWINS[0], "run the mixer backwards"),
    Wrong("ex05.c", "unique", (1, 2**64), SEEDS_ARE_UNIQUE),
    Wrong("ex05.c", "the pair", (2, 2**63), "are there more?"),
    Wrong("ex05.c", "without seed 17", (2047, 2**53), "Seed 17 itself counts"),
    Wrong("ex05.c", "bits", (11, 2**53), "how many settings have they?"),
    Wrong("ex05.c", "as many weights as seeds", (2048, 2**64), "words that share 53 bits"),
    Wrong("ex05.c", "half of them negative", (2048, 2**52), "How many numbers u are there?"),
    Wrong("ex05.c", "a digit lost", (2**12, 2**52), "How many words give the number u?"),
    Wrong("ex05.c", "exchanged", (2**53, 2**11), "The other order"),
    Wrong("ex05.c", "as floats", (2048.0, 2.0**53), "write 2048 without a point"),
    Wrong("ex05.d", "unique for four weights", but(C="shown"), SEEDS_ARE_UNIQUE),
    Wrong("ex05.d", "twins for four weights", but(C="refuted"), "share one weight, not four"),
    Wrong("ex05.d", "unique for one weight", but(D="shown"), SEEDS_ARE_UNIQUE),
    Wrong("ex05.d", "still doubtful", but(D="open"), "Look at part b."),
    Wrong("ex05.d", "one weight, one seed", but(E="shown"), "Part c counts"),
    Wrong("ex05.d", "nothing beyond the shape", but(F="open"), "the same for every shape"),
    Wrong("ex05.d", "different is better", but(G="shown"), "Different is not better"),
    Wrong("ex05.d", "one example shows nothing", but(B="open"), "If it ignored its seed"),
    Wrong("ex05.d", "not even the fact", but(A="open"), "This is the comparison itself."),
    Wrong("ex05.d", "another word", but(C="unknown"), "Choose one of these"),
]


@each(RIGHT)
def test_other_right_answers_pass(row):
    assert_passes(row)


@each(WRONG)
def test_wrong_answers_are_told_what_is_wrong(row):
    assert_rejected(row)


def test_the_examples_are_what_the_exercise_says_of_them():
    assert [ex05.first_word(seed) for seed in ex05.TWINS] == [0, 2047]
    assert [ex05.first_word(seed) for seed in ex05.NEAR] == [0, 2048]
    assert seed_of(WORD ^ 1) == 13166010270047838747
    for size in ((2, 2), (64, 64)):
        pair = [xavier_uniform(*size, SplitMix64(seed)) for seed in (17, 18)]
        assert (pair[0] != pair[1]).all()


def test_different_numbers_give_different_weights():
    """Neighbours stay apart where the weights' own grid is coarsest, and where u is least."""
    limit = xavier_scale(1, 1).uniform_limit
    for near in (0, 2**50, 2**52 - 2000, 2**53 - 4000):
        u = (near + np.arange(4000)) * 2.0**-53
        assert (np.diff(limit * (2 * u - 1)) > 0).all()
