"""The worked example of the course, computed anew and written line by line.

Chapter 6 reproduces the report, chapter 8 the trace. Both are text in a fixed format, so that two
runs, two machines or two programs can be compared with `diff`. Nothing is stored: every number is
drawn, counted or differentiated when the function is called. Seed 17 gives the figures of the
first source text to the last digit.

Promised: these bytes for seed 17, and one seed, one text, on every machine; the printed digits
need only + − × ÷ √, and SiLU at 0. Not promised: that another seed's matrix is as close to its
target, or that the next seed always gives other weights; that line is an observation.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coursekit.errors import CourseError, DuplicateName, InvalidNameCharacter, ZeroFanIn
from coursekit.initializers import xavier_scale
from coursekit.measure import Histogram, Population, expected_forward, histogram, population
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.rng import SplitMix64
from coursekit.worked import zero_symmetry_probe

SEED = 17
QUERY = "decoder.block.0.attention.query.weight"
TABLE = "token_embedding.weight"

WIDTH = 64
DEPTH = 4
OVERSIZED = 2.0  # times the Xavier limit
# Nine bins of width 0.10 from −0.45 to 0.45; one division gives the float64 nearest to each edge.
EDGES = tuple((2 * k - 9) / 20 for k in range(10))
BIN_WIDTH = 0.1


def alternate_seed(seed: int) -> int:
    """Return the seed that `seed` is compared with: the next one; 0 follows 2**64 − 1."""
    return (seed + 1) % 2**64


# --- the report ---------------------------------------------------------------------------------


def worked_report(seed: int = SEED) -> str:
    """Return the twelve lines of the worked report.

    A [2, 2] projection is drawn first, a [4, 2] token table after it on the same stream; between
    and after them the report shows what repeats, what differs, and what is refused.

    Args:
        seed: of the stream; the comparison uses the next seed.
    Raises:
        WrongType, SeedError: a seed that the generator refuses.
    Draws consumed: from generators of its own only.

    >>> print(worked_report(), end="")  # doctest: +ELLIPSIS
    seed: 17
    projection: shape=2x2 fan_in=2 fan_out=2
    target variance: 0.500000000000
    uniform limit: 1.224744871392
    weights: 0.004950883736,-0.265932089217,-0.420504358848,-0.676313443233
    same seed reproduces: true
    ...
    """
    rng = SplitMix64(seed)
    seed = rng.state  # a NumPy integer becomes a Python one, whose sums do not wrap
    scale = xavier_scale(2, 2)
    projection = _projection(rng)
    matching = _projection(SplitMix64(seed))
    alternate = _projection(SplitMix64(alternate_seed(seed)))
    parameters = NamedParameters(
        [projection.clone(), NamedParameter.xavier_uniform(TABLE, 4, 2, rng)]
    )
    probe = zero_symmetry_probe()
    before = rng.state
    refusals = _refusals(projection, rng)
    lines = [
        f"seed: {seed}",
        f"projection: shape={_shape(projection)} fan_in={scale.fan_in} fan_out={scale.fan_out}",
        f"target variance: {_fixed(scale.target_variance)}",
        f"uniform limit: {_fixed(scale.uniform_limit)}",
        f"weights: {_fixed_list(projection.value.ravel())}",
        f"same seed reproduces: {_truth(_same_bits(projection.value, matching.value))}",
        f"different seed differs: {_truth(not _same_bits(projection.value, alternate.value))}",
        f"zero symmetry: output={_fixed(probe.output)} "
        f"columns-equal={_truth(probe.columns_equal)} "
        f"gradient={_fixed_list(probe.gradient.ravel())}",
        "parameters: " + " | ".join(f"{one.name}[{_shape(one)}]" for one in parameters),
        f"identity: clone-same-node={_truth(_same_node(projection, parameters[0]))} "
        f"recreated-same-node={_truth(_same_node(projection, matching))}",
        f"validation: {' | '.join(refusals)}; rng-unchanged={_truth(rng.state == before)}",
        "chapter 18 handoff: initialize a trainable token table",
    ]
    return "\n".join(lines) + "\n"


def _projection(rng: SplitMix64) -> NamedParameter:
    return NamedParameter.xavier_uniform(QUERY, 2, 2, rng)


def _refusals(projection: NamedParameter, rng: SplitMix64) -> list[str]:
    """Ask for three things that must be refused; name what came of each."""
    requests: list[tuple[str, type[CourseError], Callable[[], object]]] = [
        (
            "invalid-name",
            InvalidNameCharacter,
            lambda: NamedParameter.xavier_uniform("Decoder.weight", 2, 2, rng),
        ),
        (
            "duplicate-name",
            DuplicateName,
            lambda: NamedParameters([projection.clone(), projection.clone()]),
        ),
        (
            "zero-fan-in",
            ZeroFanIn,
            lambda: NamedParameter.xavier_uniform("decoder.invalid.weight", 0, 2, rng),
        ),
    ]
    return [
        label if _is_refused(request, error) else f"{label}-accepted"
        for label, error, request in requests
    ]


def _is_refused(request: Callable[[], object], error: type[CourseError]) -> bool:
    try:
        request()
    except error:
        return True
    return False


# --- the trace ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    """One of the three populations of weights, and what is known of it."""

    name: str
    seed: str
    limit: float
    weight_variance: float
    weights: NDArray[np.float64]


def trace(seed: int = SEED) -> str:
    """Return the fifteen lines of the trace: three populations of 64 × 64 weights, side by side.

    All weights zero; the Xavier weights times two; the Xavier weights. The last two share every
    draw and differ in scale alone. Weights beyond the bins are counted as underflow and overflow.
    The variances through four linear layers are expectations, not measurements.

    Args, Raises, Draws consumed: as `worked_report`.

    >>> trace().splitlines()[9].rsplit(maxsplit=1)
    ['PAIRING seed=17 base-draws-equal=yes', 'oversized-to-xavier-limit=2.000000000000']
    """
    seed = SplitMix64(seed).state
    scale = xavier_scale(WIDTH, WIDTH)
    xavier, matching = _diagnostic(seed), _diagnostic(seed)
    other_seed = alternate_seed(seed)
    alternate = _diagnostic(other_seed)
    oversized = OVERSIZED * xavier
    kinds = [
        _Kind("zero", "none", 0.0, 0.0, np.zeros_like(xavier)),
        _Kind(
            "oversized",
            str(seed),
            OVERSIZED * scale.uniform_limit,
            OVERSIZED**2 * scale.target_variance,
            oversized,
        ),
        _Kind("xavier", str(seed), scale.uniform_limit, scale.target_variance, xavier),
    ]
    lines = [
        "TRACE parameter-initialization-v2 BEGIN",
        _fixture_line(seed, xavier.size),
        f"BINNING edges={_fixed_list(EDGES)} display-edges={_list(EDGES, '.2f')} "
        f"width={_fixed(BIN_WIDTH)} display-width={BIN_WIDTH:.2f} "
        "closure=left-closed-right-open-last-closed",
    ]
    for kind in kinds:
        lines.append(_distribution_line(kind, population(kind.weights)))
        lines.append(_histogram_line(kind, histogram(kind.weights, EDGES)))
    lines.append(
        f"PAIRING seed={seed} base-draws-equal={_yes(_same_bits(oversized / OVERSIZED, xavier))} "
        f"oversized-to-xavier-limit={_fixed(kinds[1].limit / kinds[2].limit)}"
    )
    lines += [_propagation_line(kind) for kind in kinds]
    lines += [
        f"REPRODUCIBILITY seed={seed} same-seed-equal={_yes(_same_bits(xavier, matching))} "
        f"alternate-seed={other_seed} "
        f"alternate-seed-different={_yes(not _same_bits(xavier, alternate))}",
        "TRACE parameter-initialization-v2 END",
    ]
    return "\n".join(lines) + "\n"


def _diagnostic(seed: int) -> NDArray[np.float64]:
    return NamedParameter.xavier_uniform("diagnostic.weight", WIDTH, WIDTH, SplitMix64(seed)).value


def _fixture_line(seed: int, samples: int) -> str:
    layers = ",".join(str(layer) for layer in range(DEPTH + 1))
    return (
        f"FIXTURE name=fixed-seed-width{WIDTH} generator=splitmix64 mapping=top53-affine "
        f"seed={seed} shape={WIDTH}x{WIDTH} samples={samples} fan-in={WIDTH} fan-out={WIDTH} "
        f"statistic=population-two-pass layers={layers} propagation=expected-linear-independent "
        f"input-variance={_fixed(1.0)} display-input-variance=1"
    )


def _distribution_line(kind: _Kind, found: Population) -> str:
    numbers = {
        "limit": kind.limit,
        "min": found.minimum,
        "max": found.maximum,
        "mean": found.mean,
        "variance": found.variance,
    }
    exact = " ".join(f"{name}={_fixed(number)}" for name, number in numbers.items())
    display = " ".join(f"display-{name}={number:.4f}" for name, number in numbers.items())
    return f"DISTRIBUTION kind={kind.name} seed={kind.seed} {exact} {display}"


def _histogram_line(kind: _Kind, counted: Histogram) -> str:
    return (
        f"HISTOGRAM kind={kind.name} counts={','.join(map(str, counted.counts))} "
        f"bar-percent={_fixed_list(counted.percentages)} "
        f"display-percent={_list(counted.percentages, '.1f')} "
        f"underflow={counted.underflow} overflow={counted.overflow}"
    )


def _propagation_line(kind: _Kind) -> str:
    expected = expected_forward([WIDTH] * (DEPTH + 1), [kind.weight_variance] * DEPTH)
    return (
        f"PROPAGATION kind={kind.name} variances={_fixed_list(expected)} "
        f"display-variances={_list(expected, '.0f')}"
    )


# --- how a value is written ---------------------------------------------------------------------


def _fixed(number: float) -> str:
    return f"{number:.12f}"


def _fixed_list(numbers: Iterable[float]) -> str:
    return _list(numbers, ".12f")


def _list(numbers: Iterable[float], form: str) -> str:
    return ",".join(format(number, form) for number in numbers)


def _shape(one: NamedParameter) -> str:
    return "x".join(str(length) for length in one.shape)


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _same_bits(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    return one.tobytes() == other.tobytes()


def _same_node(one: NamedParameter, other: NamedParameter) -> bool:
    return one.tensor.is_same_node(other.tensor)
