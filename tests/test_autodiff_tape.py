"""The tape: leaves, recording, the backward pass, release, ownership, depth."""

import copy
import gc
import pickle
import threading
import warnings
import weakref
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit import autodiff, errors
from coursekit.autodiff import (
    Tensor,
    backward,
    constant,
    no_grad,
    parameter,
    record,
    require_live,
)

DEEP = 60_000  # several times what recursion would survive


# --- leaves -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [parameter, constant])
def test_a_leaf_is_a_read_only_float64_copy_in_row_major_order(make):
    given_array = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    leaf = make(given_array)
    given_array[0, 0] = 9.0
    assert leaf.value.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert leaf.value.dtype == np.float64
    assert leaf.value.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        leaf.value[0, 0] = 5.0
    with pytest.raises(AttributeError):
        leaf.value = np.zeros((2, 2))


def test_what_a_leaf_says_of_itself():
    p, c = parameter([1.0, 2.0]), constant(3.0)
    assert (p.operation, p.is_parameter, p.tracks_gradient, p.is_released) == (
        "parameter", True, True, False,
    )  # fmt: skip
    assert (c.operation, c.is_parameter, c.tracks_gradient, c.is_released) == (
        "constant", False, False, False,
    )  # fmt: skip
    assert p.grad.tolist() == [0.0, 0.0]
    assert c.grad is None
    assert (p.shape, c.shape) == ((2,), ())
    assert repr(p) == "Tensor([1., 2.], shape=(2,), operation='parameter')"
    assert "..." not in repr(parameter(np.zeros(16)))
    assert "0., ..., 0." in repr(parameter(np.zeros(17)))


@pytest.mark.parametrize("kind", [np.float16, np.float32, ">f8"])
def test_narrower_and_swapped_floats_widen_exactly(kind):
    values = np.array([0.1, -2.5, 6e-5], dtype=kind)
    assert parameter(values).value.tolist() == [float(value) for value in values]


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        3,
        True,
        [True, False],
        np.arange(3),
        np.array([1j]),
        np.array([None]),
        np.array(["1.0"]),
        "1.0",
        None,
        [[1.0], [1.0, 2.0]],
        np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        np.array([1.0], dtype=np.longdouble) if np.longdouble(1).itemsize > 8 else [1],
        parameter(1.0),
    ],
    ids=lambda values: type(values).__name__,
)
@pytest.mark.parametrize("make", [parameter, constant])
def test_only_real_floating_point_numbers_become_leaves(make, values):
    with pytest.raises(errors.WrongType) as refused:
        make(values)
    assert refused.value.given is values


@given(st.integers(0, 5), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_the_first_non_finite_leaf_element_is_named(index, value):
    values = np.zeros((2, 3))
    values.flat[index] = value
    values.flat[5] = np.nan
    with pytest.raises(errors.NonFiniteLeaf) as refused:
        parameter(values)
    assert refused.value.index == index


def test_huge_values_are_finite_although_their_squares_are_not():
    assert parameter([1.7e308, -1.7e308]).value.tolist() == [1.7e308, -1.7e308]


def test_empty_and_zero_dimensional_leaves():
    assert parameter([]).shape == (0,)
    assert parameter(np.zeros((0, 3))).grad.shape == (0, 3)
    assert constant(0.5).shape == ()


# --- recording --------------------------------------------------------------------------------


def test_numbers_and_arrays_become_constants_on_either_side():
    x = parameter([2.0, 4.0])
    weights = np.array([1.0, 3.0])
    cases = {
        "add": (x + 1, 1 + x, x + weights, weights + x),
        "sub": (x - 1.5, 1.5 - x, x - weights, weights - x),
        "mul": (x * np.float64(2), np.float64(2) * x, x * np.int64(2), weights * x),
        "div": (x / 2, 2 / x, x / weights, weights / x),
        "pow": (x**2, x**-0.5, 2.0**x, weights**x),
        "matmul": (x @ weights, weights @ x, x @ weights[:, None], [[1.0, 2.0]] @ x),
        "neg": (-x,),
    }
    v = x.value
    expected = {
        "add": (v + 1, 1 + v, v + weights, weights + v),
        "sub": (v - 1.5, 1.5 - v, v - weights, weights - v),
        "mul": (v * 2, 2 * v, v * 2, weights * v),
        "div": (v / 2, 2 / v, v / weights, weights / v),
        "pow": (v**2, v**-0.5, 2.0**v, weights**v),
        "matmul": (v @ weights, weights @ v, v @ weights[:, None], [[1.0, 2.0]] @ v),
        "neg": (-v,),
    }
    for operation, results in cases.items():
        for result, wanted in zip(results, expected[operation], strict=True):
            assert isinstance(result, Tensor)
            assert (result.operation, result.tracks_gradient) == (operation, True)
            np.testing.assert_allclose(result.value, wanted, rtol=1e-15)


@pytest.mark.parametrize("other", [True, "2", None, np.arange(2), [1, 2], 1j])
def test_other_operands_are_refused(other):
    with pytest.raises(errors.WrongType):
        parameter([1.0, 2.0]) * other


@pytest.mark.parametrize("number", [np.inf, np.nan, 10**400, -(10**400)])
def test_numbers_outside_float64_are_refused(number):
    with pytest.raises(errors.NonFiniteLeaf):
        parameter([1.0, 2.0]) + number


def test_a_result_of_constants_remembers_nothing():
    x = constant([1.0])
    link = weakref.ref(x)
    y = x + 1.0
    del x
    gc.collect()
    assert link() is None
    assert not y.tracks_gradient


def test_no_grad_nests_and_ends_also_after_an_error():
    x = parameter(2.0)
    with no_grad():
        with no_grad():
            assert not (x * x).tracks_gradient
        assert not (x * x).tracks_gradient
        assert x.tracks_gradient
    with pytest.raises(KeyError), no_grad():
        raise KeyError
    assert (x * x).tracks_gradient


def test_no_grad_is_a_decorator():
    @no_grad()
    def square(x):
        return x * x

    assert not square(parameter(2.0)).tracks_gradient


def test_no_grad_holds_for_its_own_thread_only():
    x, tracked = parameter(2.0), []
    with no_grad():
        thread = threading.Thread(target=lambda: tracked.append((x * x).tracks_gradient))
        thread.start()
        thread.join()
    assert tracked == [True]


def test_a_non_finite_result_names_operation_and_element():
    with pytest.raises(errors.NonFiniteForward) as refused:
        parameter([[1.0, 2.0], [0.0, 0.0]]) / [[1.0, 1.0], [1.0, 0.0]]
    assert (refused.value.operation, refused.value.index) == ("div", 3)
    assert np.isnan(refused.value.value)


def test_an_added_operation_is_checked_like_the_others():
    def double(x, contribution):
        require_live("double", x)
        return record("double", 2.0 * x.value, (x,), lambda adjoint: (contribution,))

    x = parameter([1.0, 2.0])
    with pytest.raises(errors.ShapeMismatch) as refused:
        double(x, np.ones(3)).sum().backward()
    assert (refused.value.operation, refused.value.given) == ("double", ((2,), (3,)))
    with pytest.raises(errors.NonFiniteVjp) as refused:
        double(x, np.array([0.0, np.nan])).sum().backward()
    assert (refused.value.operand, refused.value.index) == (0, 1)
    with pytest.raises(errors.NonFiniteForward):
        record("huge", np.array([np.inf]), (x,), lambda adjoint: (adjoint,))
    double(x, None).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_an_adjoint_of_the_wrong_shape_is_noticed_too():
    x = parameter([1.0, 2.0])
    total = record("total", np.asarray(x.value.sum()), (x,), lambda adjoint: (adjoint,))
    with pytest.raises(errors.ShapeMismatch):
        total.backward()


def test_record_itself_refuses_a_released_operand():
    x = parameter(1.0)
    y = x * x
    y.backward()
    with pytest.raises(errors.ReleasedOperand) as refused:
        record("late", y.value, (x, y), lambda adjoint: (adjoint, adjoint))
    assert (refused.value.operation, refused.value.operand) == ("late", 1)
    with pytest.raises(errors.ReleasedOperand):
        record("later", y.value, (y,), lambda adjoint: (adjoint,))


# --- the backward pass ------------------------------------------------------------------------


def test_method_and_function_are_one():
    x = parameter(3.0)
    backward(x * x)
    assert x.grad == 6.0


def test_backward_returns_nothing_unless_asked():
    x = parameter(3.0)
    assert (x * x).backward() is None


def test_a_parameter_is_its_own_gradient():
    x = parameter([1.0, 2.0])
    seed = np.array([3.0, -0.0])
    x.backward(seed)
    seed[0] = 7.0
    assert x.grad.tolist() == [3.0, 0.0]
    assert not np.signbit(x.grad[1])
    scalar = parameter(5.0)
    scalar.backward()
    scalar.backward()
    assert scalar.grad == 2.0


@pytest.mark.parametrize("seed", [1, 1.0, np.float32(1.0), np.array(1.0)])
def test_a_number_is_a_seed_for_a_number(seed):
    x = parameter(3.0)
    (x * x).backward(seed)
    assert x.grad == 6.0


@pytest.mark.parametrize(
    "seed", [[1, 1], [True, True], ["a", "b"], [1j, 1j], parameter([1.0, 1.0])]
)
def test_seeds_are_real_floating_point_numbers(seed):
    y = parameter([1.0, 2.0]) * 2.0
    with pytest.raises(errors.WrongType):
        y.backward(seed)


def test_seed_errors_carry_shapes_and_places():
    y = parameter([1.0, 2.0]) * 2.0
    with pytest.raises(errors.SeedShapeMismatch) as refused:
        y.backward()
    assert (refused.value.expected, refused.value.given) == ((2,), None)
    with pytest.raises(errors.SeedShapeMismatch) as refused:
        y.backward([1.0])
    assert (refused.value.expected, refused.value.given) == ((2,), (1,))
    with pytest.raises(errors.NonFiniteSeed) as refused:
        y.backward([1.0, np.inf])
    assert (refused.value.index, refused.value.value) == (1, np.inf)


def test_an_unused_branch_gets_nothing():
    x, unused = parameter([1.0, 2.0]), parameter(1.0)
    y = x * 2.0
    _ = y * unused
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert unused.grad == 0.0


def test_several_parameters_and_depths_meet():
    a, b = parameter(2.0), parameter(3.0)
    c = a * b
    d = c + a
    (c * d * a).backward()  # a²b(ab + a) = a³b² + a³b
    assert a.grad == 3 * 4 * 9 + 3 * 4 * 3
    assert b.grad == 2 * 8 * 3 + 8


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12), st.integers(0, 2**32))
def test_random_graphs_agree_with_forward_differentiation(choices, bits):
    """Dual numbers carry each derivative forward; the tape must find the same backward."""
    a, b = parameter(0.75), parameter(-0.5)
    nodes = [a, b]
    duals = [(0.75, np.array([1.0, 0.0])), (-0.5, np.array([0.0, 1.0]))]
    for choice in choices:
        i, j = bits % len(nodes), (bits // 7) % len(nodes)
        bits = bits * 31 % 2**32
        (x, dx), (y, dy) = duals[i], duals[j]
        if choice == "a":
            nodes.append(nodes[i] + nodes[j])
            duals.append((x + y, dx + dy))
        elif choice == "b":
            nodes.append(nodes[i] * nodes[j])
            duals.append((x * y, x * dy + y * dx))
        else:
            nodes.append(nodes[i] - nodes[j] * 0.5)
            duals.append((x - y * 0.5, dx - dy * 0.5))
    nodes[-1].backward()
    value, slopes = duals[-1]
    assert nodes[-1].value == value
    np.testing.assert_allclose([a.grad, b.grad], slopes, rtol=1e-12, atol=1e-12)


def test_the_trace_shows_each_step_and_is_a_copy():
    x = parameter([1.0, 2.0])
    y = x * 3.0
    z = y.sum()
    steps = z.backward(trace=True)
    assert [step.operation for step in steps] == ["sum", "mul"]
    assert steps[0].node.is_same_node(z)
    assert steps[0].adjoint == 1.0
    assert steps[0].contributions[0].tolist() == [1.0, 1.0]
    assert steps[1].operands[0] is x
    assert steps[1].contributions[0].tolist() == [3.0, 3.0]
    assert steps[1].contributions[1] == 3.0
    steps[1].contributions[0][:] = 9.0
    assert x.grad.tolist() == [3.0, 3.0]
    assert steps[0] == steps[0] != copy.copy(steps[0])  # a step is itself, whatever it holds
    with pytest.raises(FrozenInstanceError):
        steps[0].adjoint = None


# --- all or nothing ---------------------------------------------------------------------------


def snapshot(*leaves):
    return [leaf.grad.tobytes() for leaf in leaves]


def test_an_overflowing_store_changes_no_gradient_at_all():
    a, b = parameter(1.0), parameter(1.0)
    (a * 1e308 + b).backward()
    before = snapshot(a, b)
    y = b + a * 1e308
    with pytest.raises(errors.NonFiniteAccumulatedGradient) as refused:
        y.backward()
    assert (refused.value.index, refused.value.value) == (0, np.inf)
    assert snapshot(a, b) == before
    assert not y.is_released
    a.zero_grad()
    y.backward()  # the graph is still there
    assert (a.grad, b.grad) == (1e308, 2.0)


def test_an_error_inside_a_vjp_changes_nothing():
    def fail(adjoint):
        raise MemoryError

    x = parameter(1.0)
    y = record("broken", np.asarray(1.0), (x,), fail) + x
    with pytest.raises(MemoryError):
        y.backward()
    assert x.grad == 0.0
    assert not y.is_released


def test_a_sum_of_contributions_that_overflows_names_the_node():
    x = parameter([0.0, 0.0])
    shared = x * 1.0
    y = shared * [1.0, 1e308] + shared * [1.0, 1e308]
    with pytest.raises(errors.NonFinitePassAdjoint) as refused:
        y.backward([1.0, 1.0])
    assert (refused.value.operation, refused.value.index) == ("mul", 1)
    assert x.grad.tolist() == [0.0, 0.0]


def test_no_numpy_warning_and_no_numpy_setting_gets_through():
    x = parameter([1e-320, 1e200])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        y = (x * 1e-10).sum()
        y.backward()
        with pytest.raises(errors.NonFiniteForward):
            x * 1e200
        with pytest.raises(errors.NonFiniteVjp):
            (x * [1e200, 1.0]).backward([1e200, 1.0])


# --- release and staleness --------------------------------------------------------------------


def test_release_frees_what_only_backward_needed():
    x = parameter([1.0, 2.0])
    middle = x * 2.0
    link = weakref.ref(middle)
    y = middle.sum()
    del middle
    assert link() is not None
    y.backward(retain_graph=True)
    assert link() is not None
    y.backward()
    assert link() is None
    assert y.value == 6.0


def test_a_released_sibling_spoils_what_shares_its_graph():
    x = parameter(2.0)
    shared = x * x
    left, right = shared + 1.0, shared * 3.0
    left.backward()
    assert right.is_released
    with pytest.raises(errors.GraphReleased) as refused:
        right.backward()
    assert refused.value.operation == "mul"
    for operand in (shared, right):
        with pytest.raises(errors.ReleasedOperand):
            operand + 1.0
    with pytest.raises(errors.ReleasedOperand) as refused:
        autodiff.add(x, right)
    assert (refused.value.operation, refused.value.operand) == ("add", 1)
    assert x.grad == 4.0


def test_a_released_ancestor_far_behind_is_found():
    x = parameter(1.0)
    early = x * 1.0
    late = early
    for _ in range(50):
        late = late + x
    early.backward()
    with pytest.raises(errors.ReleasedOperand):
        late + x


def test_releases_elsewhere_leave_a_graph_alone():
    x, y = parameter(2.0), parameter(3.0)
    kept = x * x
    for _ in range(3):
        (y * y).backward()
        kept = kept + x
    kept.backward()
    assert x.grad == 4.0 + 3.0
    assert not x.is_released


def test_values_and_detached_values_outlive_the_graph():
    x = parameter(2.0)
    y = x * x
    cut = y.detach()
    y.backward()
    assert (cut * cut).value == 16.0
    assert (y.detach() + 1.0).value == 5.0
    assert (cut.operation, cut.tracks_gradient, cut.is_released) == ("constant", False, False)


def test_shape_is_refused_before_operands_are_computed_but_release_comes_first():
    x = parameter([1.0, 2.0])
    y = x * 1.0
    y.backward([1.0, 1.0])
    with pytest.raises(errors.ReleasedOperand):
        autodiff.add(y, [1.0, 2.0, 3.0])
    z = x * x
    wide = parameter([1.0, 2.0, 3.0]) * 1.0
    z.backward([1.0, 1.0])
    wide.backward([1.0, 1.0, 1.0])
    with pytest.raises(errors.ReleasedOperand):  # although the shapes do not fit either
        autodiff.add(z, wide)


def test_an_assigned_parameter_makes_older_graphs_stale():
    x, c = parameter([1.0, 2.0]), constant([1.0, 1.0])
    y = c + x
    x.assign([5.0, 6.0])
    with pytest.raises(errors.StaleOperandValue) as refused:
        y.backward([1.0, 1.0])
    assert (refused.value.operation, refused.value.operand) == ("add", 1)
    assert x.grad.tolist() == [0.0, 0.0]
    assert not y.is_released
    (x * x).backward([1.0, 1.0])
    assert x.grad.tolist() == [10.0, 12.0]


def test_assign_copies_and_keeps_the_gradient_and_earlier_views():
    x = parameter([1.0, 2.0])
    (x * x).backward([1.0, 1.0])
    before, values = x.value, np.array([7.0, 8.0])
    x.assign(values)
    values[0] = 9.0
    assert x.value.tolist() == [7.0, 8.0]
    assert before.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1, 2], errors.WrongType),
        ([1.0, 2.0, 3.0], errors.ShapeMismatch),
        ([[1.0, 2.0]], errors.ShapeMismatch),
        ([np.nan, 1.0, 2.0], errors.ShapeMismatch),
        ([1.0, np.nan], errors.NonFiniteLeaf),
    ],
)
def test_a_refused_assignment_changes_nothing(values, error):
    x = parameter([1.0, 2.0])
    y = x * x
    with pytest.raises(error):
        x.assign(values)
    assert x.value.tolist() == [1.0, 2.0]
    y.backward([1.0, 1.0])  # not stale


@pytest.mark.parametrize("request_", ["assign", "zero_grad"])
def test_only_parameters_are_assigned_or_cleared(request_):
    for tensor in (constant(1.0), parameter(1.0) * 2.0):
        arguments = ([2.0],) if request_ == "assign" else ()
        with pytest.raises(errors.NotAParameter) as refused:
            getattr(tensor, request_)(*arguments)
        assert (refused.value.request, refused.value.operation) == (request_, tensor.operation)


# --- ownership --------------------------------------------------------------------------------


def test_gradients_of_two_parents_share_no_memory():
    a, b = parameter([1.0, 2.0]), parameter([3.0, 4.0])
    (a + b).backward([1.0, 1.0])
    assert not np.shares_memory(a.grad, b.grad)


def test_views_of_an_adjoint_become_gradients_of_their_own():
    a, b = parameter([1.0, 2.0]), parameter([[1.0], [2.0]])
    y = autodiff.concatenate([a.reshape(1, 2), b.T])
    seed = np.array([[1.0, 2.0], [3.0, 4.0]])
    y.backward(seed)
    seed[:] = 0.0
    assert a.grad.tolist() == [1.0, 2.0]
    assert b.grad.tolist() == [[3.0], [4.0]]
    assert not np.shares_memory(a.grad, b.grad)
    for leaf in (a, b):
        assert leaf.grad.flags.c_contiguous


def test_two_views_of_one_adjoint_become_two_gradients():
    a, b = parameter([1.0, 2.0]), parameter([3.0, 4.0])
    (a.reshape(2, 1) + b.reshape(2, 1)).backward([[1.0], [10.0]])
    assert a.grad.tolist() == b.grad.tolist() == [1.0, 10.0]
    assert not np.shares_memory(a.grad, b.grad)


def test_gradients_lie_row_by_row_as_their_values_do():
    a, b = parameter([[1.0, 2.0, 3.0]] * 2), parameter([[1.0, 2.0, 3.0]] * 2)
    (a.T * 2.0 + b.T).backward(np.arange(6.0).reshape(3, 2))
    for leaf in (a, b):
        assert leaf.grad.flags.c_contiguous
    assert b.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


def test_a_node_that_gets_nothing_does_not_end_the_pass():
    older, newer = parameter(1.0), parameter(1.0)
    left, right = older * 2.0, newer * 3.0
    only_left = record("only_left", left.value, (left, right), lambda adjoint: (adjoint, None))
    only_left.backward()
    assert (older.grad, newer.grad) == (2.0, 0.0)


def test_x_plus_x_counts_twice_and_seeds_stay_untouched():
    x = parameter([1.0, 2.0])
    seed = np.array([1.0, 10.0])
    (x + x + x + x).backward(seed)
    assert x.grad.tolist() == [4.0, 40.0]
    assert seed.tolist() == [1.0, 10.0]


def test_a_gradient_once_read_never_changes():
    x = parameter([1.0, 2.0])
    start = x.grad
    (x * x).backward([1.0, 1.0])
    first = x.grad
    (x * x).backward([1.0, 1.0])
    assert start.tolist() == [0.0, 0.0]
    assert first.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [4.0, 8.0]
    x.zero_grad()
    assert first.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [0.0, 0.0]
    (x * x).backward([1.0, 1.0])
    for array in (start, first, x.grad, copy.deepcopy(x).grad):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_vjp_that_keeps_its_array_is_not_robbed_of_it():
    kept = np.array([2.0, 3.0])
    x = parameter([1.0, 1.0])
    y = record("scaled", kept * 1.0, (x,), lambda adjoint: (kept,))
    y.backward([1.0, 1.0], retain_graph=True)
    y.backward([1.0, 1.0])
    assert kept.tolist() == [2.0, 3.0]
    assert x.grad.tolist() == [4.0, 6.0]


# --- copies -----------------------------------------------------------------------------------

COPIES = [copy.copy, copy.deepcopy, lambda tensor: pickle.loads(pickle.dumps(tensor))]


@pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_a_copied_parameter_is_a_leaf_of_its_own(copied):
    x = parameter([1.0, 2.0])
    (x * x).backward([1.0, 1.0])
    twin = copied(x)
    assert twin.is_parameter
    assert not twin.is_same_node(x)
    assert x.is_same_node(x)
    assert twin.value.tolist() == [1.0, 2.0]
    assert twin.grad.tolist() == [2.0, 4.0]
    twin.assign([3.0, 3.0])
    twin.zero_grad()
    assert x.value.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="read-only"):
        twin.value[0] = 0.0


@pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_a_copied_result_is_a_constant(copied):
    twin = copied(parameter([1.0, 2.0]) * 2.0)
    assert (twin.operation, twin.value.tolist()) == ("constant", [2.0, 4.0])
    with pytest.raises(errors.UntrackedOutput):
        twin.backward([1.0, 1.0])


def test_a_leaf_shared_within_a_structure_stays_shared_in_its_copy():
    x = parameter(1.0)
    first, second = copy.deepcopy([x, x])
    assert first.is_same_node(second)


def test_tensors_are_equal_only_to_themselves():
    x = parameter(1.0)
    assert x == x
    assert x != parameter(1.0)
    assert len({x, x, parameter(1.0)}) == 2


# --- depth ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without_collector():
    """The cyclic collector visits a growing graph again and again; there are no cycles here."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
def test_a_deep_chain_builds_runs_copies_and_is_freed():
    x = parameter(1.0)
    y = x
    for _ in range(DEEP):
        y = y + x
    assert repr(y) == f"Tensor({DEEP + 1}., shape=(), operation='add')"
    for copied in COPIES:
        assert copied(y).value == DEEP + 1
    y.backward(retain_graph=True)
    assert x.grad == DEEP + 1
    x.assign(2.0)
    with pytest.raises(errors.StaleOperandValue):
        y.backward()
    link = weakref.ref(y)
    del y
    assert link() is None


@pytest.mark.usefixtures("without_collector")
def test_a_deep_chain_is_released_and_refused():
    x = parameter(1.0)
    early = x * 1.0
    late = early
    for i in range(DEEP):
        late = -late if i % 2 else late * 1.0
    early.backward()
    with pytest.raises(errors.ReleasedOperand):
        late + x
    with pytest.raises(errors.GraphReleased):
        late.backward()
    link = weakref.ref(late)
    del late
    assert link() is None


def test_a_ladder_of_diamonds_is_walked_once_a_node():
    """Twice as many paths with each rung: following paths instead of nodes would not end."""
    x = parameter(1.0)
    y, other = x, parameter(1.0)
    for _ in range(100):
        y = y * 0.5 + y * 0.5
    (other * other).backward()
    y = y + x  # walks all ancestors once to see that none is released
    y.backward()
    assert x.grad == 2.0
