"""Names, leaves, collections, files, and the draws they take."""

import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit import errors, initializers
from coursekit.autodiff import parameter
from coursekit.parameters import NamedParameter, NamedParameters, validate_name
from coursekit.rng import SplitMix64

GOLDEN = Path(__file__).parent / "golden"
SAMPLERS = (
    "xavier_uniform",
    "xavier_normal",
    "he_uniform",
    "he_normal",
    "lecun_uniform",
    "lecun_normal",
    "truncated_normal",
    "orthogonal",
)


def golden(name):
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def named(*names):
    return [NamedParameter.zeros(name, 1) for name in names]


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "error", "fields"),
    [
        ("", errors.EmptyName, {}),
        (".", errors.EmptyNameSegment, {"index": 0}),
        (".a", errors.EmptyNameSegment, {"index": 0}),
        ("a.", errors.EmptyNameSegment, {"index": 2}),
        ("a..b", errors.EmptyNameSegment, {"index": 2}),
        ("a..B", errors.EmptyNameSegment, {"index": 2}),
        ("A..b", errors.InvalidNameCharacter, {"index": 0, "byte": 0x41}),
        ("Decoder.weight", errors.InvalidNameCharacter, {"index": 0, "byte": 0x44}),
        ("a b", errors.InvalidNameCharacter, {"index": 1, "byte": 0x20}),
        ("weight\n", errors.InvalidNameCharacter, {"index": 6, "byte": 0x0A}),
        ("a-b", errors.InvalidNameCharacter, {"index": 1, "byte": 0x2D}),
        ("a\0", errors.InvalidNameCharacter, {"index": 1, "byte": 0}),
        # An e with an accent is two bytes, an Arabic digit two, a face four.
        ("naïve", errors.InvalidNameCharacter, {"index": 2, "byte": 0xC3}),
        ("a٠", errors.InvalidNameCharacter, {"index": 1, "byte": 0xD9}),
        ("😀", errors.InvalidNameCharacter, {"index": 0, "byte": 0xF0}),
        ("a.\ud800", errors.InvalidNameCharacter, {"index": 2, "byte": 0xED}),
        ("a\udfff", errors.InvalidNameCharacter, {"index": 1, "byte": 0xED}),
    ],
)
def test_a_bad_name_is_refused_at_its_first_bad_byte(name, error, fields):
    with pytest.raises(error) as refusal:
        validate_name(name)
    assert type(refusal.value) is error
    assert vars(refusal.value) == fields
    assert isinstance(refusal.value, ValueError)


@pytest.mark.parametrize("name", [None, 3, b"a", ["a"], True, np.bytes_(b"a")])
def test_a_name_that_is_not_text_is_a_type_error(name):
    with pytest.raises(errors.WrongType, match="parameter name must be text"):
        validate_name(name)


LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"


@given(st.lists(st.text(LETTERS, min_size=1), min_size=1))
def test_every_name_of_the_grammar_is_accepted(segments):
    validate_name(".".join(segments))


@given(
    st.text(LETTERS + ".", min_size=1),
    st.characters(
        categories=["L", "N", "P", "S", "Z", "Cc", "Cs"], exclude_characters=LETTERS + "."
    ),
    st.text(),
)
def test_a_foreign_character_is_found_at_its_utf8_position(before, foreign, after):
    with pytest.raises(errors.InitializationError) as refusal:
        validate_name(before + foreign + after)
    if isinstance(refusal.value, errors.InvalidNameCharacter):
        assert refusal.value.index == len(before.encode())
        assert refusal.value.byte == foreign.encode("utf-8", "surrogatepass")[0]
    else:
        assert ".." in f".{before}"


# --- sampling -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", golden("init_errors.json"), ids=lambda case: repr(case["name"])[:24]
)
def test_the_first_error_and_the_generator_are_those_of_the_golden_figures(case):
    rng = SplitMix64(23)  # the seed those figures were made with
    request = (case["name"], case["fan_in"], case["fan_out"])
    if case["ok"]:
        made = NamedParameter.xavier_uniform(*request, rng)
        assert (made.name, made.shape) == (case["name"], request[1:])
        assert rng.state == int(case["state_after_hex"], 16)
        return
    with pytest.raises(errors.InitializationError) as refusal:
        NamedParameter.xavier_uniform(*request, rng)
    assert type(refusal.value).__name__ == case["variant"]
    assert rng.state == 23


def test_each_check_comes_before_the_next():
    huge, rng = 2**64 - 1, SplitMix64(17)
    order = [
        (("A", 0, 0), errors.InvalidNameCharacter),
        (("a", 0, 0), errors.ZeroFanIn),
        (("a", huge, 0), errors.ZeroFanOut),
        (("a", huge, 1), errors.FanSumOverflow),
        (("a", 2**62, 2**62), errors.ShapeProductOverflow),
        (("a", 2**61, 1), errors.AllocationFailed),
        (("a", 2**40, 1), errors.AllocationFailed),
    ]
    for request, error in order:
        with pytest.raises(error):
            NamedParameter.xavier_uniform(*request, rng)
        assert rng.state == 17


def test_a_leaf_that_cannot_be_made_leaves_the_generator_where_it_was(monkeypatch):
    def refuse(array):
        raise errors.NonFiniteLeaf(0, math.nan)

    rng = SplitMix64(17)
    monkeypatch.setattr("coursekit.parameters.parameter", refuse)
    with pytest.raises(errors.NonFiniteLeaf):
        NamedParameter.xavier_uniform("a", 3, 3, rng)
    assert rng.state == 17


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_gives_its_initializers_bits_and_draws(sampler):
    rng, plain = SplitMix64(5), SplitMix64(5)
    made = getattr(NamedParameter, sampler)("block.0.weight", 7, 5, rng)
    expected = getattr(initializers, sampler)(7, 5, plain)
    assert made.value.tobytes() == expected.tobytes()
    assert rng == plain
    assert (made.name, made.rule, made.shape) == ("block.0.weight", sampler, (7, 5))
    assert made.tensor.is_parameter
    assert not made.grad.any()


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("rng", [None, 17, np.random.default_rng(17)], ids=["none", "int", "numpy"])
def test_every_sampler_refuses_a_generator_of_another_kind(sampler, rng):
    with pytest.raises(errors.WrongType, match="SplitMix64"):
        getattr(NamedParameter, sampler)("a", 2, 2, rng)


def test_options_of_an_initializer_pass_through():
    made = NamedParameter.xavier_uniform("a", 4, 4, SplitMix64(1), gain=2.0)
    assert made.value.tobytes() == initializers.xavier_uniform(4, 4, SplitMix64(1), 2.0).tobytes()
    by_keyword = NamedParameter.he_normal(
        name="a", fan_in=4, fan_out=2, rng=SplitMix64(1), mode="fan_out"
    )
    plain = initializers.he_normal(4, 2, SplitMix64(1), "fan_out")
    assert by_keyword.value.tobytes() == plain.tobytes()


def test_the_help_of_a_constructor_shows_the_arguments():
    import inspect

    signature = inspect.signature(NamedParameter.xavier_uniform)
    assert list(signature.parameters) == ["name", "fan_in", "fan_out", "rng", "gain"]
    assert NamedParameter.xavier_uniform.__name__ == "xavier_uniform"


def test_fixed_starts():
    zeros, ones = NamedParameter.zeros("b", 3), NamedParameter.ones("g", (2, 2))
    constant = NamedParameter.constant("c", (2,), -0.5)
    identity = NamedParameter.identity("i", 2, gain=3.0)
    assert zeros.value.tolist() == [0.0, 0.0, 0.0]
    assert ones.value.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert constant.value.tolist() == [-0.5, -0.5]
    assert identity.value.tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert [one.rule for one in (zeros, ones, constant, identity)] == [
        "zeros",
        "ones",
        "constant",
        "identity",
    ]
    for start in (NamedParameter.zeros, NamedParameter.ones):
        with pytest.raises(errors.EmptyName):
            start("", -1)


def test_the_same_request_on_the_same_state_gives_the_same_bits_and_another_leaf():
    first = NamedParameter.xavier_uniform("w", 2, 2, SplitMix64(17))
    again = NamedParameter.xavier_uniform("w", 2, 2, SplitMix64(17))
    assert first.value.tobytes() == again.value.tobytes()
    assert not first.tensor.is_same_node(again.tensor)
    assert first.clone().tensor.is_same_node(first.tensor)
    assert copy.copy(first).tensor.is_same_node(first.tensor)


def test_an_earlier_matrix_shifts_the_draws_of_a_later_one():
    alone, shared = SplitMix64(17), SplitMix64(17)
    late = NamedParameter.xavier_uniform("late", 2, 2, alone)
    NamedParameter.xavier_uniform("early", 2, 2, shared)
    shifted = NamedParameter.xavier_uniform("late", 2, 2, shared)
    assert late.value.tobytes() != shifted.value.tobytes()
    expected = initializers.xavier_uniform(2, 2, SplitMix64(17).advance(4))
    assert shifted.value.tobytes() == expected.tobytes()


# --- values from outside ------------------------------------------------------------------------


def test_from_array_copies():
    given_array = np.array([1.0, 2.0])
    made = NamedParameter.from_array("a", given_array)
    given_array[0] = 9.0
    assert made.value.tolist() == [1.0, 2.0]
    assert made.rule == "array"
    with pytest.raises(ValueError, match="read-only"):
        made.value[0] = 3.0


@pytest.mark.parametrize(
    ("array", "error"),
    [
        ([1.0, math.nan], errors.NonFiniteLeaf),
        ([[-math.inf]], errors.NonFiniteLeaf),
        (["a"], errors.WrongType),
        ([True], errors.WrongType),
        ([1j], errors.WrongType),
        (None, errors.WrongType),
    ],
)
def test_from_array_refuses_what_is_no_finite_number(array, error):
    with pytest.raises(error):
        NamedParameter.from_array("a", array)
    with pytest.raises(errors.EmptyNameSegment):  # the name is checked first
        NamedParameter.from_array(".", array)


def test_a_named_parameter_is_not_made_from_nothing():
    with pytest.raises(TypeError, match="from_array"):
        NamedParameter()
    one = NamedParameter.zeros("a", 2)
    with pytest.raises(AttributeError):
        one.name = "b"
    with pytest.raises(AttributeError):
        one.tensor = parameter([1.0])


def test_a_pickled_parameter_keeps_name_rule_and_bits():
    one = NamedParameter.xavier_uniform("a", 2, 2, SplitMix64(17))
    other = pickle.loads(pickle.dumps(one))
    assert (other.name, other.rule, other.value.tobytes()) == (
        one.name,
        one.rule,
        one.value.tobytes(),
    )


# --- collections --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", golden("named_parameters.json"), ids=lambda case: str(case["names"])[:40]
)
def test_collections_are_those_of_the_golden_figures(case):
    parameters = named(*case["names"])
    if not case["ok"]:
        with pytest.raises(errors.DuplicateName) as refusal:
            NamedParameters(parameters)
        found = refusal.value
        assert (found.name, found.first, found.repeated) == (
            case["duplicate_name"],
            case["first"],
            case["repeated"],
        )
        return
    collection = NamedParameters(parameters)
    assert len(collection) == case["len"]
    assert (not collection) == case["is_empty"]
    assert list(collection.names) == case["order"]
    assert [one.name for one in collection] == case["order"]
    assert (collection.get("missing") is None) == case["get_missing_is_none"]


def test_lookup_by_name_position_and_slice():
    a, b, c = named("a", "b", "c")
    collection = NamedParameters([a, b, c])
    assert collection["b"] is collection[1] is collection[-2] is collection.get("b") is b
    assert collection[np.int64(2)] is c
    assert collection[1:].names == ("b", "c")
    assert "a" in collection
    assert b in collection
    assert "d" not in collection
    assert named("a")[0] not in collection
    assert None not in collection
    assert list(reversed(collection)) == [c, b, a]
    with pytest.raises(KeyError):
        collection["d"]
    with pytest.raises(IndexError):
        collection[3]


def test_a_collection_cannot_be_changed_through_the_list_it_came_from():
    parameters = named("a", "b")
    collection = NamedParameters(parameters)
    parameters.pop()
    assert collection.names == ("a", "b")
    with pytest.raises(TypeError):
        collection[0] = parameters[0]
    with pytest.raises(AttributeError):
        collection.names = ()


@pytest.mark.parametrize("wrong", [None, "a", parameter([1.0]), ["a"]])
def test_a_collection_takes_named_parameters_only(wrong):
    with pytest.raises(errors.WrongType, match="element 1"):
        NamedParameters([*named("a"), wrong])


def test_clones_of_one_parameter_repeat_its_name():
    (one,) = named("a")
    with pytest.raises(errors.DuplicateName):
        NamedParameters([one, one.clone()])


def test_counting_and_clearing():
    w = NamedParameter.from_array("w", [[1.0, 2.0]])
    collection = NamedParameters([w, *named("b")])
    assert collection.element_count == 3
    (w.tensor * w.tensor).sum().backward()
    assert w.grad.tolist() == [[2.0, 4.0]]
    collection.zero_grad()
    assert w.grad.tolist() == [[0.0, 0.0]]


@given(st.lists(st.sampled_from("abcde"), max_size=8))
def test_the_first_repetition_is_reported(names):
    parameters = named(*names)
    repeated = next((i for i, name in enumerate(names) if name in names[:i]), None)
    if repeated is None:
        assert list(NamedParameters(parameters).names) == names
    else:
        with pytest.raises(errors.DuplicateName) as refusal:
            NamedParameters(parameters)
        assert refusal.value.repeated == repeated
        assert refusal.value.first == names.index(names[repeated])


# --- files --------------------------------------------------------------------------------------


def a_start():
    rng = SplitMix64(17)
    start = NamedParameters(
        [
            NamedParameter.xavier_uniform("z.weight", 2, 3, rng),
            NamedParameter.zeros("z.bias", 3),
            NamedParameter.he_normal("a.weight", 3, 2, rng),
            NamedParameter.from_array("scale", -0.0),
            NamedParameter.zeros("empty", (0, 4)),
            NamedParameter.from_array("__metadata__", [5e-324, 1.7976931348623157e308]),
        ]
    )
    return start, rng.state


def test_a_round_trip_restores_names_order_bits_rules_seed_and_state(tmp_path):
    start, state = a_start()
    start.save(tmp_path / "start.safetensors", seed=17, state=state)
    again = NamedParameters.load(tmp_path / "start.safetensors")
    assert again.names == start.names
    assert (again.seed, again.state) == (17, state)
    for before, after in zip(start, again, strict=True):
        assert after.value.tobytes() == before.value.tobytes()
        assert (after.shape, after.rule) == (before.shape, before.rule)
        assert after.tensor.is_parameter
        assert not after.tensor.is_same_node(before.tensor)


def test_a_loaded_state_continues_the_stream(tmp_path):
    rng = SplitMix64(17)
    start = NamedParameters([NamedParameter.xavier_uniform("first", 2, 2, rng)])
    start.save(tmp_path / "start", seed=17, state=rng.state)
    resumed = SplitMix64.from_state(NamedParameters.load(tmp_path / "start").state)
    table = NamedParameter.xavier_uniform("token_embedding.weight", 4, 2, resumed)
    uninterrupted = NamedParameter.xavier_uniform("token_embedding.weight", 4, 2, rng)
    assert table.value.tobytes() == uninterrupted.value.tobytes()
    assert resumed.state == 0x6A99B4B1F77DD10D


def test_notes_are_optional_and_checked(tmp_path):
    path = tmp_path / "start"
    NamedParameters(named("a")).save(path)
    loaded = NamedParameters.load(path)
    assert (loaded.seed, loaded.state) == (None, None)
    before = path.read_bytes()
    for wrong in (-1, 2**64):
        with pytest.raises(errors.SeedError):
            NamedParameters(named("b")).save(path, seed=wrong)
        with pytest.raises(errors.SeedError):
            NamedParameters(named("b")).save(path, state=wrong)
    for wrong in (True, 1.0, "17"):
        with pytest.raises(errors.WrongType):
            NamedParameters(named("b")).save(path, seed=wrong)
    assert path.read_bytes() == before


def test_seed_and_state_are_told_apart_by_name(tmp_path):
    with pytest.raises(TypeError):
        a_start()[0].save(tmp_path / "start", 17)


def test_equal_starts_give_equal_files(tmp_path):
    for name in ("one", "two"):
        start, state = a_start()
        start.save(tmp_path / name, seed=17, state=state)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_an_empty_collection_makes_a_round_trip(tmp_path):
    NamedParameters().save(tmp_path / "none", seed=0)
    loaded = NamedParameters.load(tmp_path / "none")
    assert len(loaded) == 0
    assert loaded.seed == 0


def test_arrays_that_are_no_parameters_are_not_loaded_as_such(tmp_path):
    from coursekit.storage import save_arrays

    save_arrays(tmp_path / "arrays", {"Bad Name": np.zeros(1)}, {"rule": '["zeros"]'})
    save_arrays(tmp_path / "no_rule", {"a": np.zeros(1)}, {})
    save_arrays(tmp_path / "nan", {"a": np.array([math.nan])}, {"rule": '["array"]'})
    save_arrays(tmp_path / "short", {"a": np.zeros(1), "b": np.zeros(1)}, {"rule": '["zeros"]'})
    save_arrays(tmp_path / "seed", {"a": np.zeros(1)}, {"rule": '["zeros"]', "seed": "x"})
    for name in ("arrays", "no_rule", "nan", "short", "seed"):
        with pytest.raises(errors.DamagedFile, match=name):
            NamedParameters.load(tmp_path / name)


@pytest.mark.parametrize(
    "notes",
    [
        {"rule": '{"zeros": 1}'},
        {"rule": '"z"'},
        {"rule": "[7]"},
        {"rule": "[" * 100_000},
        {"rule": '["zeros"]', "seed": "-1"},
        {"rule": '["zeros"]', "state": str(2**64)},
    ],
    ids=["object", "text", "number", "deep", "seed", "state"],
)
def test_notes_that_save_never_writes_are_refused(tmp_path, notes):
    from coursekit.storage import save_arrays

    save_arrays(tmp_path / "file", {"a": np.zeros(1)}, notes)
    with pytest.raises(errors.DamagedFile, match="no parameters"):
        NamedParameters.load(tmp_path / "file")
