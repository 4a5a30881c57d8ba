"""Where each byte of a sharded model lies, before a file is there."""

import json

import numpy as np
import pytest

from coursekit import errors
from coursekit.sharded.files import file_name, header, laid_out, prepare, write_rows
from coursekit.sharded.plan import Plan, decoder

PLAN = Plan(
    [
        ("table.weight", (6, 4)),
        ("norm.gain", 4, "ones"),
        ("query.weight", (4, 3), "he_normal", {"mode": "fan_out"}),
        ("rotation.weight", (3, 3), "orthogonal"),
        ("scale", (), "constant", {"value": np.float64(0.5)}),
        ("nothing", (0, 3), "zeros"),
    ],
    seed=17,
)


def places(shards):
    return [[(one.name, one.shape, one.at, one.nbytes) for one in shard] for shard in shards]


def test_parameters_follow_one_another_until_a_file_would_grow_too_long():
    shards = laid_out(PLAN, "float32", "course", (), shard_bytes=112)
    assert places(shards) == [
        [("table.weight", (6, 4), 0, 96), ("norm.gain", (4,), 96, 16)],
        [
            ("query.weight", (4, 3), 0, 48),
            ("rotation.weight", (3, 3), 48, 36),
            ("scale", (), 84, 4),
            ("nothing", (0, 3), 88, 0),
        ],
    ]
    alone = laid_out(PLAN, "float64", "course", (), shard_bytes=1)
    assert [len(shard) for shard in alone] == [1] * len(PLAN)


def test_pytorchs_layout_turns_what_is_multiplied_and_renames_norms():
    (shard,) = laid_out(PLAN, "float32", "torch", ["table.weight"], shard_bytes=10**6)
    found = {one.name: (one.shape, one.transposed) for one in shard}
    assert found["table.weight"] == ((6, 4), False)
    assert found["query.weight"] == ((3, 4), True)
    assert found["norm.weight"] == ((4,), False)
    query = next(one for one in shard if one.name == "query.weight")
    whole = PLAN["query.weight"][:].T.astype(np.float32)
    assert query.rows(1, 3).tobytes() == whole[1:3].tobytes()


@pytest.mark.parametrize(
    ("block_bytes", "expected"),
    [
        (1, [(row, row + 1) for row in range(6)]),  # 4 float64 a row: never less than a row
        (64, [(0, 2), (2, 4), (4, 6)]),
        (95, [(0, 2), (2, 4), (4, 6)]),
        (96, [(0, 3), (3, 6)]),
        (160, [(0, 5), (5, 6)]),
        (10**9, [(0, 6)]),
    ],
)
def test_bands_hold_as_many_rows_as_the_block_allows(block_bytes, expected):
    ((table, *_),) = laid_out(PLAN, "float32", "course", (), shard_bytes=10**6)
    assert list(table.bands(block_bytes)) == expected


def test_what_has_no_rows_and_what_has_no_blocks_is_one_band_or_none():
    ((_, _, _, rotation, scale, nothing),) = laid_out(PLAN, "float64", "course", (), 10**6)
    assert list(rotation.bands(1)) == [(0, 3)]
    assert list(scale.bands(1)) == [(0, 1)]
    assert scale.rows(0, 1).tolist() == 0.5
    assert list(nothing.bands(1)) == []


def test_the_header_says_how_to_draw_each_parameter_again():
    (shard,) = laid_out(PLAN, "float32", "course", (), shard_bytes=10**6)
    raw = header(shard, PLAN, "course")
    length = int.from_bytes(raw[:8], "little")
    assert len(raw) == 8 + length
    assert len(raw) % 8 == 0
    entries = json.loads(raw[8:])
    about = entries.pop("__metadata__")
    assert entries["query.weight"] == {
        "dtype": "F32",
        "shape": [4, 3],
        "data_offsets": [112, 160],
    }
    assert (about["format"], about["layout"], about["seed"]) == ("np", "course", "17")
    recipe = json.loads(about["rule, options, offset"])
    for name, (rule, options, offset) in recipe.items():
        description = [("before", (1, offset)), (name, PLAN[name].shape, rule, options)]
        again = Plan(description if offset else description[1:], int(about["seed"]))
        assert again[name][()].tobytes() == PLAN[name][()].tobytes()


def test_rows_may_be_written_twice_and_in_any_order(tmp_path):
    shards = laid_out(PLAN, "float32", "torch", (), shard_bytes=10**6)
    (begin,) = prepare(tmp_path, shards, PLAN, "torch")
    path = tmp_path / file_name(1, 1)
    length = path.stat().st_size
    order = [(one, band) for one in shards[0] for band in one.bands(1)]
    for one, band in [*reversed(order), *order[::2]]:
        assert write_rows(str(path), begin, one, *band) == one.rows(*band).nbytes
    content = path.read_bytes()
    assert len(content) == length == begin + sum(one.nbytes for one in shards[0])
    numbers = b"".join(
        one.rows(0, max(len(one.start.shape) and one.shape[0], 1)).tobytes() for one in shards[0]
    )
    assert content[begin:] == numbers


def test_names_that_would_collide_in_a_file_are_refused():
    twins = Plan([("norm.gain", 1, "ones"), ("norm.weight", 1, "zeros")], seed=17)
    with pytest.raises(errors.DuplicateName) as refused:
        laid_out(twins, "float32", "torch", (), 100)
    assert refused.value.args == ("norm.weight", 0, 1)
    assert len(laid_out(twins, "float32", "course", (), 100)[0]) == 2
    with pytest.raises(errors.OutOfRange):
        laid_out(Plan([("__metadata__", 1, "ones")], seed=17), "float32", "course", (), 100)


def test_a_model_of_seven_billion_weights_is_laid_out_in_the_files_of_the_usual_tools():
    plan = Plan(decoder(32, 4096, 11008, 32000), seed=17)
    shards = laid_out(plan, "float32", "course", (), shard_bytes=5 * 10**9)
    sizes = [sum(one.nbytes for one in shard) for shard in shards]
    assert len(sizes) == 6
    assert max(sizes) <= 5 * 10**9
    assert sum(sizes) == 4 * plan.element_count
    bands = [band for shard in shards for one in shard for band in one.bands(1 << 26)]
    assert 800 < len(bands) < 1200
