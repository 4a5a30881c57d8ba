"""Every operation: NumPy's value, a gradient that finite differences confirm, edges, refusals."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from coursekit import autodiff, errors
from coursekit.autodiff import constant, gradcheck, ops, parameter
from coursekit.autodiff.elementwise import unbroadcast
from coursekit.autodiff.normal_cdf import normal_cdf

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def arrays(shape, low=-3.0, high=3.0):
    # Three decimals, so that a step of 6e-6 leads from no element past another or past 0.
    numbers = st.integers(round(low * 1000), round(high * 1000)).map(lambda k: k / 1000)
    return hnp.arrays(np.float64, shape, elements=numbers)


def erf(x):
    return np.vectorize(math.erf, otypes=[float])(x)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# Operation, the same in NumPy, and the lowest element at which it is defined.
UNARY = {
    "neg": (autodiff.neg, np.negative, -3.0),
    "exp": (autodiff.exp, np.exp, -3.0),
    "log": (autodiff.log, np.log, 0.1),
    "sqrt": (autodiff.sqrt, np.sqrt, 0.1),
    "square": (lambda x: autodiff.pow(x, 2), np.square, -3.0),
    "cube": (lambda x: x**3, lambda x: x**3, -3.0),
    "power": (lambda x: autodiff.pow(x, -0.5), lambda x: x**-0.5, 0.1),
    "exponential": (lambda x: autodiff.pow(2.0, x), lambda x: 2.0**x, -3.0),
    "tanh": (autodiff.tanh, np.tanh, -3.0),
    "sigmoid": (autodiff.sigmoid, lambda x: 1 / (1 + np.exp(-x)), -3.0),
    "softplus": (autodiff.softplus, lambda x: np.log(1 + np.exp(x)), -3.0),
    "silu": (autodiff.silu, lambda x: x / (1 + np.exp(-x)), -3.0),
    "gelu": (autodiff.gelu, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), -3.0),
    "relu": (autodiff.relu, lambda x: np.maximum(x, 0.0), -3.0),
    "leaky_relu": (
        lambda x: autodiff.leaky_relu(x, slope=0.1),
        lambda x: np.where(x > 0, x, 0.1 * x),
        -3.0,
    ),
}
BINARY = {
    "add": (autodiff.add, np.add),
    "sub": (autodiff.sub, np.subtract),
    "mul": (autodiff.mul, np.multiply),
    "div": (autodiff.div, np.divide),
    "pow": (autodiff.pow, np.power),
}
REDUCING = {
    "sum": (autodiff.sum, np.sum),
    "mean": (autodiff.mean, np.mean),
    "max": (autodiff.max, np.max),
    "logsumexp": (autodiff.logsumexp, lambda x, **kw: np.log(np.sum(np.exp(x), **kw))),
}
ALONG = {
    "softmax": (autodiff.softmax, softmax),
    "log_softmax": (autodiff.log_softmax, lambda x, axis: np.log(softmax(x, axis))),
}


def assert_right(function, reference, *values, atol=1e-14):
    """Value, memory layout, purity of the VJP, and gradient of one operation at one point."""
    leaves = [parameter(value) for value in values]
    result = function(*leaves)
    expected = np.asarray(reference(*values))
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.value, expected, rtol=1e-12, atol=atol)
    assert result.value.flags.c_contiguous
    assert result.tracks_gradient
    assert_vjp_is_pure(result)
    report = gradcheck(function, *values)
    assert report, str(report)


def assert_vjp_is_pure(result):
    """Twice the same bits, nothing written to, nothing handed out that is kept or shared."""
    adjoint = np.linspace(1.0, 2.0, result.value.size).reshape(result.shape)
    before = adjoint.copy()
    operand_bytes = [operand.value.tobytes() for operand in result._operands]
    first, second = result._vjp(adjoint), result._vjp(adjoint)
    assert adjoint.tobytes() == before.tobytes()
    assert [operand.value.tobytes() for operand in result._operands] == operand_bytes
    new = [c for c in (*first, *second) if not np.may_share_memory(c, adjoint)]
    for i, one in enumerate(new):
        assert not any(np.may_share_memory(one, operand.value) for operand in result._operands)
        assert not any(np.may_share_memory(one, other) for other in new[:i])
    for one, again in zip(first, second, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(again).tobytes()


# --- elementwise ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNARY)
@given(st.data())
@quick
def test_functions_of_one_operand(name, data):
    function, reference, low = UNARY[name]
    assert_right(function, reference, data.draw(arrays(data.draw(SHAPES), low)))


@pytest.mark.parametrize("name", BINARY)
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3), st.data())
@quick
def test_functions_of_two_operands_broadcast_as_numpy(name, shapes, data):
    function, reference = BINARY[name]
    first, second = shapes.input_shapes
    low = 0.1 if name == "pow" else -3.0
    x = data.draw(arrays(first, low))
    y = data.draw(arrays(second, 0.5 if name == "div" else -2.0))
    assert_right(function, reference, x, y)


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3))
@quick
def test_unbroadcast_is_the_adjoint_of_broadcasting(shapes):
    """⟨broadcast(x), g⟩ = ⟨x, unbroadcast(g)⟩ for all x and g."""
    small, full = shapes.input_shapes[0], shapes.result_shape
    x = np.arange(1.0, math.prod(small) + 1).reshape(small)
    g = np.arange(1.0, math.prod(full) + 1).reshape(full) % 7
    assert (np.broadcast_to(x, full) * g).sum() == (x * unbroadcast(g, small)).sum()


@pytest.mark.parametrize("function", [pair[0] for pair in BINARY.values()])
def test_shapes_that_do_not_broadcast_are_shown(function):
    with pytest.raises(errors.ShapeMismatch) as refused:
        function(parameter([[1.0, 2.0]]), [1.0, 2.0, 3.0])
    assert refused.value.given == ((1, 2), (3,))
    assert "(1, 2)" in str(refused.value)
    assert "(3,)" in str(refused.value)


def gradient(function, *values):
    leaves = [parameter(value) for value in values]
    result = function(*leaves)
    result.backward(seed=np.ones(result.shape))
    grads = [leaf.grad for leaf in leaves]
    return grads[0] if len(grads) == 1 else grads


def test_powers_at_their_edges():
    assert gradient(lambda x: x**0, [0.0, -2.0, 3.0]).tolist() == [0.0, 0.0, 0.0]
    assert gradient(lambda x: x**1, [0.0, -2.0]).tolist() == [1.0, 1.0]
    assert gradient(lambda x: x**2, [0.0, -2.0]).tolist() == [0.0, -4.0]
    base, exponent = gradient(autodiff.pow, [0.0, 0.0, 2.0], [1.0, 2.0, 0.0])
    assert base.tolist() == [1.0, 0.0, 0.0]
    assert exponent.tolist() == [0.0, 0.0, math.log(2.0)]
    with pytest.raises(errors.NonFiniteForward):
        parameter([-1.0]) ** 0.5
    with pytest.raises(errors.NonFiniteForward):
        parameter([0.0]) ** -1
    with pytest.raises(errors.NonFiniteVjp) as refused:
        gradient(lambda x: x**0.5, [0.0])
    assert refused.value.operand == 0
    with pytest.raises(errors.NonFiniteVjp) as refused:
        gradient(autodiff.pow, [-2.0], [2.0])  # no slope in the exponent of a negative base
    assert refused.value.operand == 1
    with pytest.raises(errors.WrongType):
        parameter([1.0]) ** True
    with pytest.raises(errors.OutOfRange):
        parameter([1.0]) ** np.inf


def test_exact_arithmetic_has_exact_gradients():
    a, b = 0.3, -0.7
    x, y = gradient(lambda x, y: (x * y + x / y - y).sqrt(), a, b)
    half = 0.5 * 1.0 / math.sqrt(a * b + a / b - b)
    assert x == half * b + half / b
    assert y == (-half + -(half / b) * (a / b)) + half * a  # newest consumer first


@pytest.mark.parametrize("name", ["log", "sqrt"])
def test_outside_the_domain(name):
    with pytest.raises(errors.NonFiniteForward) as refused:
        UNARY[name][0]([1.0, -1.0])
    assert (refused.value.operation, refused.value.index) == (name, 1)


# --- activations ------------------------------------------------------------------------------

FAR = [-1.7e308, -1e300, -1000.0, -745.2, -710.0, -40.0, 40.0, 710.0, 1000.0, 1e300, 1.7e308]
LIMITS = {  # value and slope far to the left and far to the right, of x
    "tanh": (lambda x: (-1.0, 0.0), lambda x: (1.0, 0.0)),
    "sigmoid": (lambda x: (0.0, 0.0), lambda x: (1.0, 0.0)),
    "softplus": (lambda x: (0.0, 0.0), lambda x: (x, 1.0)),
    "silu": (lambda x: (0.0, 0.0), lambda x: (x, 1.0)),
    "gelu": (lambda x: (0.0, 0.0), lambda x: (x, 1.0)),
    "relu": (lambda x: (0.0, 0.0), lambda x: (x, 1.0)),
    "leaky_relu": (lambda x: (0.1 * x, 0.1), lambda x: (x, 1.0)),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("x", FAR)
def test_activations_far_out(name, x):
    function = UNARY[name][0]
    value, slope = LIMITS[name][x > 0](x)
    np.testing.assert_allclose(function(x).value, value, rtol=1e-15, atol=1e-14)
    np.testing.assert_allclose(gradient(function, x), slope, rtol=1e-15, atol=1e-14)


@pytest.mark.parametrize("name", ["exp", *LIMITS])
@pytest.mark.parametrize("x", [0.0, -0.0, 5e-324, -5e-324, 1e-300])
def test_activations_near_zero(name, x):
    function = UNARY[name][0]
    step = 1e-8
    slope = (function(step).value - function(0.0).value) / step
    left = (function(0.0).value - function(-step).value) / step
    found = gradient(function, x)
    assert np.isclose(found, slope, atol=1e-7) or np.isclose(found, left, atol=1e-7)


@pytest.mark.parametrize(
    "name", ["exp", "tanh", "sigmoid", "softplus", "silu", "gelu", "relu", "leaky_relu"]
)
def test_no_setting_of_numpy_reaches_an_activation(name):
    x = parameter([-1000.0, -5e-324, 0.0, 5e-324, 30.0])
    with np.errstate(all="raise"):
        y = getattr(autodiff, name)(x)
        y.backward(np.ones(5))
    assert np.isfinite(y.value).all()
    assert np.isfinite(x.grad).all()


@pytest.mark.parametrize("name", ["sum", "mean", "max", "logsumexp", "softmax", "log_softmax"])
def test_no_setting_of_numpy_reaches_a_reduction(name):
    x = parameter([-1000.0, -5e-324, 5e-324, 30.0])
    with np.errstate(all="raise"):
        y = getattr(autodiff, name)(x)
        y.backward(np.ones(y.shape))
    assert np.isfinite(x.grad).all()


def test_what_overflows_is_an_error_of_ours_and_no_warning():
    huge = [1.7e308]
    for refuse in (
        lambda: autodiff.sub(huge, [-1.7e308]),
        lambda: autodiff.add(huge, huge),
        lambda: autodiff.mul(huge, huge),
        lambda: autodiff.div(huge, [1e-308]),
        lambda: autodiff.exp([1000.0]),
        lambda: autodiff.sum(huge * 2),
        lambda: autodiff.matmul([huge], [[10.0]]),
        lambda: autodiff.linear([[1.0]], [huge], huge),
        lambda: autodiff.log_softmax([1.7e308, -1.7e308]),
    ):
        with pytest.raises(errors.NonFiniteForward):
            refuse()


def test_a_power_of_tensors_where_the_exponent_is_zero_or_minus_one():
    x, p = parameter([0.0, 2.0, 2.0]), parameter([0.0, 0.0, -1.0])
    y = x**p
    y.backward(np.ones(3))
    assert y.value.tolist() == [1.0, 1.0, 0.5]
    assert x.grad.tolist() == [0.0, 0.0, -0.25]
    assert p.grad == pytest.approx([0.0, np.log(2.0), 0.5 * np.log(2.0)])


def test_kinks_take_the_left_slope():
    assert gradient(autodiff.relu, [0.0, -0.0]).tolist() == [0.0, 0.0]
    assert gradient(lambda x: autodiff.leaky_relu(x, 0.25), [0.0]).tolist() == [0.25]


@pytest.mark.parametrize(
    ("slope", "error"),
    [(True, errors.WrongType), ("0.1", errors.WrongType), (np.nan, errors.OutOfRange)],
)
def test_slopes_are_finite_numbers(slope, error):
    with pytest.raises(error):
        autodiff.leaky_relu([1.0], slope)


# Computed with 60 digits.
NORMAL_CDF = [
    (-37.5, 4.605353009581954843827969e-308),
    (-35.97, 1.232119825810053e-283),
    (-30.03, 1.992035863615295e-198),
    (-30.0, 4.906713927148187059533809e-198),
    (-20.03, 1.5082897917116302e-89),
    (-10.0, 7.619853024160526065973343e-24),
    (-5.0, 2.866515718791939116737523e-7),
    (-2.0, 0.02275013194817920720028264),
    (-1.0, 0.1586552539314570514147675),
    (-0.5, 0.3085375387259868963622954),
    (-1e-08, 0.4999999960105771959856732),
    (0.0, 0.5),
    (1e-300, 0.5),
    (0.1, 0.5398278372770289836689339),
    (0.7, 0.7580363477769269713837893),
    (1.0, 0.8413447460685429485852325),
    (2.0, 0.9772498680518207927997174),
    (3.0, 0.9986501019683699054733482),
    (5.0, 0.9999997133484281208060883),
    (8.2, 0.9999999999999998798064846),
]


@pytest.mark.parametrize(("x", "expected"), NORMAL_CDF)
def test_the_normal_distribution_function_to_the_last_digits(x, expected):
    assert abs(normal_cdf(np.array(x)) / expected - 1.0) < 5e-16


@given(st.floats(-1e308, 1e308))
def test_the_normal_distribution_function_is_a_probability(x):
    low, high = normal_cdf(np.array([x, -x]))
    assert 0.0 <= low <= 1.0
    assert low + high == pytest.approx(1.0, abs=3e-16)


# --- reductions -------------------------------------------------------------------------------


@st.composite
def reduction(draw, min_side=0):
    """An array, some of its axes as NumPy spells them, and keepdims."""
    x = draw(arrays(draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=min_side, max_side=3))))
    axis = draw(
        st.none()
        | st.integers(-x.ndim, x.ndim - 1)
        | st.lists(st.integers(0, x.ndim - 1), unique=True).map(tuple)
    )
    return x, axis, draw(st.booleans())


@pytest.mark.parametrize("name", REDUCING)
@given(st.data())
@quick
def test_reductions_over_any_axes(name, data):
    function, reference = REDUCING[name]
    x, axis, keepdims = data.draw(reduction(min_side=0 if name == "sum" else 1))
    options = {"axis": axis, "keepdims": keepdims}
    assert_right(lambda x: function(x, **options), lambda x: reference(x, **options), x)


@pytest.mark.parametrize("name", ALONG)
@given(reduction(min_side=1))
@quick
def test_softmax_along_any_axes(name, drawn):
    function, reference = ALONG[name]
    x, axis, _ = drawn
    assert_right(lambda x: function(x, axis), lambda x: reference(x, axis=axis), x)


@pytest.mark.parametrize("function", [pair[0] for pair in (REDUCING | ALONG).values()])
@pytest.mark.parametrize(
    "axis",
    [2, -3, (0, 0), (0, -2), (0, 5), 2**64, pytest.param(-(10**5000), id="5000 digits")],
)
def test_axes_that_are_not_there_are_refused(function, axis):
    with pytest.raises(errors.ShapeMismatch) as refused:
        function(parameter([[1.0, 2.0]]), axis=axis)
    assert "(1, 2)" in str(refused.value)


@pytest.mark.parametrize("axis", [1.0, True, "0", [0], (0, None)])
def test_axes_are_integers(axis):
    with pytest.raises(errors.WrongType):
        autodiff.sum([[1.0, 2.0]], axis=axis)


def test_reducing_nothing():
    nothing = parameter(np.empty((2, 0)))
    assert autodiff.sum(nothing).value == 0.0
    for function in (autodiff.max, autodiff.logsumexp, autodiff.softmax, autodiff.log_softmax):
        with pytest.raises(errors.ShapeMismatch):
            function(nothing, axis=1)
    assert autodiff.max(nothing, axis=0).shape == (0,)
    assert autodiff.softmax(nothing, axis=0).shape == (2, 0)
    with pytest.raises(errors.NonFiniteForward) as refused:
        autodiff.mean(nothing)
    assert refused.value.operation == "mean"


def test_ties_share_equally():
    assert gradient(autodiff.max, [2.0, 5.0, 5.0, 5.0, 5.0]).tolist() == [0, 0.25, 0.25, 0.25, 0.25]
    by_row = gradient(lambda x: autodiff.max(x, axis=1), [[1.0, 1.0], [0.0, 3.0]])
    assert by_row.tolist() == [[0.5, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize("x", [-1e300, -1000.0, 0.0, 1000.0, 1e300])
def test_exponentials_of_anything(x):
    assert autodiff.logsumexp([x]).value == x
    assert autodiff.log_softmax([x]).value == 0.0
    assert autodiff.softmax([x, x]).value.tolist() == [0.5, 0.5]
    np.testing.assert_allclose(autodiff.logsumexp([x, x]).value, x + math.log(2.0), rtol=1e-15)
    assert gradient(autodiff.logsumexp, [x, x]).tolist() == [0.5, 0.5]
    assert autodiff.log_softmax([x, -x]).value.max() == (-math.log(2.0) if x == 0 else 0.0)
    assert np.isfinite(gradient(lambda v: autodiff.log_softmax(v).sum(), [x, -x])).all()


@given(arrays((3, 4)), st.floats(-1e3, 1e3))
@quick
def test_softmax_ignores_a_shift_and_adds_up_to_one(x, shift):
    y = autodiff.softmax(x).value
    np.testing.assert_allclose(autodiff.softmax(x + shift).value, y, rtol=1e-9)
    np.testing.assert_allclose(y.sum(axis=1), 1.0, rtol=1e-15)


# --- shapes -----------------------------------------------------------------------------------


@given(st.data())
@quick
def test_reshape_and_transpose(data):
    x = data.draw(arrays(data.draw(SHAPES)))
    order = tuple(data.draw(st.permutations(range(x.ndim))))
    signed = tuple(axis - x.ndim * data.draw(st.integers(0, 1)) for axis in order)
    assert_right(lambda x: autodiff.transpose(x, signed), lambda x: x.transpose(order), x)
    assert_right(autodiff.transpose, np.transpose, x)
    shape = tuple(reversed(x.shape))
    assert_right(lambda x: autodiff.reshape(x, shape), lambda x: x.reshape(shape), x)
    if x.size:
        assert_right(lambda x: autodiff.reshape(x, -1), np.ravel, x)


@given(hnp.mutually_broadcastable_shapes(num_shapes=1, base_shape=(2, 3, 2)), st.data())
@quick
def test_broadcast_to(shapes, data):
    (small,), full = shapes.input_shapes, shapes.result_shape
    x = data.draw(arrays(small))
    assert_right(lambda x: autodiff.broadcast_to(x, full), lambda x: np.broadcast_to(x, full), x)


@given(st.integers(-2, 1), st.lists(st.integers(0, 3), min_size=1, max_size=3), st.data())
@quick
def test_concatenate(axis, lengths, data):
    parts = [data.draw(arrays((n, 2) if axis in (0, -2) else (2, n))) for n in lengths]
    assert_right(
        lambda *parts: autodiff.concatenate(parts, axis),
        lambda *parts: np.concatenate(parts, axis),
        *parts,
    )


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3), st.data())
@quick
def test_where(shapes, data):
    first, second, third = shapes.input_shapes
    chosen = data.draw(hnp.arrays(np.bool_, first))
    a, b = data.draw(arrays(second)), data.draw(arrays(third))
    assert_right(
        lambda a, b: autodiff.where(chosen, a, b), lambda a, b: np.where(chosen, a, b), a, b
    )


@given(st.data())
@quick
def test_gather_rows(data):
    table = data.draw(arrays((3, *data.draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=2)))))
    ids = data.draw(hnp.arrays(np.int32, hnp.array_shapes(max_dims=2, max_side=4),
                               elements=st.integers(0, 2)))  # fmt: skip
    assert_right(lambda t: autodiff.gather_rows(t, ids), lambda t: t[ids], table)


def test_gathering_counts_how_often():
    ids = [1, 1, 3, 1]
    collected = gradient(lambda t: autodiff.gather_rows(t, ids), np.zeros((4, 2)))
    assert collected[:, 0].tolist() == np.bincount(ids, minlength=4).tolist()


def test_gathering_keeps_ids_of_its_own():
    ids, table = np.array([0, 1]), parameter([[1.0], [2.0]])
    rows = autodiff.gather_rows(table, ids)
    ids[:] = 1
    rows.backward([[1.0], [10.0]])
    assert table.grad.tolist() == [[1.0], [10.0]]


@pytest.mark.parametrize(
    ("ids", "error"),
    [
        ([0, 3], errors.OutOfRange),
        ([-1], errors.OutOfRange),
        (np.array([2**63], dtype=np.uint64), errors.OutOfRange),
        ([0.0], errors.WrongType),
        ([True], errors.WrongType),
        ([[0], [0, 1]], errors.WrongType),
        ("0", errors.WrongType),
        (None, errors.WrongType),
    ],
)
def test_ids_are_integers_within_the_table(ids, error):
    with pytest.raises(error):
        autodiff.gather_rows(parameter([[1.0], [2.0], [3.0]]), ids)


def test_the_first_id_that_is_no_row_is_named():
    with pytest.raises(errors.OutOfRange) as caught:
        autodiff.gather_rows(parameter([[1.0], [2.0]]), [0, 5, -1])
    assert caught.value.given == 5


def test_an_id_beyond_every_index_is_reported_as_given():
    with pytest.raises(errors.OutOfRange) as refused:
        autodiff.gather_rows([[1.0]], np.array([0, 2**64 - 1], dtype=np.uint64))
    assert (refused.value.subject, refused.value.given) == ("row ids", 2**64 - 1)


@pytest.mark.parametrize(
    "refuse",
    [
        lambda x: autodiff.reshape(x, (4, 2)),
        lambda x: autodiff.reshape(x, (-1, -1)),
        lambda x: autodiff.reshape(x, (-1, 4)),
        lambda x: autodiff.transpose(x, (0, 0)),
        lambda x: autodiff.transpose(x, (0,)),
        lambda x: autodiff.transpose(x, (0, 2)),
        lambda x: autodiff.broadcast_to(x, (3, 2)),
        lambda x: autodiff.broadcast_to(x, (-1, 2, 3)),
        lambda x: autodiff.concatenate([x, [[1.0, 2.0]]]),
        lambda x: autodiff.concatenate([x, [1.0, 2.0, 3.0]]),
        lambda x: autodiff.concatenate([x, x], axis=2),
        lambda x: autodiff.concatenate([x, x], axis=2**64),
        lambda x: autodiff.concatenate([x, x], axis=10**5000),
        lambda x: autodiff.transpose(x, (0, 10**5000)),
        lambda x: autodiff.concatenate([1.0, 2.0]),
        lambda x: autodiff.concatenate([]),
        lambda x: autodiff.where([True, False], x, 0.0),
        lambda x: autodiff.gather_rows(1.0, [0]),
    ],
)
def test_shapes_that_do_not_fit(refuse):
    with pytest.raises(errors.ShapeMismatch):
        refuse(parameter(np.ones((2, 3))))


@pytest.mark.parametrize(
    "refuse",
    [
        lambda x: autodiff.reshape(x, 6.0),
        lambda x: autodiff.reshape(x, (True, 6)),
        lambda x: autodiff.reshape(x, [3, 2]),
        lambda x: autodiff.transpose(x, (0, 1.0)),
        lambda x: autodiff.broadcast_to(x, (None, 3)),
        lambda x: autodiff.concatenate(x),
        lambda x: autodiff.concatenate([x], axis=None),
        lambda x: autodiff.concatenate(5),
        lambda x: autodiff.where([1, 0, 1], x, x),
        lambda x: autodiff.where([[True], [True, False]], x, x),
    ],
)
def test_arguments_of_the_wrong_type(refuse):
    with pytest.raises(errors.WrongType):
        refuse(parameter(np.ones((2, 3))))


# --- products ---------------------------------------------------------------------------------


@st.composite
def factors(draw):
    """Two arrays that NumPy multiplies: vectors, matrices, batches that broadcast, empty ones."""
    shapes = draw(hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=1,
                                                    min_side=0, max_side=3))  # fmt: skip
    return [draw(arrays(shape)) for shape in shapes.input_shapes]


@given(factors())
@settings(parent=quick, max_examples=60)
def test_matmul_as_numpy(pair):
    assert_right(autodiff.matmul, np.matmul, *pair, atol=1e-13)


@given(st.lists(st.integers(0, 3), max_size=2), st.booleans(), st.data())
@quick
def test_linear_is_a_product_and_a_sum(leading, with_bias, data):
    fan_in, fan_out = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))
    values = [data.draw(arrays((*leading, fan_in))), data.draw(arrays((fan_in, fan_out)))]
    if with_bias:
        values.append(data.draw(arrays((fan_out,))))

    def reference(x, w, b=0.0):
        return x @ w + b

    assert_right(autodiff.linear, reference, *values, atol=1e-13)
    seed = np.ones((*leading, fan_out))
    leaves, twins = [[parameter(value) for value in values] for _ in range(2)]
    autodiff.linear(*leaves).backward(seed)
    reference(*twins).backward(seed)
    for leaf, twin in zip(leaves, twins, strict=True):
        np.testing.assert_allclose(leaf.grad, twin.grad, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "shapes",
    [((2, 3), (2, 3)), ((3,), (2, 3)), ((), (2, 3)), ((2, 3), ()), ((2, 2, 3), (3, 3, 2))],
)
def test_products_of_unlike_shapes(shapes):
    x, y = (parameter(np.ones(shape)) for shape in shapes)
    with pytest.raises(errors.ShapeMismatch) as refused:
        x @ y
    assert refused.value.given == shapes


def test_linear_on_constant_rows_of_any_shape_has_a_gradient_for_its_weights_alone():
    rows, weight = np.arange(12.0).reshape(2, 3, 2), parameter(np.ones((2, 1)))
    autodiff.linear(rows, weight).backward(np.ones((2, 3, 1)))
    assert weight.grad.tolist() == [[30.0], [36.0]]


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (2, 3)),
        ((), (1, 2)),
        ((2, 3), (3,)),
        ((2, 3), (1, 3, 2)),
        ((2, 3), (3, 2), (3,)),
        ((2, 3), (3, 2), (1, 2)),
        ((2, 3), (3, 2), ()),
    ],
)
def test_linear_wants_a_matrix_and_a_row_of_its_width(shapes):
    with pytest.raises(errors.ShapeMismatch) as refused:
        autodiff.linear(*[parameter(np.ones(shape)) for shape in shapes])
    assert refused.value.given == shapes


@pytest.mark.parametrize("product", [autodiff.matmul, autodiff.linear])
def test_a_constant_factor_is_skipped_only_if_nothing_can_overflow(product):
    weight = parameter([[1e200]])
    y = product(constant([[1.0]]), weight)
    assert y._vjp(np.ones((1, 1)))[0] is not None  # ‖weight‖² is no proof
    with pytest.raises(errors.NonFiniteVjp) as refused:
        y.backward([[1e200]])
    assert (refused.value.operation, refused.value.operand) == (product.__name__, 0)
    small = product(constant([[1.0]]), parameter([[2.0]]))
    assert small._vjp(np.ones((1, 1)))[0] is None


# --- losses -----------------------------------------------------------------------------------


@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3), st.data())
@quick
def test_cross_entropy(shape, data):
    logits = data.draw(arrays(shape))
    targets = data.draw(hnp.arrays(np.int64, shape[:-1], elements=st.integers(0, shape[-1] - 1)))

    def reference(x):
        picked = np.take_along_axis(np.log(softmax(x)), targets[..., None], axis=-1)
        return -picked.mean()

    assert_right(lambda x: autodiff.cross_entropy(x, targets), reference, logits)


def test_cross_entropy_is_predicted_minus_actual():
    logits = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
    found = gradient(lambda x: autodiff.cross_entropy(x, [2, 0]), logits)
    expected = (softmax(logits) - np.eye(3)[[2, 0]]) / 2
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_the_gradient_of_a_loss_grows_with_its_seed_and_reaches_a_target_too():
    x, y = parameter([1.0, 4.0]), parameter([0.0, 2.0])
    autodiff.mean_squared_error(x, y).backward(seed=3.0)
    assert x.grad.tolist() == [3.0, 6.0]
    assert y.grad.tolist() == [-3.0, -6.0]
    target = parameter([0.0, 2.0])
    autodiff.mean_squared_error([1.0, 4.0], target).backward()
    assert target.grad.tolist() == [-1.0, -2.0]


def test_no_setting_of_numpy_reaches_a_loss():
    x = parameter([[0.0, -1000.0], [5e-324, 30.0]])
    with np.errstate(all="raise"):
        autodiff.cross_entropy(x, [0, 1]).backward()
        with pytest.raises(errors.NonFiniteForward):
            autodiff.mean_squared_error([1.7e308], [-1.7e308])
    assert np.isfinite(x.grad).all()


def test_cross_entropy_where_the_probability_underflows():
    logits = [[0.0, 1000.0], [1e300, -1e300]]
    assert autodiff.cross_entropy(logits[:1], [0]).value == 1000.0
    assert autodiff.cross_entropy(logits, [1, 0]).value == 0.0
    assert gradient(lambda x: autodiff.cross_entropy(x, [0, 1]), logits).tolist() == [
        [-0.5, 0.5],
        [0.5, -0.5],
    ]


@pytest.mark.parametrize(
    ("logits", "targets", "error"),
    [
        ([[0.0, 1.0]], [0.0], errors.WrongType),
        ([[0.0, 1.0]], [True], errors.WrongType),
        ([[0.0, 1.0]], [2], errors.OutOfRange),
        ([[0.0, 1.0]], [-1], errors.OutOfRange),
        ([[0.0, 1.0]], [0, 1], errors.ShapeMismatch),
        ([[0.0, 1.0]], 0, errors.ShapeMismatch),
        (0.0, 0, errors.ShapeMismatch),
        (np.empty((0, 2)), np.empty(0, dtype=int), errors.ShapeMismatch),
    ],
)
def test_cross_entropy_refuses(logits, targets, error):
    with pytest.raises(error):
        autodiff.cross_entropy(parameter(logits), targets)


@given(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3), st.data())
@quick
def test_mean_squared_error(shape, data):
    x, y = data.draw(arrays(shape)), data.draw(arrays(shape))
    assert_right(autodiff.mean_squared_error, lambda x, y: np.mean((x - y) ** 2), x, y)


@pytest.mark.parametrize("shapes", [((3, 1), (3,)), ((2,), ()), ((0,), (0,))])
def test_mean_squared_error_does_not_broadcast(shapes):
    with pytest.raises(errors.ShapeMismatch) as refused:
        autodiff.mean_squared_error(*[parameter(np.ones(shape)) for shape in shapes])
    assert refused.value.given == shapes


# --- the package ------------------------------------------------------------------------------

METHODS = ["exp", "log", "sqrt", "tanh", "sigmoid", "softplus", "silu", "gelu", "relu",
           "leaky_relu", "sum", "mean", "max", "logsumexp", "softmax", "log_softmax",
           "transpose"]  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_the_function_of_its_name(name):
    x = parameter([[0.5, 2.0], [1.5, 0.25]])
    by_method, by_function = getattr(x, name)(), getattr(autodiff, name)(x)
    assert by_method.operation == by_function.operation == name
    assert by_method.value.tobytes() == by_function.value.tobytes()


def test_methods_take_the_arguments_of_their_functions():
    x = parameter([[0.5, 2.0, 1.0], [1.5, 0.25, 3.0]])
    for name in ("sum", "mean", "max", "logsumexp"):
        assert getattr(x, name)(axis=1, keepdims=True).shape == (2, 1)
        assert getattr(x, name)(0).shape == (3,)
    assert x.softmax(axis=0).value.sum(axis=0) == pytest.approx([1.0, 1.0, 1.0])
    assert x.log_softmax(0).value.tobytes() == autodiff.log_softmax(x, 0).value.tobytes()
    assert (-x).leaky_relu(0.5).value.tolist() == (-0.5 * x.value).tolist()
    assert autodiff.leaky_relu([-1.0, 1.0]).value.tolist() == [-0.01, 1.0]
    assert x.T.shape == x.transpose().shape == x.transpose(1, 0).shape == (3, 2)
    assert x.transpose((1, 0)).shape == (3, 2)
    assert x.reshape(3, 2).shape == x.reshape((3, 2)).shape == x.reshape(-1, 2).shape == (3, 2)
    assert x.reshape(6).reshape(1, 6).broadcast_to(2, 6).shape == (2, 6)
    assert parameter(2.0).reshape().shape == ()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "leaky_relu", "sum", "mean", "max"])
def test_methods_have_the_defaults_of_their_functions(name):
    x = parameter(np.linspace(-1.0, 1.0, 12).reshape(2, 3, 2))
    method, function = getattr(x, name)(), getattr(autodiff, name)(x)
    assert method.value.tobytes() == function.value.tobytes()


def test_every_operation_is_public_and_names_itself():
    for name in ops.__all__:
        assert getattr(autodiff, name) is getattr(ops, name)
        assert getattr(ops, name).__doc__
    tested = {*UNARY, *BINARY, *REDUCING, *ALONG, "reshape", "transpose", "broadcast_to",
              "concatenate", "where", "gather_rows", "matmul", "linear", "cross_entropy",
              "mean_squared_error"}  # fmt: skip
    assert set(ops.__all__) <= tested


def test_every_public_method_has_help():
    public = {name: one for name, one in vars(autodiff.Tensor).items() if not name.startswith("_")}
    assert [name for name, one in public.items() if callable(one) and not one.__doc__] == []
    assert "coursekit.autodiff.sum" in autodiff.Tensor.sum.__doc__
