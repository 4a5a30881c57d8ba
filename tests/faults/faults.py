"""Faults that a person could make in `coursekit`, written down before anybody knew who finds them.

Each is a small change to one file that still imports. The unit tests are switched off; the
notebooks alone have to notice (`python tests/faults`). The list is not to be fitted to what they
notice: a fault that survives stays here, and the table says so.
"""

from typing import NamedTuple


class Fault(NamedTuple):
    """One fault: where, what becomes what, why somebody could make it, where to look first."""

    name: str
    file: str
    old: str
    new: str
    why: str
    chapters: str  # numbers of the notebooks to run first


RNG = "rng.py"
BLOCKS = "blocks.py"
NORMAL = "normal.py"
SCALES = "scales.py"
GAINS = "gains.py"
INITIALIZERS = "initializers.py"
PARAMETERS = "parameters.py"
TAPE = "autodiff/tape.py"
ELEMENTWISE = "autodiff/elementwise.py"
ACTIVATIONS = "autodiff/activations.py"
REDUCTIONS = "autodiff/reductions.py"
PRODUCTS = "autodiff/products.py"
SHAPES = "autodiff/shapes.py"
LOSSES = "autodiff/losses.py"
GRADCHECK = "autodiff/gradcheck.py"
KERNELS = "normalization/kernels.py"
ROWS = "normalization/rows.py"
BATCH = "normalization/batch.py"
POPULATION = "measure/sample.py"
EXPECTED = "measure/expected.py"
DEPTH = "measure/depth.py"
TRAINING = "training.py"
LAYERS = "layers.py"
STORAGE = "storage.py"
STUDY = "study.py"
WORKED = "worked.py"

FAULTS = [
    # --- the generator --------------------------------------------------------------------------
    Fault(
        "a shift of the mixer",
        RNG,
        "word = ((word ^ (word >> 27)) * MIX_TWO) & MASK",
        "word = ((word ^ (word >> 28)) * MIX_TWO) & MASK",
        "a digit of the middle shift mistyped, in the single draw only",
        "02",
    ),
    Fault(
        "mixing of blocks",
        BLOCKS,
        "_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11, _SHIFT_12 = (\n"
        "    np.array(shift, dtype=np.uint64) for shift in (30, 27, 31, 11, 12)",
        "_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11, _SHIFT_12 = (\n"
        "    np.array(shift, dtype=np.uint64) for shift in (30, 27, 32, 11, 12)",
        "the same, in blocks only: single draws stay right",
        "02",
    ),
    Fault(
        "unit closed above",
        RNG,
        "return (self.next_u64() >> 11) * UNIT",
        "return (self.next_u64() >> 11) / (2.0**53 - 1.0)",
        "divides by the largest value, so that 1 itself can occur",
        "02",
    ),
    Fault(
        "52 bits for 53",
        RNG,
        "few = [limit * (2.0 * ((word >> 11) * UNIT) - 1.0) for word in self._few(count)]",
        "few = [limit * (2.0 * ((word >> 12) * (2.0 * UNIT)) - 1.0) for word in self._few(count)]",
        "52 bits are the fraction that a float64 stores; the lowest one is lost",
        "02 04 06",
    ),
    Fault(
        "offset of raw_at",
        BLOCKS,
        "words = offsets + np.uint64(1)",
        "words = offsets + np.uint64(0)",
        "offset 0 gives the word already drawn instead of the next one",
        "02 06",
    ),
    Fault(
        "advance by one too many",
        RNG,
        'self._state = (self._state + checked_integer(count, "count") * INCREMENT) & MASK',
        'self._state = (self._state + (checked_integer(count, "count") + 1) * INCREMENT) & MASK',
        "counts the position before the first draw as a draw",
        "02 06",
    ),
    Fault(
        "a masked seed",
        RNG,
        "        raise SeedError(subject, number)",
        "        return number & MASK",
        "takes a seed that is too large modulo 2**64, as other generators do",
        "02",
    ),
    Fault(
        "a clone that is no copy",
        RNG,
        "return SplitMix64.from_state(self._state)",
        "return self",
        "hands out the generator itself",
        "02 06",
    ),
    Fault(
        "symmetric by another formula",
        RNG,
        "few = [limit * (2.0 * ((word >> 11) * UNIT) - 1.0) for word in self._few(count)]",
        "few = [-limit + 2.0 * limit * ((word >> 11) * UNIT) for word in self._few(count)]",
        "the same on paper; the last bit differs in half of all draws",
        "02 04",
    ),
    Fault(
        "lower edge of a cell",
        RNG,
        "return inverse_normal((cell - (2.0**51 - 0.5)) * (2.0**-52 * share))",
        "return inverse_normal((cell - 2.0**51) * (2.0**-52 * share))",
        "takes the edge of a cell for its midpoint; cell 0 is then minus infinity",
        "05 02 08",
    ),
    Fault(
        "near tail of the normal",
        NORMAL,
        "NEAR_TAIL = 1.6\n",
        "NEAR_TAIL = 1.61\n",
        "a constant of the algorithm mistyped: wrong beyond 1.44 standard deviations only",
        "05 08",
    ),
    # --- scales and initializers ----------------------------------------------------------------
    Fault(
        "LeCun for Xavier",
        SCALES,
        'return variance_scaling(fan_in, fan_out, _squared(gain), "fan_avg")',
        'return variance_scaling(fan_in, fan_out, _squared(gain), "fan_in")',
        "1/fan_in for 2/(fan_in + fan_out): equal for square matrices",
        "04",
    ),
    Fault(
        "the normal's bound for the uniform's",
        SCALES,
        "uniform_limit = math.sqrt(3.0 * twice * factor / n)",
        "uniform_limit = math.sqrt(twice * factor / n)",
        "takes the standard deviation for half the width",
        "04",
    ),
    Fault(
        "fan_out for fan_in",
        SCALES,
        'def he_scale(fan_in: int, fan_out: int, mode: Mode = "fan_in") -> Scale:',
        'def he_scale(fan_in: int, fan_out: int, mode: Mode = "fan_out") -> Scale:',
        "the other of the two modes as default",
        "05",
    ),
    Fault(
        "He without the two",
        SCALES,
        "return variance_scaling(fan_in, fan_out, 2.0, mode)",
        "return variance_scaling(fan_in, fan_out, 1.0, mode)",
        "forgets what the rectifier takes away",
        "05",
    ),
    Fault(
        "gain on the variance",
        SCALES,
        "    return variance_scaling(fan_in, fan_out, _squared(gain)",
        "    return variance_scaling(fan_in, fan_out, float(gain)",
        "a gain belongs to the standard deviation, so its square to the variance",
        "04 05",
    ),
    Fault(
        "fans swapped",
        SCALES,
        "return lengths[axes[0]] * field, lengths[axes[1]] * field",
        "return lengths[axes[1]] * field, lengths[axes[0]] * field",
        "PyTorch stores [out, in]",
        "03 04",
    ),
    Fault(
        "sampler transposed",
        INITIALIZERS,
        "return rng.symmetric(scale.uniform_limit, (scale.fan_in, scale.fan_out))",
        "return rng.symmetric(scale.uniform_limit, (scale.fan_out, scale.fan_in)).T",
        "draws column by column: the right shape, other numbers in each place",
        "04 06",
    ),
    Fault(
        "twice the geometric mean",
        SCALES,
        "twice, n = 1.0, math.sqrt(fan_in * fan_out)\n",
        "twice, n = 2.0, math.sqrt(fan_in * fan_out)\n",
        "the 2 of the arithmetic mean carried over to the geometric one",
        "04 12",
    ),
    Fault(
        "LeCun's uniform is He's",
        INITIALIZERS,
        "return _uniform(lecun_scale(fan_in, fan_out), rng)",
        "return _uniform(he_scale(fan_in, fan_out), rng)",
        "the line above copied and not changed",
        "12 04 05",
    ),
    Fault(
        "cut but not corrected",
        INITIALIZERS,
        "        deviation /= TRUNCATED_DEVIATION\n",
        "        deviation *= TRUNCATED_DEVIATION\n",
        "corrects the loss of the cut the wrong way round",
        "05 12",
    ),
    Fault(
        "orthogonalized once",
        INITIALIZERS,
        "    _orthonormalize(tall)  # once more",
        "    # once more",
        "leaves the second pass out: rounding stays in the products",
        "03 08 12",
    ),
    Fault(
        "gain of the leaky rectifier",
        GAINS,
        "return math.sqrt(2.0 / (1.0 + slope * slope))",
        "return math.sqrt(2.0 / (1.0 + slope))",
        "forgets to square the slope",
        "05",
    ),
    Fault(
        "half a second moment",
        GAINS,
        "starts = np.arange(-12.0, 12.0, 1.5)[:, None]",
        "starts = np.arange(0.0, 12.0, 1.5)[:, None]",
        "integrates over the positive half, which is right for a rectifier alone",
        "05",
    ),
    # --- parameters and files -------------------------------------------------------------------
    Fault(
        "a refusal with a trace",
        PARAMETERS,
        "trial = rng.clone() if isinstance(rng, SplitMix64) else rng",
        "trial = rng",
        "draws from the caller's generator before everything is checked",
        "06",
    ),
    Fault(
        "no draws taken",
        PARAMETERS,
        "        rng._state = trial._state  # nothing can fail any more\n        return made",
        "        return made",
        "forgets to move the caller's generator: all matrices begin alike",
        "06",
    ),
    Fault(
        "second position of a repeated name",
        PARAMETERS,
        "raise DuplicateName(candidate.name, first, index)",
        "raise DuplicateName(candidate.name, index, first)",
        "the two positions in the wrong order",
        "06",
    ),
    Fault(
        "upper-case letters in names",
        PARAMETERS,
        '_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")',
        "_NAME_BYTES = frozenset(\n"
        '    b"abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ"\n)',
        "lets through what the grammar does not have",
        "06",
    ),
    Fault(
        "a clone with a leaf of its own",
        PARAMETERS,
        "twin._name, twin._tensor, twin._rule = self._name, self._tensor, self._rule",
        "twin._name, twin._tensor, twin._rule = self._name, parameter(self.value), self._rule",
        "copies the numbers where the node is meant",
        "06",
    ),
    Fault(
        "no digest",
        STORAGE,
        "    if not intact:\n",
        "    if intact is None:\n",
        "never looks at the checksum",
        "06 11",
    ),
    # --- the tape and its derivatives -----------------------------------------------------------
    Fault(
        "one contribution for all",
        TAPE,
        "                    contribution = _summed(operand, earlier, contribution, "
        "operand in summed)\n",
        "                    contribution = np.asarray(contribution)\n",
        "keeps the last contribution to an adjoint instead of their sum",
        "07",
    ),
    Fault(
        "gradients that replace",
        TAPE,
        "    if leaf._gradient is not None:\n        total = np.asarray(adjoint + leaf._gradient)",
        "    if leaf._gradient is not None:\n        total = np.asarray(adjoint + 0.0)",
        "a second pass overwrites what the first one collected",
        "07",
    ),
    Fault(
        "a graph that is kept",
        TAPE,
        "    if not retain_graph:\n        _release(nodes)",
        "    if retain_graph:\n        _release(nodes)",
        "releases exactly when asked not to",
        "07",
    ),
    Fault(
        "stale values accepted",
        TAPE,
        "                if operand._order > node._order:\n",
        "                if operand._order < 0:\n",
        "differentiates with a parameter's new value at the old one's place",
        "07",
    ),
    Fault(
        "one factor's derivative",
        ELEMENTWISE,
        "return unbroadcast(adjoint * y, x.shape), unbroadcast(adjoint * x, y.shape)",
        "return unbroadcast(adjoint * x, x.shape), unbroadcast(adjoint * y, y.shape)",
        "each factor gets itself instead of the other",
        "07",
    ),
    Fault(
        "sign of a difference",
        ELEMENTWISE,
        "return unbroadcast(adjoint, x.shape), unbroadcast(-adjoint, y.shape)",
        "return unbroadcast(adjoint, x.shape), unbroadcast(adjoint, y.shape)",
        "forgets that the subtrahend has slope −1",
        "07 09",
    ),
    Fault(
        "half of a quotient",
        ELEMENTWISE,
        "unbroadcast(-share * quotient, y.shape)",
        "unbroadcast(-share, y.shape)",
        "leaves the quotient out of the divisor's derivative",
        "07 09",
    ),
    Fault(
        "slope of tanh",
        ACTIVATIONS,
        "lambda adjoint: (adjoint * (1.0 - y * y),)",
        "lambda adjoint: (adjoint * (1.0 - y),)",
        "forgets a square",
        "07 03 11",
    ),
    Fault(
        "slope of SiLU",
        ACTIVATIONS,
        "        slope += 1.0\n        slope *= s\n",
        "        slope *= s\n",
        "s·x(1 − s) for s(1 + x(1 − s)): a term is missing",
        "01 07",
    ),
    Fault(
        "slope 1 at the kink",
        ACTIVATIONS,
        "lambda adjoint: (adjoint * (v > 0.0),))\n",
        "lambda adjoint: (adjoint * (v >= 0.0),))\n",
        "the other convention for relu′(0)",
        "07 05",
    ),
    Fault(
        "ties counted twice",
        REDUCTIONS,
        "return (winners * (adjoint.reshape(top.shape) / ties),)",
        "return (winners * adjoint.reshape(top.shape),)",
        "every tied maximum gets the whole adjoint",
        "07",
    ),
    Fault(
        "softmax without its mean",
        REDUCTIONS,
        "return (y * (adjoint - _total(adjoint * y, axes)),)",
        "return (y * adjoint,)",
        "only the diagonal of the Jacobian",
        "07",
    ),
    Fault(
        "mean of a sum",
        REDUCTIONS,
        "return (_spread(adjoint.reshape(total.shape) / n, x.shape),)",
        "return (_spread(adjoint.reshape(total.shape), x.shape),)",
        "the backward pass of a mean forgets n",
        "07 09",
    ),
    Fault(
        "bias summed over nothing",
        PRODUCTS,
        "        return to_x, to_weight, _ones(len(g)).dot(g)",
        "        return to_x, to_weight, _ones(len(g)).dot(g) / len(g)",
        "averages a bias gradient over the batch a second time",
        "07 11",
    ),
    Fault(
        "a row gathered twice",
        SHAPES,
        "        np.add.at(collected, rows, adjoint)",
        "        collected[rows] += adjoint",
        "buffered addition: a repeated id counts once",
        "07 06 12",
    ),
    Fault(
        "predicted minus nothing",
        LOSSES,
        "        slope[samples, columns] -= share\n",
        "        slope[samples, columns] -= adjoint\n",
        "the target's share is not divided by the number of samples",
        "07 11",
    ),
    Fault(
        "one-sided differences",
        GRADCHECK,
        "measured=(f_above - f_below) / (above - below)",
        "measured=(f_above - self.centre) / (above - x)",
        "an error of order h where h² is promised",
        "07",
    ),
    # --- norms ----------------------------------------------------------------------------------
    Fault(
        "epsilon outside the root",
        KERNELS,
        "    inverse = 1.0 / np.sqrt(variance)\n",
        "    inverse = 1.0 / (np.sqrt(variance - epsilon) + epsilon)\n",
        "1/(σ + ε) for 1/sqrt(σ² + ε)",
        "09",
    ),
    Fault(
        "n − 1 for n",
        KERNELS,
        "    return total / count\n",
        "    return total / (count - 1)\n",
        "the unbiased variance, where the norms take the biased one",
        "09 10",
    ),
    Fault(
        "RMSNorm with a mean",
        ROWS,
        'return _row_norm("rms_norm", operands, epsilon, centred=False)',
        'return _row_norm("rms_norm", operands, epsilon, centred=True)',
        "is LayerNorm without a shift",
        "09",
    ),
    Fault(
        "a norm that does not look back",
        KERNELS,
        "    h -= through_deviation\n",
        "",
        "differentiates as if σ were a constant",
        "09",
    ),
    Fault(
        "gradient before the gain",
        ROWS,
        "            np.multiply(dy[block], gain, out=part)\n",
        "            part[...] = dy[block]\n",
        "leaves gamma out of the way back: right as long as gamma is 1",
        "09",
    ),
    Fault(
        "momentum the wrong way round",
        BATCH,
        "    mean = (1.0 - momentum) * running.mean + momentum * mean\n",
        "    mean = momentum * running.mean + (1.0 - momentum) * mean\n",
        "weighs the old average, as Keras does",
        "10",
    ),
    Fault(
        "biased running variance",
        BATCH,
        'variance = np.einsum("ij,ij->j", centred, centred) / (len(rows) - 1)',
        'variance = np.einsum("ij,ij->j", centred, centred) / len(rows)',
        "n for n − 1 in what evaluation will use",
        "10",
    ),
    Fault(
        "evaluation that learns",
        BATCH,
        "    return _evaluate(operands, running, epsilon)",
        "    return _train(operands, running, momentum, epsilon)",
        "uses the batch in evaluation too",
        "10",
    ),
    # --- measuring, expecting, training ---------------------------------------------------------
    Fault(
        "sample variance",
        POPULATION,
        "        variance = _sum_in_order(deviations * deviations) / flat.size\n",
        "        variance = _sum_in_order(deviations * deviations) / (flat.size - 1)\n",
        "n − 1 for n: not a property of the numbers at hand",
        "08 03 04",
    ),
    Fault(
        "kurtosis without its one",
        POPULATION,
        "return variance * math.sqrt((kurtosis - 1.0) / _positive",
        "return variance * math.sqrt(kurtosis / _positive",
        "the standard error of the second moment for that of the variance",
        "08 04",
    ),
    Fault(
        "bins closed on the right",
        POPULATION,
        'below = np.searchsorted(ordered, bounds, side="left")',
        'below = np.searchsorted(ordered, bounds, side="right")',
        "a number on an edge falls into the bin before",
        "08 04",
    ),
    Fault(
        "forward fan in the backward pass",
        EXPECTED,
        "        variances.append(fan_out * variance * variances[-1])\n",
        "        variances.append(_ * variance * variances[-1])\n",
        "multiplies gradients by fan_in: equal for square matrices",
        "03 08 04",
    ),
    Fault(
        "a rectifier that halves nothing",
        EXPECTED,
        "    return second_moment(f, variance)\n",
        "    return second_moment(lambda z: z, variance)\n",
        "the recurrence of linear layers for every activation",
        "03 05 08",
    ),
    Fault(
        "a residual without its branch",
        DEPTH,
        "    return signal + branch\n",
        "    return branch\n",
        "the skip is forgotten",
        "08 11 03",
    ),
    Fault(
        "uphill",
        TRAINING,
        "one.value - rate * after[one.name]",
        "one.value + rate * after[one.name]",
        "a sign",
        "11 01",
    ),
    Fault(
        "momentum on the wrong side",
        TRAINING,
        "after = {one.name: momentum * before[one.name] + _gradient(one) for one in parameters}",
        "after = {one.name: before[one.name] + momentum * _gradient(one) for one in parameters}",
        "the velocity is kept whole and the gradient is damped",
        "11",
    ),
    Fault(
        "a run resumed at its seed",
        TRAINING,
        "    rng._state = state\n    return velocity or None, step",
        "    return velocity or None, step",
        "the generator is not restored: batches come in another order",
        "11 06",
    ),
    Fault(
        "evaluation layers in training",
        LAYERS,
        "            x = layer(x, training) if isinstance(layer, Layer) else layer(x)",
        "            x = layer(x, True) if isinstance(layer, Layer) else layer(x)",
        "a network that passes on another mode than it was called with",
        "10 11",
    ),
    Fault(
        "no activation between layers",
        LAYERS,
        "            layers += [activation]\n    return Sequence(*layers[:-1])",
        "    return Sequence(*layers)",
        "a perceptron of linear layers only",
        "01 03 11",
    ),
    Fault(
        "statistics of the test part",
        STUDY,
        "    centre = pixels[:TRAINED_ON].mean(axis=0)\n",
        "    centre = pixels.mean(axis=0)\n",
        "the test digits leak into the scaling",
        "11",
    ),
    Fault(
        "a matrix stored the other way",
        WORKED,
        "    rows = [[generator.gauss(0.0, deviation) for _ in range(fan_in)] "
        "for _ in range(fan_out)]\n",
        "    rows = [[generator.gauss(0.0, deviation) for _ in range(fan_out)] "
        "for _ in range(fan_in)]\n",
        "stores [fan_in, fan_out] where the text's layout is [fan_out, fan_in]",
        "06 09 02",
    ),
]
