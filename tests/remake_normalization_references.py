"""Run this file to remake `tests/golden/normalization_references.json`. It needs mpmath.

The second witness for the three norms. It knows the definition of the forward pass and no
derivative: gradients are central differences of L = Σ upstream·output in 3000-digit arithmetic
(a step of 1e-800 beside a value of 1e200 must not be lost), with steps of 10**-600 of the
value itself. Each number is rounded once, to the nearest float64.
"""

import json
import random
from pathlib import Path

from mpmath import fsum, mp, mpf, sqrt

mp.dps = 3000
RELATIVE_STEP = mpf(10) ** -600


def mean_and_inverse_deviation(line, epsilon, centred):
    mean = fsum(line) / len(line) if centred else mpf(0)
    variance = fsum((x - mean) ** 2 for x in line) / len(line)
    return mean, 1 / sqrt(variance + epsilon)


def lines_of(norm, x):
    return list(zip(*x, strict=True)) if norm == "batch_norm" else x


def output(norm, x, gamma, beta, epsilon):
    normalized = []
    for line in lines_of(norm, x):
        mean, inverse = mean_and_inverse_deviation(line, epsilon, norm != "rms_norm")
        normalized.append([(value - mean) * inverse for value in line])
    return [
        [g * value + b for g, value, b in zip(gamma, row, beta, strict=True)]
        for row in lines_of(norm, normalized)
    ]


def gradient(of, values):
    """Central differences of `of` for every element of the list `values`, changed in place."""
    answer = []
    largest = max((abs(v) for v in values if v), default=mpf(1))
    for i, value in enumerate(values):
        step = RELATIVE_STEP * (abs(value) or largest)
        values[i] = value + step
        above = of()
        values[i] = value - step
        below = of()
        values[i] = value
        answer.append((above - below) / (2 * step))
    return answer


def reference(norm, name, x, epsilon, rng):
    width = len(x[0])
    gamma = [rng.uniform(-2, 2) for _ in range(width)]
    beta = [0.0 if norm == "rms_norm" else rng.uniform(-1, 1) for _ in range(width)]
    upstream = [[rng.uniform(-1, 1) for _ in row] for row in x]
    flat = [mpf(v) for row in x for v in row]
    exact_gamma, exact_beta = list(map(mpf, gamma)), list(map(mpf, beta))

    def rows():
        return [flat[start : start + width] for start in range(0, len(flat), width)]

    def y():
        return output(norm, rows(), exact_gamma, exact_beta, mpf(epsilon))

    def loss():
        return fsum(
            mpf(u) * v
            for ups, out in zip(upstream, y(), strict=True)
            for u, v in zip(ups, out, strict=True)
        )

    case = {
        "norm": norm,
        "case": name,
        "epsilon": epsilon,
        "x": x,
        "gamma": gamma,
        "beta": beta,
        "upstream": upstream,
        "output": [[float(v) for v in row] for row in y()],
    }
    # A gradient of x is a sum of terms of size |h|/σ: the test counts its rounding errors by that.
    case["inverse_deviations"] = [
        float(mean_and_inverse_deviation(line, mpf(epsilon), norm != "rms_norm")[1])
        for line in lines_of(norm, rows())
    ]
    dx = [float(v) for v in gradient(loss, flat)]
    case["x_gradient"] = [dx[start : start + width] for start in range(0, len(dx), width)]
    case["gamma_gradient"] = [float(v) for v in gradient(loss, exact_gamma)]
    case["beta_gradient"] = [float(v) for v in gradient(loss, exact_beta)]
    return case


def inputs(rng):
    def noise(rows, width, scale=1.0, mean=0.0):
        return [[mean + scale * rng.gauss(0, 1) for _ in range(width)] for _ in range(rows)]

    yield "the two token rows", [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]], 1e-5
    yield "ordinary", noise(3, 5), 1e-5
    yield "ordinary, epsilon 0", noise(3, 5), 0.0
    yield "mean 1e8", noise(3, 6, mean=1e8), 1e-5
    yield "mean 1e8, epsilon 0", noise(3, 6, mean=1e8), 0.0
    yield "mean -1e15", noise(3, 6, mean=-1e15), 1e-5
    yield "one step apart", [[1.0, 1.0 + 2**-52, 1.0], [1.0 - 2**-53, 1.0, 1.0]], 0.0
    yield "around 1e-200", noise(2, 4, scale=1e-200), 1e-5
    yield "around 1e-200, epsilon 0", noise(2, 4, scale=1e-200), 0.0
    yield "around 1e200", noise(2, 4, scale=1e200), 1e-5
    yield "the largest floats", [[1.7e308, -1.7e308, 1.2e308], [1.7e308, 1.7e308, 1e308]], 1e-5
    yield (
        "the smallest floats, epsilon 1e-300",
        [[5e-324, 0.0, 1e-322], [2e-321, 1e-322, 0.0]],
        1e-300,
    )
    yield "rows of many sizes", [[3e200, 1e200], [1e-200, -2e-200], [1.0, 2.0]], 1e-5
    yield "rows of many sizes, epsilon 0", [[3e200, 1e200], [1e-200, -2e-200], [1.0, 2.0]], 0.0
    yield "sizes mixed in a row", [[1e200, 1.0, 1e-200], [1e-200, 2e-200, 1e-190]], 1e-5
    yield "epsilon 1e-320", [[1e-160, 2e-160], [3e-161, -1e-150]], 1e-320
    yield "epsilon 1e300", [[1e150, 2e150], [1e100, -1e140]], 1e300
    yield "width one", [[3.0], [-4.0]], 1e-5
    yield "zeros", [[0.0, 0.0], [0.0, 0.0]], 1e-5
    yield "constant", [[0.1, 0.1, 0.1], [0.1, 0.1, 0.1]], 1e-5
    yield "constant and huge", [[1e200, 1e200, 1e200], [1e200, 1e200, 1e200]], 1e-5


def has_a_value(norm, x, epsilon):
    flat = [
        len(set(line)) == 1 and (norm != "rms_norm" or not any(line)) for line in lines_of(norm, x)
    ]
    return epsilon > 0 or not any(flat)


def main():
    rng = random.Random(17)
    cases = [
        reference(norm, name, x, epsilon, rng)
        for name, x, epsilon in inputs(rng)
        for norm in ("layer_norm", "rms_norm", "batch_norm")
        if has_a_value(norm, x, epsilon)
    ]
    path = Path(__file__).parent / "golden" / "normalization_references.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")


if __name__ == "__main__":
    main()
