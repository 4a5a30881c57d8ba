"""The tape against recursion: random graphs, random lives of graphs, and central differences."""

from contextlib import suppress

import numbers_with_edges as plain
import numpy as np
import pytest
from effort import examples, runs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule
from numbers_with_edges import derivative, numbers, values_of

from coursekit import autodiff
from coursekit.autodiff import constant, gradcheck, no_grad, parameter
from coursekit.errors import (
    AutodiffError,
    GraphReleased,
    ReleasedOperand,
    ShapeMismatch,
    StaleOperandValue,
    UntrackedOutput,
)

# Name → how many operands, the operation on tensors, the same on arrays of plain numbers. Where
# the operators of both are enough, one line serves for both.
BOTH = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, lambda a, b: a / (b * b + 0.5)),
    "neg": (1, lambda a: -a),
    "matmul": (2, lambda a, b: a @ b),
    "twice": (1, lambda a: a + a * 0.5),
    "reversed": (1, lambda a: a.transpose()),
    "flat": (1, lambda a: a.reshape(-1)),
    "sum": (1, lambda a: a.sum()),
}
OPERATIONS = {
    **{name: (count, both, both) for name, (count, both) in BOTH.items()},
    "sum of columns": (1, lambda a: a.sum(axis=0), lambda a: plain.total(a.T).T),
    "cube": (1, lambda a: a**3, plain.cube),
    "tanh": (1, autodiff.tanh, plain.tanh),
    "exp": (1, autodiff.exp, plain.exp),
    "log": (1, lambda a: autodiff.log(a * a + 0.5), lambda a: plain.log(as_array(a * a + 0.5))),
    "sqrt": (1, lambda a: autodiff.sqrt(a * a + 0.5), lambda a: plain.sqrt(as_array(a * a + 0.5))),
    "sigmoid": (1, autodiff.sigmoid, plain.sigmoid),
    "relu": (1, autodiff.relu, plain.relu),
    "mean": (1, lambda a: a.mean(axis=-1), plain.average),
    "sum of rows": (1, lambda a: a.sum(axis=-1), plain.total),
    "max": (1, lambda a: a.max(axis=-1), plain.largest),
    "logsumexp": (1, lambda a: a.logsumexp(axis=-1), plain.logsumexp),
    "softmax": (1, lambda a: a.softmax(), plain.softmax),
    "concatenate": (2, lambda a, b: autodiff.concatenate([a, b], -1), lambda a, b: joined(a, b)),
    "where": (
        2,
        lambda a, b: autodiff.where([True, False], a, b),
        lambda a, b: np.where([True, False], a, b),
    ),
    "gather": (1, lambda a: autodiff.gather_rows(a, [0, 0, 0]), lambda a: a[[0, 0, 0]]),
    "linear": (3, autodiff.linear, lambda x, w, b: linear(x, w, b)),
    "broadcast": (1, lambda a: a.broadcast_to(2, 2), lambda a: np.broadcast_to(a, (2, 2))),
}
NAMES = st.sampled_from(["add"] * 12 + sorted(OPERATIONS))  # sums make the graphs that share
SHAPES = st.sampled_from([(2, 2)] * 4 + [(), (1,), (2,), (1, 2), (2, 1)])
EIGHTHS = st.integers(-16, 16).map(lambda k: k / 8.0)  # coarse, so that maxima tie
SEEDS = st.lists(EIGHTHS, min_size=36, max_size=36)


def as_array(nums):
    return np.asarray(nums, dtype=object)


def joined(a, b):
    return np.concatenate([a, b], axis=-1)


def linear(x, w, b):
    if not x.ndim or w.ndim != 2 or b.shape != w.shape[1:]:
        raise ValueError("no linear layer")
    return x @ w + b


def arrays(shape):
    size = int(np.prod(shape))
    drawn = st.lists(EIGHTHS, min_size=size, max_size=size)
    return drawn.map(lambda values: np.array(values).reshape(shape))


class Node:
    """What the model knows of a tensor: its numbers, and the nodes that it was recorded from."""

    def __init__(self, tensor, nums, uses=(), tracks=False):
        self.tensor, self.nums, self.tracks = tensor, nums, tracks
        self.uses = [(operand, operand.nums) for operand in uses]  # as they were then
        self.released = False
        self.grad = self.size = 0.0  # collected gradient, and the size of what was summed up

    def history(self):
        """Itself and everything it was computed from, by recursion, each once."""
        found = {id(self): self}
        for operand, _ in self.uses:
            found.update((id(node), node) for node in operand.history())
        return list(found.values())

    def is_released(self):
        return any(node.released for node in self.history())


class Tape(RuleBasedStateMachine):
    nodes = Bundle("nodes")
    leaves = Bundle("leaves")

    def __init__(self):
        super().__init__()
        self.all = []

    def kept(self, tensor, nums, uses=(), tracks=False):
        self.all.append(Node(tensor, nums, uses, tracks))
        return self.all[-1]

    @initialize(targets=(nodes, leaves), values=SHAPES.flatmap(arrays))
    def begin(self, values):
        return self.make_a_parameter(values)

    @rule(targets=(nodes, leaves), values=SHAPES.flatmap(arrays))
    def make_a_parameter(self, values):
        return self.kept(parameter(values), numbers(values), tracks=True)

    @rule(target=nodes, values=SHAPES.flatmap(arrays))
    def make_a_constant(self, values):
        return self.kept(constant(values), numbers(values))

    @rule(
        target=nodes,
        name=NAMES,
        operands=st.lists(nodes, min_size=3, max_size=3),
        recording=st.sampled_from([True, True, True, False]),
    )
    def compute(self, name, operands, recording):
        count, operation, same = OPERATIONS[name]
        operands = operands[:count]

        def result():
            if recording:
                return operation(*[node.tensor for node in operands])
            with no_grad():
                return operation(*[node.tensor for node in operands])

        if any(node.is_released() for node in operands):
            with pytest.raises(ReleasedOperand):
                result()
            return multiple()
        try:
            nums = as_array(same(*[node.nums for node in operands]))
        except (ValueError, IndexError):
            with pytest.raises(ShapeMismatch):
                result()
            return multiple()
        if nums.size > 36 or np.abs(values_of(nums)).max() > 30.0:
            return multiple()
        tensor = result()
        assert tensor.shape == nums.shape
        np.testing.assert_allclose(tensor.value, values_of(nums), rtol=1e-12, atol=1e-12)
        tracks = recording and any(node.tracks for node in operands)
        if not tracks:
            nums = numbers(values_of(nums))
        return self.kept(tensor, nums, operands if tracks else (), tracks)

    @rule(target=nodes, node=nodes)
    def detach(self, node):
        return self.kept(node.tensor.detach(), numbers(values_of(node.nums)))

    @rule(node=nodes, seeds=SEEDS, retain=st.booleans())
    def backward(self, node, seeds, retain):
        seed = np.array(seeds[: node.nums.size]).reshape(node.nums.shape)
        history = [each for each in node.history() if each.tracks]
        stale = any(nums is not operand.nums for each in history for operand, nums in each.uses)
        refusal = (
            (not node.tracks and UntrackedOutput)
            or (node.is_released() and GraphReleased)
            or (stale and StaleOperandValue)
        )
        if refusal:
            with pytest.raises(refusal):
                node.tensor.backward(seed, retain_graph=retain)
            return
        node.tensor.backward(seed, retain_graph=retain)
        for leaf in history:
            if not leaf.uses and leaf.tensor.is_parameter:
                self.collect(leaf, node, seed)
            elif not retain:
                leaf.released = True

    def collect(self, leaf, node, seed):
        slopes, sizes = np.zeros(leaf.nums.shape), np.zeros(leaf.nums.shape)
        for place in np.ndindex(leaf.nums.shape):
            known = {}
            for num, weight in zip(node.nums.flat, seed.flat, strict=True):
                slope, size = derivative(num, leaf.nums[place], known)
                slopes[place] += weight * slope
                sizes[place] += abs(weight) * size
        leaf.grad, leaf.size = leaf.grad + slopes, leaf.size + sizes

    @rule(leaf=leaves)
    def zero_grad(self, leaf):
        leaf.tensor.zero_grad()
        leaf.grad = leaf.size = 0.0

    @rule(leaf=leaves, data=st.data())
    def assign(self, leaf, data):
        values = data.draw(arrays(leaf.nums.shape))
        leaf.tensor.assign(values)
        leaf.nums = numbers(values)

    @rule(node=nodes)
    def refused_seed(self, node):
        with pytest.raises(AutodiffError):
            node.tensor.backward(np.ones((3, 3, 3)))

    @invariant()
    def gradients_and_values_are_those_of_the_model(self):
        for node in self.all:
            np.testing.assert_allclose(node.tensor.value, values_of(node.nums), atol=1e-12)
            if node.tensor.is_parameter:
                error = np.abs(node.tensor.grad - node.grad)
                assert (error <= 1e-12 * (1.0 + np.asarray(node.size))).all()
            else:
                assert node.tensor.grad is None
            assert node.tensor.is_released == node.is_released()


TestTape = Tape.TestCase
TestTape.settings = runs(50, steps=25)


@given(
    st.lists(SHAPES.flatmap(arrays), min_size=1, max_size=3),
    st.lists(
        st.tuples(NAMES, *[st.integers(0, 9)] * 3),
        min_size=1,
        max_size=8,
    ),
)
@examples(200)
def test_random_programs_have_the_slopes_that_differences_measure(points, program):
    points = [point + 0.013 * (k + 1) for k, point in enumerate(points)]  # off the kinks at 0

    def run(*tensors):
        nodes = list(tensors)
        for name, *places in program:
            count, operation, _ = OPERATIONS[name]
            operands = [nodes[place % len(nodes)] for place in places[:count]]
            with suppress(ShapeMismatch):
                nodes.append(autodiff.tanh(operation(*operands)))
        return nodes[-1] * 1.0

    report = gradcheck(run, *points)
    assert report.ok, str(report)
