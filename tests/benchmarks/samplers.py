"""Rows: drawing weights beside NumPy, PyTorch and JAX, from a hundred weights to 16 million."""

from collections.abc import Callable

import numpy as np
from harness import Row, Step

from coursekit.initializers import he_normal, xavier_scale, xavier_uniform
from coursekit.rng import SplitMix64

SIDES = (10, 100, 512, 4096)


def rows() -> list[Row]:
    """Return the rows of this file."""
    uniform = [
        Row(
            f"Xavier uniform, {n} × {n}",
            _ours(lambda rng, n=n: xavier_uniform(n, n, rng)),
            {"NumPy": _numpy_uniform(n), "PyTorch": _torch(n, "uniform_"), "JAX": _jax(n)},
            {"NumPy": 0.45, "PyTorch": 0.45} if n == 4096 else {},
            repeat=max(1, 200_000 // n**2),
            units=n * n,
            unit="weight",
        )
        for n in SIDES
    ]
    normal = [
        Row(
            f"He normal, {n} × {n}",
            _ours(lambda rng, n=n: he_normal(n, n, rng)),
            {"NumPy": _numpy_normal(n), "PyTorch": _torch(n, "normal_")},
            {"NumPy": 0.8, "PyTorch": 0.6} if n == 4096 else {},
            repeat=max(1, 100_000 // n**2),
            units=n * n,
            unit="weight",
        )
        for n in SIDES
    ]
    normals = Row(
        "standard normal, a million",
        _ours(lambda rng: rng.standard_normal(10**6)),
        {"NumPy": lambda: _drawn(lambda g: g.standard_normal(10**6))},
        units=1e6,
        unit="number",
    )
    few = Row(
        "Xavier uniform, 2 × 5, beside a scalar loop",
        _ours(lambda rng: xavier_uniform(2, 5, rng)),
        {"scalar loop": _scalar_loop},
        {"scalar loop": 1.0},
        repeat=2000,
        unit="matrix",
    )
    return [few, *uniform, *normal, normals]


def _ours(draw: Callable[[SplitMix64], object]) -> Callable[[], Step]:
    def make() -> Step:
        rng = SplitMix64(17)
        return lambda: draw(rng)

    return make


def _drawn(draw: Callable[[np.random.Generator], object]) -> Step:
    generator = np.random.default_rng(17)
    return lambda: draw(generator)


def _numpy_uniform(n: int) -> Callable[[], Step]:
    a = xavier_scale(n, n).uniform_limit
    return lambda: _drawn(lambda g: g.uniform(-a, a, (n, n)))


def _numpy_normal(n: int) -> Callable[[], Step]:
    return lambda: _drawn(lambda g: g.normal(0.0, (2.0 / n) ** 0.5, (n, n)))


def _scalar_loop() -> Step:
    """The same ten weights by the plain loop that a reader would write."""
    rng = SplitMix64(17)

    def step() -> object:
        limit = xavier_scale(2, 5).uniform_limit
        return np.array([limit * (2.0 * rng.next_unit_f64() - 1.0) for _ in range(10)]).reshape(
            2, 5
        )

    return step


def _torch(n: int, method: str) -> Callable[[], Step]:
    def make() -> Step:
        import torch

        bounds = (-0.1, 0.1) if method == "uniform_" else (0.0, 0.1)
        return lambda: getattr(torch.empty((n, n), dtype=torch.float64), method)(*bounds)

    return make


def _jax(n: int) -> Callable[[], Step]:
    def make() -> Step:
        import jax

        jax.config.update("jax_enable_x64", True)
        draw = jax.jit(lambda key: jax.random.uniform(key, (n, n), minval=-0.1, maxval=0.1))
        return lambda: draw(jax.random.key(17)).block_until_ready()

    return make
