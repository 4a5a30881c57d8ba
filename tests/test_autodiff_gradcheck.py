"""The checker itself: it passes what is right, names what is wrong, and knows a kink."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coursekit import autodiff, errors
from coursekit.autodiff import Coordinate, constant, gradcheck, no_grad, record
from coursekit.rng import SplitMix64


def scaled_vjp(function, factor, only=None):
    """`function` with a derivative that is wrong by `factor`, everywhere or at one flat index."""

    def wrong(x):
        y = function(constant(x.value))

        def vjp(adjoint):
            leaf = autodiff.parameter(x.value)
            function(leaf).backward(adjoint)
            factors = np.full(x.value.size, factor)
            if only is not None:
                factors = np.where(np.arange(x.value.size) == only, factor, 1.0)
            return (leaf.grad * factors.reshape(x.shape),)

        return record("wrong", y.value.copy(), (x,), vjp)

    return wrong


def test_the_report_of_a_right_derivative():
    report = gradcheck(autodiff.mul, [[1.0, 2.0]], [[3.0], [4.0]])
    assert report.ok
    assert bool(report)
    assert report.checked == 4
    assert report.failures == report.kinks == ()
    assert report.worst.error < 1e-9
    assert report.tolerance == 1e-6
    assert str(report).startswith("4 coordinates agree, tolerance 1e-06\nworst: argument ")


@given(st.integers(0, 5), st.floats(0.0, 2.0))
def test_one_wrong_coordinate_is_found_and_shown(place, factor):
    assume(abs(factor - 1.0) > 1e-5)
    point = np.linspace(0.5, 1.5, 6).reshape(2, 3)
    report = gradcheck(scaled_vjp(autodiff.exp, factor, only=place), point)
    assert not report.ok
    assert not report
    (found,) = report.failures
    assert report.worst == found
    assert found.argument == 0
    assert found.index == tuple(np.unravel_index(place, (2, 3)))
    assert found.claimed == pytest.approx(factor * found.measured, rel=1e-8)
    text = str(report)
    assert "1 of 6 coordinates differ" in text
    assert repr(found.claimed) in text
    assert repr(found.measured) in text


def test_errors_that_cancel_in_a_plain_sum_are_found():
    def swapped(x):  # hands each element the adjoint of the other
        return record("swapped", x.value * 1.0, (x,), lambda adjoint: (adjoint[::-1].copy(),))

    assert len(gradcheck(swapped, [1.0, 2.0]).failures) == 2


def test_a_forgotten_dependence_is_found():
    report = gradcheck(lambda x: x.detach() * 2.0, [1.0])
    assert [found.claimed for found in report.failures] == [0.0]
    assert gradcheck(lambda x: constant([7.0]) + constant([1.0]), [1.0]).ok


def test_several_arguments_are_told_apart():
    def wrong_in_the_second(a, b):
        def vjp(adjoint):
            return adjoint * b.value, adjoint * 0.0

        return record("half", a.value * b.value, (a, b), vjp)

    report = gradcheck(wrong_in_the_second, [1.0, 2.0], [3.0, 4.0])
    assert [found.argument for found in report.failures] == [1, 1]


@pytest.mark.parametrize("x", [1e-8, 1.0, 1e6, 1e9])
def test_the_step_grows_with_the_point(x):
    report = gradcheck(lambda x: x * x, [x])
    assert report.ok, str(report)


def test_the_spacing_really_taken_is_what_is_divided_by():
    # At 1 with a step of 1e-13, x + h and x − h are 1800 roundings apart; 2h would be off by 1e-4.
    report = gradcheck(lambda x: x * 1.0, [1.0], step=1e-13)
    assert report.worst.measured == 1.0
    assert report.worst.claimed == 1.0


# --- kinks ------------------------------------------------------------------------------------


def test_a_kink_is_reported_and_not_failed():
    report = gradcheck(autodiff.relu, [-1.0, 0.0, 1.0])
    assert report.ok
    (kink,) = report.kinks
    assert kink.index == (1,)
    assert kink.claimed == 0.0
    assert kink.left == pytest.approx(0.0, abs=1e-9)
    assert kink.right == pytest.approx(2 * kink.measured, rel=1e-9)
    assert kink.right > 0.5
    assert f"kink: {kink}, left slope" in str(report)
    assert report.worst.index != (1,)


def test_a_claim_that_no_slope_at_the_kink_supports_fails():
    def wrong(x):
        return record("wrong", np.abs(x.value), (x,), lambda adjoint: (3.0 * adjoint,))

    report = gradcheck(wrong, [0.0])
    assert not report.ok
    assert report.failures == report.kinks


@given(st.floats(-1e-4, 1e-4))
def test_points_near_a_kink_are_judged_by_smaller_steps(x):
    assume(abs(x) > 1e-9)
    report = gradcheck(autodiff.relu, [x])
    assert report.ok, str(report)
    if not report.kinks:
        assert report.worst.claimed == (0.0 if x < 0 else pytest.approx(report.worst.measured))


def test_tied_maxima_are_kinks():
    report = gradcheck(lambda x: autodiff.max(x), [1.0, 2.0, 2.0])
    assert report.ok
    assert [kink.index for kink in report.kinks] == [(1,), (2,)]


@pytest.mark.parametrize("curvature", [1.0, 1e3, 1e6, -1e6])
def test_strong_curvature_is_no_kink(curvature):
    report = gradcheck(lambda x: curvature * x * x + x, [0.3])
    assert report.ok, str(report)
    assert not report.kinks


# --- what is checked --------------------------------------------------------------------------


def test_a_sample_is_drawn_from_the_generator_that_is_passed():
    point, rng = np.linspace(-1.0, 1.0, 50).reshape(10, 5), SplitMix64(17)
    report = gradcheck(autodiff.tanh, point, sample=7, rng=rng)
    assert (report.ok, report.checked) == (True, 7)
    twin = SplitMix64(17)
    twin.permutation(50)
    assert rng == twin
    wrong_everywhere = scaled_vjp(autodiff.tanh, 2.0)
    again = gradcheck(wrong_everywhere, point, sample=7, rng=SplitMix64(17))
    places = {np.ravel_multi_index(found.index, (10, 5)) for found in again.failures}
    assert places == set(SplitMix64(17).permutation(50)[:7].tolist())
    everything = gradcheck(autodiff.tanh, point, sample=99, rng=SplitMix64(17))
    assert everything.checked == 50


def test_numpy_generators_draw_samples_too():
    report = gradcheck(autodiff.tanh, np.ones(9), sample=2, rng=np.random.default_rng(1))
    assert report.checked == 2


def test_nothing_to_check():
    report = gradcheck(autodiff.tanh, np.empty((0, 2)))
    assert (report.ok, report.checked, report.worst) == (True, 0, None)
    assert str(report) == "0 coordinates agree, tolerance 1e-06"


def test_the_point_is_left_as_it_was():
    point = np.array([1.0, 2.0])
    gradcheck(lambda x: x * x, point)
    assert point.tolist() == [1.0, 2.0]


def test_it_works_under_no_grad_only_as_a_constant_function():
    with no_grad():
        report = gradcheck(autodiff.tanh, [0.5])
    assert not report.ok
    assert report.worst.claimed == 0.0


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"step": 0.0}, errors.OutOfRange),
        ({"step": math.inf}, errors.OutOfRange),
        ({"step": 1e-300}, errors.OutOfRange),
        ({"step": "1e-6"}, errors.WrongType),
        ({"tolerance": -1e-6}, errors.OutOfRange),
        ({"tolerance": True}, errors.WrongType),
        ({"sample": 0, "rng": SplitMix64(1)}, errors.OutOfRange),
        ({"sample": 1.0, "rng": SplitMix64(1)}, errors.WrongType),
        ({"sample": 1}, errors.WrongType),
        ({"sample": 1, "rng": 5}, errors.WrongType),
    ],
)
def test_requests_without_a_meaning(options, error):
    with pytest.raises(error):
        gradcheck(autodiff.tanh, [0.5, 1.0], **options)


def test_points_and_results_are_checked():
    with pytest.raises(errors.WrongType):
        gradcheck(autodiff.tanh, [1, 2])
    with pytest.raises(errors.NonFiniteLeaf):
        gradcheck(autodiff.tanh, [math.nan])
    with pytest.raises(errors.WrongType):
        gradcheck(lambda x: x.value, [1.0])
    shapes = iter([(2,), (1,)])
    with pytest.raises(errors.ShapeMismatch):
        gradcheck(lambda x: autodiff.broadcast_to(x, next(shapes)), [1.0])


# --- the judgement on one coordinate, from numbers alone --------------------------------------


def coordinate(claimed=0.0, measured=0.0, left=0.0, right=0.0):
    return Coordinate(0, (), claimed, measured, left, right)


def test_errors_and_gaps_are_absolute_up_to_one_and_relative_beyond():
    assert coordinate(claimed=0.5, measured=0.25).error == 0.25
    assert coordinate(claimed=4.0, measured=3.0).error == 0.25
    assert coordinate(claimed=3.0, measured=-4.0).error == 7 / 4
    assert coordinate(left=0.5, right=0.25).gap == 0.25
    assert coordinate(left=-4.0, right=3.0).gap == 7 / 4


@pytest.mark.parametrize(
    ("low", "high", "slack"), [(0.0, 0.5, 0.25), (0.0, 1.0, 0.25), (-8.0, 2.0, 2.0), (0, 100, 25)]
)
def test_a_kink_admits_its_slopes_the_slack_and_no_more(low, high, slack):
    for left, right in ((low, high), (high, low)):
        for claimed in (low - slack, low, high, high + slack):
            assert coordinate(claimed, 0.0, left, right).is_between_slopes(0.25)
        for claimed in (low - 1.01 * slack, high + 1.01 * slack):
            assert not coordinate(claimed, 0.0, left, right).is_between_slopes(0.25)


def test_what_was_found_cannot_be_changed():
    report = gradcheck(autodiff.tanh, [0.5])
    for found, field in ((report, "checked"), (report.worst, "claimed")):
        with pytest.raises(FrozenInstanceError):
            setattr(found, field, 1)


def test_an_error_as_large_as_the_tolerance_is_admissible():
    half = scaled_vjp(lambda x: x * 0.5, 0.0)  # claims 0 where ½ is measured, to the last bit
    assert gradcheck(half, [1.0], step=2.0**-10, tolerance=0.5).ok
    assert not gradcheck(half, [1.0], step=2.0**-10, tolerance=0.499).ok
    with pytest.raises(errors.OutOfRange):
        gradcheck(half, [1.0], tolerance=0.0)


def test_the_weights_of_the_sum_are_these():
    seeds = []
    spy = lambda x: record("spy", x.value * 1.0, (x,), lambda g: (seeds.append(g) or g,))  # noqa: E731
    gradcheck(spy, [0.0] * 40)
    assert seeds[0][:4] == pytest.approx([1.0, 0.6180339887, 1.2360679775, 0.8541019662])
    assert len({round(weight, 9) for weight in seeds[0].tolist()}) == 40
    assert 0.5 <= min(seeds[0]) <= max(seeds[0]) < 1.5


@pytest.mark.parametrize("x", [0.0, 0.5, -1.0, 3.0])
def test_the_step_is_h_up_to_one_and_grows_beyond(x):
    seen = []
    gradcheck(lambda t: seen.append(float(t.value)) or t * 2.0, x, step=2.0**-10)
    assert sorted(seen) == [x - 2.0**-10 * max(1.0, abs(x)), x, x + 2.0**-10 * max(1.0, abs(x))]


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_step_that_moves_one_side_only_is_refused(x):
    with pytest.raises(errors.OutOfRange):  # beyond 1 the neighbours are twice as far apart
        gradcheck(lambda t: t * 2.0, x, step=1e-16)
