"""Chapter 7: the graph picture tells what flowed where; step curves rest on right derivatives."""

import math

import numpy as np
import pytest

from coursekit.autodiff import constant, parameter
from coursekit.explorers.differentiation import CURVES, STEPS, quotient_errors, run_graph
from coursekit.figures import numbers
from coursekit.figures.differentiation import Node, decimals, graph


def test_the_picture_shows_values_adjoints_and_what_flows() -> None:
    run = run_graph(3, 2, 1)
    told = numbers(graph(run.nodes, run.steps))
    for text in ("a 3", "adjoint 36", "p = a·b 6", "adjoint 15", "y = p·q 54", "adjoint 1"):
        assert f"text: {text}\n" in told + "\n"
    for flow in ("9 flows from y to p", "6 flows from q to p", "30 flows from p to a"):
        assert f'line "{flow}"' in told


def test_an_operand_used_twice_by_one_operation_gets_both_contributions() -> None:
    x = parameter(3.0)
    square = x * x
    steps = square.backward(trace=True)
    told = numbers(graph([Node("x", x, (0, 0)), Node("y = x·x", square, (1, 0))], steps))
    assert "text: adjoint 6" in told


def test_a_constant_has_no_adjoint_and_a_matrix_is_written_in_rows() -> None:
    x, w = constant([[1.0, -2.0]]), parameter([[0.5], [0.25]])
    product = x @ w
    steps = product.backward(seed=[[1.0]], trace=True)
    nodes = [Node("x", x, (0, 1)), Node("W", w, (0, 0)), Node("z = xW", product, (1, 0))]
    told = numbers(graph(nodes, steps, flows=False))
    assert "text: constant" in told
    assert "text: W [0.5] [0.25]" in told
    assert "text: adjoint [1] [−2]" in told
    assert "flows" not in told


@pytest.mark.parametrize("a", [-4, -1, 2])
def test_the_routes_from_a_cancel_where_b_is_minus_one(a: int) -> None:
    run = run_graph(a, -1, 1)
    assert run.along_a == 0
    assert run.along_b == a * a * (2 * -1 + 1)
    assert any(float(flow) != 0 for step in run.steps for flow in step.contributions)


def test_decimals_of_an_exact_quotient_are_seventeen() -> None:
    assert decimals(np.array([0.0, 1e-3, 10.0])).tolist() == [17.0, 3.0, -1.0]


@pytest.mark.parametrize("name", [name for name in CURVES if name != "ReLU"])
@pytest.mark.parametrize("x", [-2.5, -0.25, 0.5, 3.0])
def test_slope_and_third_derivative_agree_with_differences(name: str, x: float) -> None:
    f, at, h = CURVES[name], np.asarray(x), 2.0**-7
    assert f.slope(at) == pytest.approx((f.value(at + h) - f.value(at - h)) / (2 * h), abs=1e-4)
    bent = f.slope(at + h) - 2 * f.slope(at) + f.slope(at - h)
    assert f.third(at) == pytest.approx(bent / h**2, abs=1e-3)


def test_the_quotient_behaves_as_the_chapter_says_at_its_three_places() -> None:
    assert quotient_errors("SiLU", 0.0)[0].max() < 1e-15
    assert quotient_errors("ReLU", 0.0)[0].tolist() == [0.5] * len(STEPS)
    error, curvature, _ = quotient_errors("x/√(1+x²)", 0.5)
    assert curvature.max() == 0
    assert math.isclose(-math.log10(error.min()), 14.5, abs_tol=0.1)


def test_curvature_and_rounding_bound_the_error_that_is_measured() -> None:
    error, curvature, rounding = quotient_errors("x/√(1+x²)", 1.0)
    assert (error <= curvature + rounding).all()
    assert error[0] > 0.9 * curvature[0]
