"""Exercise 5, compare two seeds: what a difference shows, and what only a proof could."""

from coursekit.checks.answers import Answer
from coursekit.checks.misconceptions import DECIMALS_ARE_BITS, SEEDS_ARE_UNIQUE
from coursekit.checks.parts import part
from coursekit.initializers import xavier_uniform
from coursekit.rng import SplitMix64

SEED, OTHER = 17, 18
DROPPED = 11  # low bits of a word that the number leaves out
TWINS = (7046029254386353131, 10169276841892499002)  # their first words are 0 and 2047
NEAR = (7046029254386353131, 2338494865546443376)  # their first words are 0 and 2048


def weights(seed: int, fan_in: int, fan_out: int) -> bytes:
    """Return the stored bytes of the first matrix of a seed."""
    return xavier_uniform(fan_in, fan_out, SplitMix64(seed)).tobytes()


def first_word(seed: int) -> int:
    """Return the word that a seed draws first."""
    return SplitMix64(seed).next_u64()


_COMPARISONS = [
    (SEED, OTHER, 2, 2, "Compare the stored weights of the two matrices."),
    (SEED, SEED, 2, 2, "One seed gives one matrix, whenever it is asked."),
    (*NEAR, 1, 1, DECIMALS_ARE_BITS.hint),
    (*TWINS, 1, 1, f"{SEEDS_ARE_UNIQUE.hint} Compare the weights alone."),
    (*TWINS, 1, 2, "The first weights agree; one weight is not the matrix."),
    (2**64 - 1, 0, 3, 1, "Compare the stored weights of the two matrices."),
]


@part("ex05.a", "whether two seeds give one matrix")
def same_start(answer: Answer) -> str:
    compare = answer.function("seed, other, fan_in, fan_out")
    for seed, other, fan_in, fan_out, hint in _COMPARISONS:
        right = weights(seed, fan_in, fan_out) == weights(other, fan_in, fan_out)
        found = compare(seed, other, fan_in, fan_out)
        if found.truth() is not right:
            found.reject(f"{right}", hint)
    return "Seeds 17 and 18 differ, and your function has met two that do not."


@part("ex05.b", "a second seed with the weight of seed 17")
def twin(answer: Answer) -> str:
    expected = "another seed whose [1, 1] weight has the bits of that of seed 17"
    seed = answer.integer(expected)
    if seed == SEED:
        answer.reject(expected, "That is seed 17 itself.")
    if not 0 <= seed < 2**64:
        answer.reject(expected, "A seed lies in 0 … 2**64 − 1; the generator refuses all others.")
    if weights(seed, 1, 1) == weights(SEED, 1, 1):
        return f"Two seeds, one weight; their first words differ by {_apart(seed)}."
    if weights(SplitMix64(seed).advance(-1).state, 1, 1) == weights(SEED, 1, 1):
        answer.reject(expected, "That is the state after the draw; the seed lies one G before it.")
    word = first_word(seed)
    if (word ^ first_word(SEED)).bit_count() == 1 or _apart(seed) < 2**DROPPED:
        answer.reject(
            expected,
            f"Its first word is {word}: near, but its 53 high bits are not those of seed 17.",
        )
    answer.reject(
        expected,
        "Start from the first word of seed 17, change what the number drops, and run the mixer "
        "backwards.",
    )


def _apart(seed: int) -> int:
    return abs(first_word(seed) - first_word(SEED))


@part("ex05.c", "how many seeds share a weight")
def count(answer: Answer) -> str:
    expected = "a list of 2 integers: seeds for one weight, different weights"
    seeds, different = answer.integers(2, expected)
    if (seeds, different) == (2**DROPPED, 2**53):
        return "2**11 · 2**53 = 2**64: every seed is counted once."
    if (different, seeds) == (2**DROPPED, 2**53):
        answer.reject(expected, "The other order: first the seeds that share one weight.")
    if seeds == 1:
        answer.reject(expected, SEEDS_ARE_UNIQUE)
    if seeds == 2:
        answer.reject(expected, "Part b shows two; are there more?")
    if seeds == 2**DROPPED - 1:
        answer.reject(expected, "Seed 17 itself counts: all settings of the dropped bits.")
    if seeds == DROPPED:
        answer.reject(expected, "11 bits are dropped; how many settings have they?")
    if seeds != 2**DROPPED:
        answer.reject(expected, "Every word has one seed. How many words give the number u?")
    if different == 2**64:
        answer.reject(expected, "There are 2**64 seeds; words that share 53 bits share a weight.")
    answer.reject(expected, "How many numbers u are there? The formula gives each its own weight.")


# Letter: the verdict, and what is said to another one.
VERDICTS = {
    "A": ("shown", "This is the comparison itself."),
    "B": ("shown", "If it ignored its seed, 17 and 18 would agree."),
    "C": ("open", f"{SEEDS_ARE_UNIQUE.hint} The twins share one weight, not four."),
    "D": ("refuted", f"Look at part b. {SEEDS_ARE_UNIQUE.hint}"),
    "E": ("refuted", "Part c counts how many seeds give that weight."),
    "F": ("shown", "The first draws are the same for every shape; only the limit is another."),
    "G": ("open", "Different is not better: nothing here compares what the starts lead to."),
}


@part("ex05.d", "what one comparison shows")
def verdicts(answer: Answer) -> str:
    given = answer.entries(list(VERDICTS))
    for letter, (right, hint) in VERDICTS.items():
        if given[letter].choice(("shown", "refuted", "open")) != right:
            given[letter].reject("the verdict that the evidence allows", hint)
    return "An example shows what exists and refutes what is said of all; it proves nothing of all."
