"""The small worked cases of the two source texts, each as one function.

Chapters 1, 5 and 9 print them. The first text asks what two hidden units learn when they start
equal; the second fills a matrix with Python's own `random` and normalizes two token rows. Every
function computes its case anew and has no memory: none of them reads or moves a generator that
belongs to somebody else, `random`'s hidden one least of all.

Not promised: that a probe of one input says what training does; it shows one gradient.
"""

import math
import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from coursekit.arguments import checked_integer
from coursekit.autodiff import Tensor, constant, parameter, silu
from coursekit.autodiff.arrays import FloatArray
from coursekit.errors import ShapeMismatch
from coursekit.normalization import layer_norm
from coursekit.scales import he_scale

# --- equal columns stay equal -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SymmetryProbe:
    """What one input teaches a layer of hidden units.

    `output` is the network's answer, `gradient` [inputs, units] its derivative with respect to the
    incoming weights, and `columns_equal` whether all columns of the gradient have the same bits.
    """

    output: float
    gradient: FloatArray
    columns_equal: bool


def symmetry_probe(weights: ArrayLike, output_weights: ArrayLike, x: ArrayLike) -> SymmetryProbe:
    """Differentiate silu(x W) v with respect to W.

    With z = x W:  ∂output/∂W[i, j] = x[i]·silu′(z[j])·v[j]. Column j of the gradient depends on j
    through z[j] and v[j] alone: units that start with equal columns and are treated equally by v
    get equal gradients, and stay equal under equal updates.

    Arguments: `weights` W [inputs, units]; `output_weights` v [units, 1]; `x` [1, inputs].
    Raises: `WrongType`, `NonFiniteLeaf`, `ShapeMismatch`.
    Draws consumed: none.

    >>> probe = symmetry_probe([[0.25, 0.25], [-0.75, -0.75]], [[1.0], [1.0]], [[1.0, -1.0]])
    >>> round(probe.output, 9), probe.columns_equal
    (1.462117157, True)

    Source: the first source text, section "A correct gradient still needs a useful starting point".
    """
    W, v, row = parameter(weights), constant(output_weights), constant(x)
    _require_one_output(row, W, v)
    output = silu(row @ W) @ v
    output.backward([[1.0]])
    gradient = W.grad
    assert gradient is not None  # for the type checker: W is a parameter
    columns_equal = bool((gradient == gradient[:, :1]).all())
    return SymmetryProbe(output.value.item(), gradient, columns_equal)


def _require_one_output(x: Tensor, weights: Tensor, output_weights: Tensor) -> None:
    rule = "x [1, inputs], weights [inputs, units] and output weights [units, 1]"
    given = (x.shape, weights.shape, output_weights.shape)
    inputs, units = weights.shape if len(weights.shape) == 2 else (-1, -1)
    if given != ((1, inputs), (inputs, units), (units, 1)):
        raise ShapeMismatch("symmetry_probe", rule, given)


def zero_symmetry_probe() -> SymmetryProbe:
    """Return the probe of the first text: zero weights, x = [1, −1], output weights [1, 1].

    The gradient is not zero, and its elements are not all equal; its *columns* are.

    >>> probe = zero_symmetry_probe()
    >>> probe.output, probe.gradient.tolist(), probe.columns_equal
    (0.0, [[0.5, 0.5], [-0.5, -0.5]], True)
    """
    return symmetry_probe(np.zeros((2, 2)), [[1.0], [1.0]], [[1.0, -1.0]])


# --- two token rows ---------------------------------------------------------------------------

TOKEN_ROWS = ((1.0, 2.0, 3.0, 4.0), (10.0, 20.0, 30.0, 40.0))


def normalized_token_rows(epsilon: float = 1e-5) -> FloatArray:
    """Return LayerNorm of the two token rows of the second text, with gamma 1 and beta 0.

    The second row is ten times the first. The results would be equal without epsilon; with it they
    differ in the sixth digit, because epsilon weighs more against a variance of 1.25 than of 125.

    Raises: `WrongType`, `InvalidEpsilon`.

    >>> normalized_token_rows().round(6)
    array([[-1.341635, -0.447212,  0.447212,  1.341635],
           [-1.341641, -0.447214,  0.447214,  1.341641]])
    """
    return layer_norm(np.array(TOKEN_ROWS), epsilon=epsilon).value


# --- a generator that is seeded inside --------------------------------------------------------

TEXT_SEED = 42


def reseeding_he_matrix(fan_in: int, fan_out: int, seed: int = TEXT_SEED) -> FloatArray:
    """Return the second text's He matrix: N(0, 2/fan_in), stored [fan_out, fan_in].

    Each call starts at `seed` again. So each call with one shape returns the same matrix, and two
    layers made by it are equal weight by weight: see `reseeding_demonstration`. It also stores the
    transpose of what the rest of the course uses, and computes W x where we compute x W.

    Raises: `WrongType`, `ZeroFanIn`, `ZeroFanOut`.
    Draws consumed: from a `random.Random(seed)` of its own. Python promises its uniform numbers;
    `gauss` makes normals of them with log and cos, so the last digits are the machine's.

    >>> reseeding_he_matrix(4, 2).round(4)
    array([[-0.1019, -0.1223, -0.0787,  0.4964],
           [-0.0902, -1.0588,  0.235 , -0.189 ]])

    Source: the second source text, section 4.
    """
    return gaussian_he_matrix(fan_in, fan_out, random.Random(checked_integer(seed, "seed")))


def gaussian_he_matrix(fan_in: int, fan_out: int, generator: random.Random) -> FloatArray:
    """Return the same matrix drawn from a generator that was passed in, and that moves on.

    Raises: `WrongType`, `ZeroFanIn`, `ZeroFanOut`.
    Draws consumed: fan_in·fan_out normals of `generator.gauss`, row by row.
    """
    scale = he_scale(fan_in, fan_out)
    deviation = math.sqrt(scale.target_variance)
    rows = [[generator.gauss(0.0, deviation) for _ in range(fan_in)] for _ in range(fan_out)]
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class ReseedingDemonstration:
    """Two layers of one shape, made by a function that seeds inside and by one that does not."""

    reseeded: tuple[FloatArray, FloatArray]
    continued: tuple[FloatArray, FloatArray]

    @property
    def reseeded_equal(self) -> bool:
        """Whether the two reseeded layers are one matrix twice."""
        return np.array_equal(*self.reseeded)

    @property
    def continued_equal(self) -> bool:
        """Whether the two layers from one continued stream are one matrix twice."""
        return np.array_equal(*self.continued)


def reseeding_demonstration(
    fan_in: int = 4, fan_out: int = 4, seed: int = TEXT_SEED
) -> ReseedingDemonstration:
    """Make two layers each way from the same seed. The first layers agree, the second do not.

    Raises: `WrongType`, `ZeroFanIn`, `ZeroFanOut`.

    >>> shown = reseeding_demonstration()
    >>> shown.reseeded_equal, shown.continued_equal
    (True, False)
    >>> np.array_equal(shown.reseeded[0], shown.continued[0])
    True
    """
    stream = random.Random(checked_integer(seed, "seed"))
    return ReseedingDemonstration(
        (reseeding_he_matrix(fan_in, fan_out, seed), reseeding_he_matrix(fan_in, fan_out, seed)),
        (gaussian_he_matrix(fan_in, fan_out, stream), gaussian_he_matrix(fan_in, fan_out, stream)),
    )
