"""Print a digest of what is promised to have the same bits everywhere: `python tests/bits.py`.

The line must be the one in `golden/bits.txt`, on every machine, Python, NumPy, with any vector
instructions and any number of threads. `--features` prints which vector instructions NumPy found
beyond those that it always uses.
"""

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from coursekit import blocks, initializers
from coursekit.measure import histogram, population
from coursekit.rng import SplitMix64

SAMPLERS = ["xavier_uniform", "xavier_normal", "he_uniform", "he_normal", "lecun_uniform"]
SAMPLERS += ["lecun_normal", "truncated_normal", "orthogonal"]
SIZES = [0, 1, 2, 23, 25, 63, 65, 1000, blocks.CHUNK + 3, 2 * blocks.THREADED + 5]


def drawn() -> list[np.ndarray]:
    """Numbers of every kind that takes only + − × ÷ √ and integers."""
    made = []
    for size in SIZES:
        rng = SplitMix64(size)
        made += [rng.random_raw(size), rng.random(size), rng.uniform(-0.3, 1.7, size)]
        made += [rng.symmetric(0.7, size), rng.standard_normal(size)]
        made += [rng.normal(3.0, 0.1, size, share=0.5), rng.permutation(size)]
    for name in SAMPLERS:
        for shape in ((1, 1), (3, 5), (40, 24), (24, 40)):
            made.append(getattr(initializers, name)(*shape, SplitMix64(17)))
    numbers = SplitMix64(17).standard_normal(10_000)
    told = population(numbers)
    made += [np.array([told.mean, told.variance]), np.array(histogram(numbers, [-1, 0, 1]).counts)]
    scales = [initializers.variance_scaling(n, m, 1.7, mode) for n in (1, 3, 768) for m in (1, 7)
              for mode in initializers.MODES]  # fmt: skip
    made.append(
        np.array([[s.target_variance, s.standard_deviation, s.uniform_limit] for s in scales])
    )
    return made


def digest() -> str:
    hashed = hashlib.sha256()
    for array in drawn():
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
        hashed.update(f"{array.shape}".encode() + little.tobytes())
    return hashed.hexdigest()


def features() -> list[str]:
    return np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])


if __name__ == "__main__":
    print(" ".join(features()) if "--features" in sys.argv else digest())
