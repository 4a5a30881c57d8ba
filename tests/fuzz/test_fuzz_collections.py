"""Collections against a plain list of names and numbers."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from effort import runs
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from coursekit.errors import CourseError, DuplicateName, WrongType
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.rng import SplitMix64

NAMES = st.sampled_from(["a", "b", "b.0", "layer.0.weight", "layer.0.bias", "__metadata__", "9"])
STRANGERS = [None, "a", 3, np.zeros(2), ("a", [1.0])]


class Entry:
    """What a parameter must go on being: a name, a rule, the leaf it shares, and its numbers."""

    def __init__(self, parameter, leaf, name, rule_, values):
        self.parameter, self.leaf = parameter, leaf
        self.name, self.rule, self.values = name, rule_, values


class Collections(RuleBasedStateMachine):
    parameters = Bundle("parameters")
    collections = Bundle("collections")

    def __init__(self):
        super().__init__()
        self.rng, self.draws = SplitMix64(5), 0
        self.made = []  # (collection, its entries)
        self.gradients = {}  # leaf → what backward has brought
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self):
        self.folder.cleanup()

    @initialize(target=parameters)
    def begin(self):
        made = NamedParameter.ones("first", 2)
        return Entry(made, object(), "first", "ones", [1.0, 1.0])

    @rule(target=parameters, name=NAMES, fan_in=st.integers(1, 4), fan_out=st.integers(1, 4))
    def sample(self, name, fan_in, fan_out):
        twin = SplitMix64(5).advance(self.draws)
        made = NamedParameter.he_uniform(name, fan_in, fan_out, self.rng)
        limit = (6.0 / fan_in) ** 0.5
        expected = twin.symmetric(limit, (fan_in, fan_out))
        np.testing.assert_allclose(made.value, expected, rtol=1e-15)
        self.draws += fan_in * fan_out
        return Entry(made, object(), name, "he_uniform", made.value.tolist())

    @rule(target=parameters, name=NAMES, values=st.lists(st.floats(-1e300, 1e300), max_size=4))
    def carry(self, name, values):
        made = NamedParameter.from_array(name, np.array(values))
        return Entry(made, object(), name, "array", values)

    @rule(target=parameters, entry=parameters)
    def clone(self, entry):
        return Entry(entry.parameter.clone(), entry.leaf, entry.name, entry.rule, entry.values)

    @rule(name=NAMES, fan=st.sampled_from([0, -1, 2.0, 2**64]))
    def refused_sample(self, name, fan):
        with pytest.raises(CourseError):
            NamedParameter.xavier_normal(name, fan, 2, self.rng)

    @rule(target=collections, entries=st.lists(parameters, max_size=5))
    def collect(self, entries):
        names = [entry.name for entry in entries]
        again = [k for k, name in enumerate(names) if name in names[:k]]
        if again:
            with pytest.raises(DuplicateName) as caught:
                NamedParameters(entry.parameter for entry in entries)
            first = names.index(names[again[0]])
            error = caught.value
            assert (error.name, error.first, error.repeated) == (names[first], first, again[0])
            return multiple()
        made = NamedParameters([entry.parameter for entry in entries])
        self.made.append((made, entries))
        return made, entries

    @rule(collected=collections, stranger=st.sampled_from(STRANGERS), place=st.integers(0, 5))
    def refused_stranger(self, collected, stranger, place):
        mixed = list(collected[0])
        mixed.insert(place, stranger)
        with pytest.raises(WrongType):
            NamedParameters(mixed)

    @rule(target=collections, collected=collections, cut=st.slices(5))
    def take_a_slice(self, collected, cut):
        made = collected[0][cut], collected[1][cut]
        self.made.append(made)
        return made

    @rule(target=collections, collected=collections, seed=st.none() | st.integers(0, 2**64 - 1))
    def save_and_load(self, collected, seed):
        collection, entries = collected
        path = Path(self.folder.name, "saved")
        collection.save(path, seed=seed, state=self.rng.state)
        loaded = NamedParameters.load(path)
        assert (loaded.seed, loaded.state) == (seed, self.rng.state)
        fresh = [
            Entry(one, object(), entry.name, entry.rule, entry.values)
            for one, entry in zip(loaded, entries, strict=True)
        ]
        self.made.append((loaded, fresh))
        return loaded, fresh

    @rule(collected=collections, weight=st.sampled_from([-2.0, 0.5, 3.0]))
    def learn(self, collected, weight):
        for entry in collected[1]:
            (entry.parameter.tensor.sum() * weight).backward()
            self.gradients[entry.leaf] = self.gradients.get(entry.leaf, 0.0) + weight

    @rule(collected=collections)
    def clear(self, collected):
        collected[0].zero_grad()
        self.gradients.update((entry.leaf, 0.0) for entry in collected[1])

    @rule(collected=collections, name=NAMES)
    def look_up(self, collected, name):
        collection, entries = collected
        found = [entry.parameter for entry in entries if entry.name == name]
        assert (name in collection) == bool(found)
        assert collection.get(name) is (found[0] if found else None)
        if found:
            assert collection[name] is found[0]
        else:
            with pytest.raises(KeyError):
                collection[name]

    @invariant()
    def every_collection_is_what_it_was(self):
        assert self.rng == SplitMix64(5).advance(self.draws)
        for collection, entries in self.made:
            assert collection.names == tuple(entry.name for entry in entries)
            assert len(collection) == len(entries)
            assert collection.element_count == sum(np.size(entry.values) for entry in entries)
            for one, entry in zip(collection, entries, strict=True):
                assert (one.name, one.rule) == (entry.name, entry.rule)
                assert one.value.tolist() == entry.values
                assert (one.grad == self.gradients.get(entry.leaf, 0.0)).all()


TestCollections = Collections.TestCase
TestCollections.settings = runs(40, steps=20)
