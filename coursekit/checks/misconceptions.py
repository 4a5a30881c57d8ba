"""The mistakes that courses in this field teach, each with its name and what is right instead.

The list is that of the chapters: each stands where a cell settles it. A check recognises the number
or the claim that the mistake leads to, and answers by name.

>>> ZERO_IS_THE_CAUSE.hint
'Misconception "zero is the cause": any constant start keeps the units equal; zero is only one.'
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Misconception:
    """A mistake that has a name, and the sentence that answers it."""

    name: str
    correction: str

    @property
    def hint(self) -> str:
        """What a check says to a learner who holds it."""
        return f'Misconception "{self.name}": {self.correction}'


# --- scales -------------------------------------------------------------------------------------

LECUN_FOR_XAVIER = Misconception(
    "LeCun for Xavier", "1/fan_in is LeCun's variance; Xavier asks for 2/(fan_in + fan_out)."
)
MEAN_OF_DEVIATIONS = Misconception(
    "mean of the standard deviations",
    "the harmonic mean is taken of the two wanted variances, not of their roots.",
)
ARITHMETIC_MEAN = Misconception(
    "arithmetic mean of the variances",
    "2/(fan_in + fan_out) is the harmonic mean of 1/fan_in and 1/fan_out.",
)
DEVIATION_FOR_VARIANCE = Misconception(
    "deviation for variance", "a standard deviation is the root of a variance, in other units."
)
BOUND_FOR_DEVIATION = Misconception(
    "bound for deviation",
    "a uniform distribution on (−a, a) has standard deviation a/√3; its bound is the larger.",
)
UNIFORM_BY_FAN_IN = Misconception(
    "1/√fan_in as a bound", "U(−1/√n, 1/√n) has variance 1/(3n), a third of what LeCun asks for."
)
VARIANCE_FOR_MOMENT = Misconception(
    "half the variance",
    "ReLU halves the second moment; its output has a mean, and its variance is 0.3408 σ².",
)
TRUNCATION_IS_FREE = Misconception(
    "truncation costs nothing",
    "a normal cut at ±2σ has variance 0.774 σ² unless σ is divided by 0.8796 first.",
)
SCALE_FREE_SILU = Misconception(
    "one gain for SiLU", "the second moment of silu(z) over that of z depends on the scale of z."
)

# --- samples and draws --------------------------------------------------------------------------

TARGET_IS_MEASURED = Misconception(
    "target is measured",
    "the target describes the distribution; a finite sample scatters around it.",
)
SAMPLE_VARIANCE = Misconception(
    "n − 1 for a population",
    "the matrix is the whole population here: divide the squared deviations by n.",
)
DECIMALS_ARE_BITS = Misconception(
    "decimals are bits", "equal printed digits do not make equal numbers; compare what is stored."
)
SEED_IS_ENOUGH = Misconception(
    "the seed is enough",
    "replay needs the state at that point, the shape, the fans and the order, not the seed alone.",
)
SEEDS_ARE_UNIQUE = Misconception(
    "one seed, one matrix",
    "one observed difference proves no uniqueness: two seeds can give the same weights.",
)
FRESH_SEED_EACH_LAYER = Misconception(
    "a sampler that reseeds itself", "then all layers of one shape get the same weights."
)

# --- gradients and identity ---------------------------------------------------------------------

ZERO_MEANS_ZERO = Misconception(
    "zero weights, zero gradient",
    "the gradient multiplies inputs, slopes and output weights, and none of them need be 0.",
)
EQUAL_ELEMENTS = Misconception(
    "equal elements", "equal treatment makes columns equal, one for each unit, not elements."
)
ZERO_IS_THE_CAUSE = Misconception(
    "zero is the cause", "any constant start keeps the units equal; zero is only one."
)
CLONE_IS_A_COPY = Misconception(
    "a clone is a copy",
    "a clone shares the leaf and its gradient; a reconstruction only equals it.",
)
OUTPUT_FIRST = Misconception(
    "[fan_out, fan_in]",
    "here a weight matrix is [fan_in, fan_out] and acts as x @ W; the other order is x @ W.T.",
)

# --- claims -------------------------------------------------------------------------------------

TRANSFORMER_INITIALIZER = Misconception(
    "the Transformer's initializer",
    "Vaswani et al. prescribe none; their two scalings act during the forward pass.",
)
SCALING_IS_A_START = Misconception(
    "forward scaling is a start", "dividing a score or multiplying an embedding changes no weight."
)
WIDTH_AWARE_2003 = Misconception(
    "a width rule in 2003", "Bengio et al. draw word features at random and name no such rule."
)
HE_IS_A_THEOREM = Misconception(
    "He's rule is a theorem", "it is derived under assumptions and holds on average, if they do."
)
EVERY_NETWORK = Misconception(
    "expected for every network",
    "an expectation over many starts promises nothing for one of them.",
)
TABLE_HAS_FANS = Misconception(
    "a token table has fans", "a lookup sums nothing; (vocabulary, width) as fans is a convention."
)
NORMALIZED_TO_ONE = Misconception(
    "variance exactly 1", "with epsilon under the root the output has variance v/(v + ε)."
)
COVARIATE_SHIFT = Misconception(
    "covariate shift", "that it is reduced is a hypothesis with evidence against it, not a fact."
)

NAMED = {one.name: one for one in list(globals().values()) if isinstance(one, Misconception)}
