"""Named parameters in the layout that another framework expects: PyTorch's and Flax's.

Chapter 13 uses it. The numbers stay; three things change. PyTorch applies a linear layer as
x @ Wᵀ and stores [fan_out, fan_in], so every matrix that is multiplied is transposed, while one
that is looked up (a token table) is not. The last segment of a name becomes the one that the
framework's layers look for. And both hold float32 unless told otherwise, so the type is stated.

Sources: the documentation of `torch.nn.Linear` (y = xAᵀ + b) and of `flax.linen.Dense`, whose
kernel has our layout [fan_in, fan_out].

Not promised: that layers of the same name compute the same in both. PyTorch's norms have their own
default epsilons, and running statistics are no parameters.
"""

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coursekit.errors import (
    DuplicateName,
    NonFiniteValue,
    OutOfRange,
    PackageMissing,
    UnknownChoice,
    WrongType,
)
from coursekit.parameters import NamedParameters

FloatArray: TypeAlias = NDArray[np.float64]
DType: TypeAlias = Literal["float32", "float64"]
DTYPES: tuple[DType, ...] = ("float32", "float64")

TORCH_SEGMENTS = {"gain": "weight", "gamma": "weight", "beta": "bias"}
FLAX_SEGMENTS = {"weight": "kernel", "gain": "scale", "gamma": "scale", "beta": "bias"}


def torch_state_dict(
    parameters: NamedParameters, *, dtype: DType = "float32", lookups: Collection[str] = ()
) -> dict[str, Any]:
    """Return the parameters as `torch.nn.Module.load_state_dict` takes them.

    Raises: PackageMissing, without PyTorch; else as `torch_arrays`, which says the rest.
    """
    arrays = torch_arrays(parameters, dtype=dtype, lookups=lookups)
    torch = package("torch", "run pip install torch")
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def torch_arrays(
    parameters: NamedParameters, *, dtype: DType = "float32", lookups: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return PyTorch's layout as NumPy arrays, by PyTorch's names, in declaration order.

    A matrix [fan_in, fan_out] becomes [fan_out, fan_in]; `.gain` and `.gamma` become `.weight`,
    `.beta` becomes `.bias`.

    Args:
        parameters: what to export; its values are copied.
        dtype: float64 keeps every bit, float32 rounds each number once, to the nearest.
        lookups: names of the matrices that are looked up by row instead of multiplied.

    Raises:
        WrongType: no `NamedParameters`. UnknownChoice: an unknown dtype. OutOfRange: a lookup that
        is no parameter, or an array of three axes and more, whose layout is not known here.
        DuplicateName: two parameters would get one name. NonFiniteValue: a value that float32
        cannot hold.

    >>> from coursekit.layers import Linear
    >>> from coursekit.rng import SplitMix64
    >>> linear = Linear("output", 2, 3, SplitMix64(17), bias=True)
    >>> {name: array.shape for name, array in torch_arrays(linear.parameters).items()}
    {'output.weight': (3, 2), 'output.bias': (3,)}
    """
    exported: dict[str, NDArray[Any]] = {}
    for name, values in _checked(parameters, dtype, lookups):
        renamed = torch_name(name)
        if renamed in exported:
            raise DuplicateName(renamed, list(exported).index(renamed), len(exported))
        if is_transposed(name, values.shape, lookups):
            values = values.T
        exported[renamed] = narrowed(values, dtype, name)
    return exported


def flax_tree(
    parameters: NamedParameters, *, dtype: DType = "float32", lookups: Collection[str] = ()
) -> dict[str, Any]:
    """Return a tree of NumPy arrays, split at the dots of the names, which JAX takes as it is.

    Nothing is transposed. `.weight` becomes `kernel`, or `embedding` if it is looked up; `.gain`
    and `.gamma` become `scale`, `.beta` becomes `bias`.

    Args, Raises: as `torch_arrays`; also OutOfRange for a name that continues another one, since
        a place of the tree holds an array or a branch.

    >>> from coursekit.layers import Linear
    >>> from coursekit.rng import SplitMix64
    >>> tree = flax_tree(Linear("block.0.query", 2, 3, SplitMix64(17)).parameters)
    >>> tree["block"]["0"]["query"]["kernel"].shape
    (2, 3)
    """
    tree: dict[str, Any] = {}
    for name, values in _checked(parameters, dtype, lookups):
        *branches, last = name.split(".")
        here = tree
        for segment in branches:
            here = here.setdefault(segment, {})
            if not isinstance(here, dict):
                raise OutOfRange("name", "no continuation of another parameter's name", name)
        leaf = "embedding" if name in lookups else FLAX_SEGMENTS.get(last, last)
        if leaf in here:
            raise OutOfRange("name", "the only one at its place of the tree", name)
        here[leaf] = narrowed(values, dtype, name)
    return tree


# --- shared with `sharded`, which writes files in the same layout ---------------------------------


def torch_name(name: str) -> str:
    """Return the name under which PyTorch's layers look for a parameter.

    >>> torch_name("block.0.norm.gain"), torch_name("block.0.query.weight")
    ('block.0.norm.weight', 'block.0.query.weight')
    """
    before, dot, last = name.rpartition(".")
    return before + dot + TORCH_SEGMENTS.get(last, last)


def is_transposed(name: str, shape: tuple[int, ...], lookups: Collection[str]) -> bool:
    """Tell whether PyTorch stores a parameter the other way round: matrices that are multiplied."""
    return len(shape) == 2 and name not in lookups


def checked_dtype(dtype: str) -> DType:
    """Return one of the types that can be asked for. Raises: UnknownChoice."""
    if dtype not in DTYPES:
        raise UnknownChoice("dtype", dtype, DTYPES)
    return dtype


def checked_layout(shapes: Mapping[str, tuple[int, ...]], lookups: Collection[str]) -> None:
    """Refuse lookups that are not there, and shapes of three axes and more."""
    if isinstance(lookups, str):
        raise WrongType("lookups", "a collection of names", lookups)
    for name in lookups:
        if name not in shapes:
            raise OutOfRange("lookup", "the name of a parameter", name)
    for name, shape in shapes.items():
        if len(shape) > 2:
            raise OutOfRange(f"shape of {name}", "of at most two axes", shape)


def narrowed(values: FloatArray, dtype: DType, name: str) -> NDArray[Any]:
    """Return a row-major copy in this type, each number rounded at most once, to the nearest.

    Raises:
        NonFiniteValue: a number whose nearest float32 is infinite.

    >>> narrowed(np.array([0.1]), "float32", "weight")
    array([0.1], dtype=float32)
    """
    with np.errstate(over="ignore"):
        result = np.array(values, dtype=dtype, order="C")
    bad = ~np.isfinite(result)
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        raise NonFiniteValue(f"{name} as {dtype}", index, float(result.flat[index]))
    return result


def package(name: str, cure: str) -> Any:
    """Import an optional package, or raise PackageMissing with the cure."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise PackageMissing(name.partition(".")[0], cure) from None


def _checked(
    parameters: NamedParameters, dtype: DType, lookups: Collection[str]
) -> Iterator[tuple[str, FloatArray]]:
    if not isinstance(parameters, NamedParameters):
        raise WrongType("parameters", "NamedParameters", parameters)
    checked_dtype(dtype)
    checked_layout({one.name: one.shape for one in parameters}, lookups)
    return ((one.name, one.value) for one in parameters)
