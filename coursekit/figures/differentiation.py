"""Pictures of chapter 7: what flows through a graph, and how far a difference quotient is off."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coursekit.autodiff import Step, Tensor
from coursekit.figures.style import COLOURS, INK, expected, label, measured_line, new_figure
from coursekit.figures.twin import number

FloatArray = NDArray[np.float64]

DIGITS = 3
ALL_DECIMALS = 17
ROUNDING = COLOURS["purple"]
BACKWARD = COLOURS["green"]  # everything that flows against the arrows
_LINE = "#9a9a9a"
_BOX = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": INK}
_TAG = {"boxstyle": "round,pad=0.25", "facecolor": "#dff2ec", "edgecolor": BACKWARD}
_HALO = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}


class Node(NamedTuple):
    """A tensor of the graph, what it is called in the picture, and where its box stands."""

    name: str
    tensor: Tensor
    place: tuple[float, float]


def graph(
    nodes: Sequence[Node], steps: Sequence[Step], *, height: float = 3.6, flows: bool = True
) -> Figure:
    """Draw a computation graph after its backward pass; see `draw_graph`."""
    figure, axes = new_figure(height=height)
    draw_graph(axes, nodes, steps, flows=flows)
    return figure


def draw_graph(
    axes: Axes, nodes: Sequence[Node], steps: Sequence[Step], *, flows: bool = True
) -> None:
    """Draw each node with its value above its adjoint, each arrow with what flows back over it.

    Args:
        nodes: every tensor of the graph. The part of a name before ` =` names it on the arrows.
        steps: what `backward(trace=True)` returned for this graph.
        flows: write the contributions on the arrows; without, a large graph stays readable.
    """
    by_tensor = {node.tensor: node for node in nodes}
    for step in steps:
        for operand, flow in zip(step.operands, step.contributions, strict=True):
            carried = flow is not None and operand.tracks_gradient and flows
            text = _written(flow) if flow is not None and carried else ""
            _arrow(axes, by_tensor[operand], by_tensor[step.node], text)
    adjoints = _adjoints(steps)
    for node in nodes:
        x, y = node.place
        value = f"{node.name}\n{_written(node.tensor.value)}"
        axes.text(x, y + 0.02, value, ha="center", va="bottom", bbox=_BOX, linespacing=1.35)
        told = "constant"
        if node.tensor in adjoints:
            adjoint = _written(adjoints[node.tensor])
            told = "adjoint" + ("\n" if "\n" in adjoint else " ") + adjoint
        axes.text(x, y - 0.08, told, ha="center", va="top", bbox=_TAG, fontsize=9)
    across, up = zip(*(node.place for node in nodes), strict=True)
    axes.set_xlim(min(across) - 0.45, max(across) + 0.45)
    axes.set_ylim(min(up) - 0.45, max(up) + 0.55)
    axes.set_axis_off()


def _adjoints(steps: Sequence[Step]) -> Mapping[Tensor, FloatArray]:
    """Adjoint of every node of one pass: as traced for operations, for leaves the sum received."""
    found: dict[Tensor, FloatArray] = {}
    for step in steps:
        for operand, flow in zip(step.operands, step.contributions, strict=True):
            if flow is not None and operand.tracks_gradient:
                found[operand] = found[operand] + flow if operand in found else flow
    return found | {step.node: step.adjoint for step in steps}


def _arrow(axes: Axes, tail: Node, head: Node, flow: str) -> None:
    start, end = np.array(tail.place), np.array(head.place)
    names = [node.name.split(" =")[0] for node in (tail, head)]
    told = f"{flow} flows from {names[1]} to {names[0]}" if flow else f"{names[0]} to {names[1]}"
    axes.plot(*zip(start, end, strict=True), color=_LINE, linewidth=1.2, zorder=0, label=told)
    point = start + (0.42 if flow else 0.5) * (end - start)
    head_only = {"arrowstyle": "-|>", "color": _LINE}
    axes.annotate("", tuple(point), tail.place, arrowprops=head_only, zorder=0)
    if flow:
        at = start + 0.56 * (end - start)  # beyond the arrow head, which stays visible
        look: Any = {"ha": "center", "va": "center", "color": BACKWARD, "fontweight": "bold"}
        axes.text(at[0], at[1], f"← {flow}", bbox=_HALO, **look)


def _written(values: FloatArray) -> str:
    """Write a number as a number, a matrix as rows in brackets."""
    rows = [" ".join(_number(value) for value in row) for row in np.atleast_2d(values)]
    return rows[0] if values.ndim == 0 else "\n".join(f"[{row}]" for row in rows)


def _number(value: float) -> str:
    return number(value, DIGITS).replace("-", "−")


# --- finite differences -------------------------------------------------------------------------


def decimals(error: FloatArray) -> FloatArray:
    """Return how many decimals are right, −log₁₀ of the error; 17 stands for all of them.

    >>> decimals(np.array([0.1, 1e-5, 0.0]))
    array([ 1.,  5., 17.])
    """
    return np.asarray(-np.log10(np.maximum(error, 10.0**-ALL_DECIMALS)))


def quotient_decimals(error: FloatArray, curvature: FloatArray, rounding: FloatArray) -> Figure:
    """Draw how good a central difference is over its step; see `draw_quotient_decimals`."""
    figure, axes = new_figure(height=3.6)
    draw_quotient_decimals(axes, error, curvature, rounding)
    return figure


def draw_quotient_decimals(
    axes: Axes, error: FloatArray, curvature: FloatArray, rounding: FloatArray
) -> None:
    """Draw the right decimals at h = ½, ¼, ⅛, … beside what two errors leave of them.

    Args:
        error: measured |quotient − slope|, one for each halving of the step.
        curvature: the error expected from the third derivative alone.
        rounding: the error that rounded values of f may cause alone.
    """
    halvings = np.arange(1, len(error) + 1)
    measured_line(axes, halvings, decimals(error), label="measured")
    left = decimals(curvature)
    seen = left < ALL_DECIMALS
    expected(axes, halvings[seen][::3], left[seen][::3], label="curvature alone")
    if seen.any():
        label(axes, " curvature alone", (halvings[seen][-1], left[seen][-1] - 1))
    left = decimals(rounding)
    seen = left < ALL_DECIMALS
    axes.plot(halvings[seen], left[seen], ":", color=ROUNDING, label="rounding alone")
    if seen.any():
        label(axes, " rounding alone", (halvings[seen][6], left[seen][6]), "purple")
    axes.set(xlabel="halvings k of the step, h = 2⁻ᵏ", ylabel="right decimals of the slope")
    axes.set_xlim(0, len(error) + 1)
    axes.set_ylim(-1, ALL_DECIMALS + 1)
    axes.set_yticks(range(0, ALL_DECIMALS, 4))
