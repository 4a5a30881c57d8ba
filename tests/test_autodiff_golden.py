"""The figures of the independent implementation: graphs, gradients, SiLU, and every refusal."""

import numpy as np
import pytest
from golden import array_of, float_of, load

from coursekit import autodiff, errors
from coursekit.autodiff import constant, no_grad, parameter, silu

GRAPHS = load("autodiff")
SCENARIOS = {case["scenario"]: case for case in load("autodiff_errors")}
SILU = load("silu")
SYMMETRY = load("zero_symmetry")

# Names of that implementation whose rejections are ShapeMismatch here.
SHAPE_VARIANTS = {"Matmul", "View", "Operation", "Model"}


def assert_close(actual, figure):
    np.testing.assert_allclose(actual, array_of(figure), rtol=1e-14, atol=1e-15)


def assert_bits(actual, figure):
    expected = array_of(figure)
    assert np.asarray(actual).shape == expected.shape
    assert np.asarray(actual).tobytes() == expected.tobytes()


# --- graphs -----------------------------------------------------------------------------------


def test_two_products_with_silu_between():
    case = GRAPHS["matmul_silu_matmul"]
    x, w1, w2 = (parameter(array_of(case[name])) for name in ("x", "w1", "w2"))
    pre = x @ w1
    hidden = silu(pre)
    out = hidden @ w2
    for actual, name in ((pre, "pre"), (hidden, "hidden"), (out, "out")):
        assert_close(actual.value, case[name])
    out.backward(seed=array_of(case["seed"]))
    for leaf, name in ((x, "grad_x"), (w1, "grad_w1"), (w2, "grad_w2")):
        assert_close(leaf.grad, case[name])


@pytest.fixture
def diamond():
    a = parameter(array_of(GRAPHS["diamond"]["a"]))
    square = a * a
    left = square + a
    right = square @ a
    return [a, square, left, right, left * right]


def test_a_leaf_used_four_times_collects_from_all(diamond):
    case = GRAPHS["diamond"]
    a, out = diamond[0], diamond[-1]
    assert_close(out.value, case["out"])
    out.backward(array_of(case["seed"]), retain_graph=True)
    assert_close(a.grad, case["grad_a_after_first_backward_retain"])
    out.backward(array_of(case["seed"]))
    assert_close(a.grad, case["grad_a_after_second_backward_release"])
    with pytest.raises(errors.GraphReleased):
        out.backward(array_of(case["seed"]))


def test_the_second_pass_doubles_the_gradient_to_the_bit(diamond):
    a, out = diamond[0], diamond[-1]
    seed = array_of(GRAPHS["diamond"]["seed"])
    out.backward(seed, retain_graph=True)
    first = a.grad
    out.backward(seed)
    assert a.grad.tobytes() == (first + first).tobytes()


def test_the_trace_walks_the_edges_in_the_recorded_order(diamond):
    case = GRAPHS["diamond"]
    assert [node.operation for node in diamond] == case["topology"]
    number = {node: i for i, node in enumerate(diamond)}
    edges = [
        [number[step.node], number[operand], place]
        for step in diamond[-1].backward(array_of(case["seed"]), trace=True)
        for place, operand in enumerate(step.operands)
    ]
    assert edges == case["reverse_edges_child_parent_operand"]


# --- silu -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", SILU, ids=lambda case: str(case["x"]["dec"]))
def test_silu_and_its_derivative(case):
    x = parameter(float_of(case["x"]))
    y = silu(x)
    (step,) = y.backward(trace=True)
    pairs = [
        (y.value, case["silu"]),
        (step.contributions[0], case["vjp_contribution_seed_one"]),
        (x.grad, case["accumulated_gradient"]),
    ]
    for actual, figure in pairs:
        expected = float_of(figure)
        # Subnormal numbers have fewer digits than 1e-14 asks for.
        np.testing.assert_allclose(actual, expected, rtol=1e-14, atol=1e-322)
        assert np.signbit(actual) == np.signbit(expected)


# --- the zero-symmetry probe ------------------------------------------------------------------


def probe(weights):
    first = parameter(weights)
    hidden = silu(constant(array_of(SYMMETRY["input"])) @ first)
    output = hidden @ constant(array_of(SYMMETRY["output_weights"]))
    output.backward(array_of(SYMMETRY["seed"]))
    return output.value, first.grad


def test_zero_weights_give_equal_gradient_columns_that_are_not_zero():
    output, gradient = probe(np.zeros((2, 2)))
    assert output.item() == float_of(SYMMETRY["zero_probe"]["output"])
    assert_bits(gradient, SYMMETRY["zero_probe"]["gradient"])
    assert gradient[:, 0].tobytes() == gradient[:, 1].tobytes()


@pytest.mark.parametrize("name", ["equal_columns_probe", "seed17_probe"])
def test_other_starts_of_the_probe(name):
    case = SYMMETRY[name]
    output, gradient = probe(array_of(case["weights"]))
    assert_close(output, case["output"])
    assert_close(gradient, case["gradient"])
    assert (gradient[0, 0] == gradient[0, 1]) == (name == "equal_columns_probe")


# --- refusals ---------------------------------------------------------------------------------


class Outcome:
    """What a scenario left behind, beside the error that it raised."""

    def __init__(self, call, gradient_of=None, released=None, value=None):
        self.call, self.gradient_of, self.released, self.value = call, gradient_of, released, value


def released_square(values=3.5):
    x = parameter(values)
    y = x * x
    y.backward(seed=np.ones(y.shape))
    return x, y


def backward_twice():
    x, y = released_square()
    return Outcome(y.backward, gradient_of=x)


def operation_on_released_operand():
    _, y = released_square()
    return Outcome(lambda: y + parameter(1.0))


def silu_of_released():
    _, y = released_square()
    return Outcome(lambda: silu(y))


def leaf_stays_usable():
    x, y = released_square()
    assert (x.is_released, y.is_released) == (False, True)
    return Outcome(lambda: x * x)


def released_ancestor():
    x = parameter(3.0)
    y = x * x
    z = y + x
    y.backward()
    assert z.is_released
    return Outcome(lambda: z * z)


def accumulates_from_a_second_graph():
    x = parameter([1.0, 2.0])
    (x * [3.0, 4.0]).backward([1.0, 1.0])
    (x * [5.0, 6.0]).backward([1.0, 1.0])
    return Outcome(lambda: None, gradient_of=x)


def implicit_seed_for_one_by_one():
    return Outcome((parameter([[2.0]]) * 2.0).backward)


def seed_with_an_axis_too_many():
    y = parameter([1.0, 2.0]) * 2.0
    return Outcome(lambda: y.backward([[1.0, 1.0]]))


def wrong_shape_and_not_finite():
    y = parameter([1.0, 2.0]) * 2.0
    return Outcome(lambda: y.backward([[np.nan, 1.0]]))


def strided_seed():
    x = parameter(np.zeros((2, 2)))
    y = x + 0.0
    y.backward(np.array([[1.0, 2.0], [3.0, 4.0]]).T)
    return Outcome(lambda: None, gradient_of=x)


def constants_only():
    y = constant(2.0) * constant(3.0)
    assert not y.tracks_gradient
    return Outcome(y.backward)


def made_under_no_grad():
    x = parameter(2.0)
    with no_grad():
        y = x * x
    return Outcome(y.backward)


def adjoint_overflows():
    x = parameter([0.0])
    shared = x * 1.0
    y = shared * 1e308 + shared * 1e308
    return Outcome(lambda: y.backward([1.0]), gradient_of=x, released=lambda: y.is_released)


def zero_grad_of_a_result():
    return Outcome((parameter(1.0) * 2.0).zero_grad)


def retained_twice():
    x = parameter(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    assert y.grad is None
    return Outcome(lambda: None, gradient_of=x)


def negative_zero_seed():
    x = parameter([1.0, 2.0])
    (x + 0.0).backward([-0.0, -0.0])
    return Outcome(lambda: None, gradient_of=x)


def empty_product():
    product = constant(np.empty((2, 0))) @ constant(np.empty((0, 3)))
    return Outcome(lambda: None, value=product)


def sum_over_nothing():
    return Outcome(lambda: None, value=autodiff.sum(np.empty((2, 0)), axis=1, keepdims=True))


def vjp_overflows_into_a_constant():
    x = parameter(1e200)
    y = x * constant(1.0)
    return Outcome(lambda: y.backward(1e200), gradient_of=x, released=lambda: y.is_released)


def still_an_operand_until_released():
    _, y = released_square()
    return Outcome(lambda: autodiff.exp(y))


def shape_before_release():
    x = parameter([1.0, 2.0])
    y = x * x
    z = y + x
    y.backward([1.0, 1.0])
    return Outcome(z.backward)


ROWS = [[1.0], [2.0], [3.0]]
STAGES = {
    "backward twice after Release": backward_twice,
    "op on released operand 0": operation_on_released_operand,
    "silu of released node": silu_of_released,
    "leaf parameter reusable after Release": leaf_stays_usable,
    "op on node whose ancestor is released": released_ancestor,
    "second time: accumulates": accumulates_from_a_second_graph,
    "implicit backward on [1,1] output": implicit_seed_for_one_by_one,
    "seed [1,2] for [2] output": seed_with_an_axis_too_many,
    "wrong shape AND non-finite seed": wrong_shape_and_not_finite,
    "seed may be a strided view (transpose)": strided_seed,
    "backward on op of constants only": constants_only,
    "backward on no_grad result": made_under_no_grad,
    "constant with inf": lambda: Outcome(lambda: constant([np.inf])),
    "forward overflow in add": lambda: Outcome(lambda: constant(1e308) + constant(1e308)),
    "log(0)": lambda: Outcome(lambda: autodiff.log(constant(0.0))),
    "matmul overflow": lambda: Outcome(lambda: constant([[1e200]]) @ constant([[1e200]])),
    "non-finite pass adjoint": adjoint_overflows,
    "zero_grad on op node": zero_grad_of_a_result,
    "two Retain backwards accumulate (2*4)": retained_twice,
    "seed -0.0 accumulates into +0.0 start: stored gradient is +0.0": negative_zero_seed,
    # There products take matrices only; here, as in NumPy, a vector is a row, and only its length
    # can be wrong.
    "matmul rank-1 left": lambda: Outcome(lambda: constant([1.0, 2.0]) @ constant(ROWS)),
    "matmul inner mismatch": lambda: Outcome(lambda: constant([[1.0, 2.0]]) @ constant(ROWS)),
    "matmul [2,0]x[0,3] (zeros)": empty_product,
    "transpose axis out of bounds": lambda: Outcome(lambda: autodiff.transpose(ROWS, (0, 2))),
    "sum_axis out of bounds": lambda: Outcome(lambda: autodiff.sum(ROWS, axis=2)),
    "sum over empty axis is zeros": sum_over_nothing,
    "gather count mismatch": lambda: Outcome(
        lambda: autodiff.reshape(autodiff.gather_rows(ROWS, [0, 1, 0]), (2, 1))
    ),
    "non-finite VJP into an UNTRACKED (constant) operand is still an error": (
        vjp_overflows_into_a_constant
    ),
    "... and can then no longer be an operand": still_an_operand_until_released,
    "implicit backward on rank-1 output whose ancestor is released: shape error first": (
        shape_before_release
    ),
    "shape error outranks non-finite forward": lambda: Outcome(
        lambda: constant([1e308, 1e308]) + constant([1e308, 1e308, 1e308])
    ),
}


def test_every_scenario_is_staged():
    # Gradients are handed out as arrays that never change, so none is ever borrowed.
    assert set(SCENARIOS) - set(STAGES) == {"backward while a gradient borrow is live"}
    assert set(STAGES) <= set(SCENARIOS)


@pytest.mark.parametrize("name", STAGES)
def test_scenario(name):
    case, outcome = SCENARIOS[name], STAGES[name]()
    if case["ok"]:
        outcome.call()
    else:
        variant = case["variant"]
        expected = "ShapeMismatch" if variant in SHAPE_VARIANTS else variant
        with pytest.raises(getattr(errors, expected)):
            outcome.call()
    for key in ("gradient", "gradient_unchanged"):
        if key in case:
            assert_bits(outcome.gradient_of.grad, case[key])
    if "released" in case:
        assert outcome.released() is case["released"]
    if "value" in case:
        assert_bits(outcome.value.value, case["value"])
