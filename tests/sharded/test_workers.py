"""Any workers, any blocks, any order, one of them killed: the bits of one machine."""

import hashlib
import json
import os
import shutil
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from coursekit import errors, sharded
from coursekit.rng import SplitMix64
from coursekit.sharded import INDEX, array, arrays, check, local_cluster, save
from coursekit.sharded.files import laid_out, prepare, write_rows
from coursekit.sharded.plan import Plan, decoder

PLAN = Plan([*decoder(2, 32, 48, 100), ("rotation.weight", (9, 9), "orthogonal")], seed=17)
SMALL = {"shard_bytes": 40_000, "block_bytes": 2_000, "progress": None}
TOO_LARGE = Plan([("a", (99, 99)), ("b", 9, "constant", {"value": 1e300}), ("c", (99, 99))], 17)


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one process writes."""
    return save(PLAN, tmp_path_factory.mktemp("models") / "alone", **SMALL).parent


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(workers=2) as client:
        yield client


@pytest.fixture
def pool():
    with ThreadPoolExecutor(3) as threads:
        yield threads


# --- what lies in the files ----------------------------------------------------------------------


def test_the_usual_tools_read_every_parameter_from_the_file_that_the_index_names(alone):
    index = json.loads((alone / INDEX).read_text())
    assert list(index["weight_map"]) == list(PLAN)
    assert index["metadata"]["total_size"] == 4 * PLAN.element_count
    assert index["metadata"]["seed"] == "17"
    files = sorted(set(index["weight_map"].values()))
    assert files == [
        f"model-{n:05}-of-{len(files):05}.safetensors" for n in range(1, len(files) + 1)
    ]
    assert {path.name for path in alone.iterdir()} == {*files, INDEX}
    read = {
        name: (file, values) for file in files for name, values in load_file(alone / file).items()
    }
    for name, start in PLAN.items():
        file, values = read[name]
        assert index["weight_map"][name] == file
        assert values.dtype == np.float32
        assert values.tobytes() == start[()].astype(np.float32).tobytes()


def test_float64_keeps_the_bits_of_the_initializers(tmp_path):
    save(PLAN, tmp_path / "exact", dtype="float64", progress=None)
    read = load_file(tmp_path / "exact" / "model-00001-of-00001.safetensors")
    assert all(read[name].tobytes() == start[()].tobytes() for name, start in PLAN.items())


def test_pytorchs_layout_is_turned_block_by_block(tmp_path):
    table = "token_embedding.weight"
    folder = save(PLAN, tmp_path / "torch", layout="torch", lookups=[table], **SMALL).parent
    read = {}
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="numpy") as file:
            assert file.metadata()["format"] == "pt"
        read |= load_file(path)
    down = PLAN["decoder.block.1.feedforward.down.weight"][:]
    assert (
        read["decoder.block.1.feedforward.down.weight"].tobytes() == down.T.astype("f4").tobytes()
    )
    assert read[table].tobytes() == PLAN[table][:].astype("f4").tobytes()
    assert read["decoder.norm.weight"].tolist() == [1.0] * 32
    assert check(PLAN, folder, 20, SplitMix64(1)) > 20


# --- whoever works, in whatever blocks -----------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [1, 777, 10**7])
def test_files_do_not_depend_on_the_blocks(alone, tmp_path, block_bytes):
    folder = save(PLAN, tmp_path / "other", **SMALL | {"block_bytes": block_bytes}).parent
    assert digests(folder) == digests(alone)


def test_files_do_not_depend_on_threads(alone, tmp_path, pool):
    folder = save(PLAN, tmp_path / "threads", pool, **SMALL).parent
    assert digests(folder) == digests(alone)


def test_files_do_not_depend_on_processes(alone, tmp_path, cluster):
    folder = save(PLAN, tmp_path / "processes", cluster, **SMALL).parent
    assert digests(folder) == digests(alone)
    pids = cluster.run(os.getpid).values()
    assert len({*pids, os.getpid()}) == 3


def test_a_dask_array_has_the_bits_of_one_machine_in_any_chunks(cluster):
    start = PLAN["decoder.block.0.feedforward.gate.weight"]
    whole = start[:]
    for chunks in [(7, 11), (32, 5), "auto", ((30, 2), (1, 40, 7))]:
        lazy = array(start, chunks)
        assert (lazy.shape, lazy.dtype) == (start.shape, start.dtype)
        assert lazy.compute().tobytes() == whole.tobytes()
    lazy = array(start, (7, 11))
    assert lazy[::-3, 5].compute().tobytes() == whole[::-3, 5].tobytes()
    assert lazy[[30, 2]].compute().tobytes() == whole[[30, 2]].tobytes()
    assert lazy.T.compute().tobytes() == whole.T.tobytes()


def test_every_parameter_of_a_plan_is_a_dask_array(cluster):
    lazy = arrays(PLAN, chunks=20)
    assert list(lazy) == list(PLAN)
    same = array(PLAN["decoder.norm.gain"], 20)
    assert same.name == lazy["decoder.norm.gain"].name  # equal content, equal name
    assert same.name != array(PLAN["decoder.block.0.feedforward.norm.gain"], 7).name
    assert lazy["decoder.norm.gain"].compute().tolist() == [1.0] * 32
    whole = array(PLAN["rotation.weight"], (9, 9)).compute()
    assert whole.tobytes() == PLAN["rotation.weight"][:].tobytes()
    with pytest.raises(errors.NotBlockwise):
        array(PLAN["rotation.weight"], (9, 3)).compute()


def test_a_worker_killed_in_the_middle_loses_nothing(alone, tmp_path, cluster):
    victim = min(cluster.run(os.getpid).values())
    seen = []

    def kill(done, total):
        if not seen:
            psutil.Process(victim).kill()
        seen.append((done, total))

    folder = save(PLAN, tmp_path / "killed", cluster, **SMALL | {"progress": kill}).parent
    assert seen[0][0] < seen[0][1] / 10
    assert seen[-1] == (4 * PLAN.element_count,) * 2
    assert not psutil.pid_exists(victim) or victim not in cluster.run(os.getpid).values()
    assert digests(folder) == digests(alone)


# --- memory and progress -------------------------------------------------------------------------


def test_a_worker_needs_memory_for_its_block_and_not_for_the_parameter(tmp_path):
    plan = Plan([("table.weight", (8000, 4096), "he_normal")], seed=17)  # 262 megabytes
    shards = laid_out(plan, "float32", "torch", (), shard_bytes=10**10)
    (begin,) = prepare(tmp_path, shards, plan, "torch")
    ((stored,),) = shards
    block = 1 << 20
    bands = list(stored.bands(block))
    assert len(bands) == 256
    path = str(tmp_path / "model-00001-of-00001.safetensors")
    write_rows(path, begin, stored, 0, 1)  # the table of steps is made once
    tracemalloc.start()
    try:
        written = write_rows(path, begin, stored, *bands[-1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written == 4 * 16 * 8000
    assert peak < 3 * block + (1 << 22)  # and the scratch of two threads


def test_progress_rises_to_the_whole_and_the_bar_shows_it(tmp_path, capsys):
    seen = []
    save(PLAN, tmp_path / "a", **SMALL | {"progress": lambda *step: seen.append(step)})
    total = 4 * PLAN.element_count
    assert [of for _, of in seen] == [total] * len(seen)
    done = [step for step, _ in seen]
    assert done == sorted(set(done))
    assert done[-1] == total
    save(PLAN, tmp_path / "b", block_bytes=10**9)
    out, err = capsys.readouterr()
    assert out == ""
    first, *_, last = err.strip("\r\n").split("\r")
    assert first.startswith("[####")
    assert first.endswith(" of 0.1 MB")
    assert last == f"[{'#' * 40}] 0.1 of 0.1 MB"


# --- refusals and failures -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "fields"),
    [
        ({"plan": [("a", (1, 1))]}, errors.WrongType, {"subject": "plan"}),
        ({"workers": 2}, errors.WrongType, {"subject": "workers", "given": 2}),
        ({"dtype": "bfloat16"}, errors.UnknownChoice, {"subject": "dtype"}),
        ({"layout": "flax"}, errors.UnknownChoice, {"known": ("course", "torch")}),
        ({"shard_bytes": 0}, errors.OutOfRange, {"subject": "shard_bytes", "given": 0}),
        ({"block_bytes": 1.5}, errors.WrongType, {"subject": "block_bytes"}),
        ({"layout": "torch", "lookups": ["table"]}, errors.OutOfRange, {"given": "table"}),
        ({"folder": "full"}, errors.OutOfRange, {"subject": "folder"}),
        ({"folder": "full/note.txt"}, errors.OutOfRange, {"subject": "folder"}),
        ({"folder": "missing/model"}, FileNotFoundError, {}),
    ],
)
def test_a_refused_request_leaves_no_trace(tmp_path, arguments, error, fields):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    asked = {"plan": PLAN, "folder": "new", "progress": None} | arguments
    plan, folder = asked.pop("plan"), tmp_path / asked.pop("folder")
    with pytest.raises(error) as refused:
        save(plan, folder, **asked)
    assert {name: getattr(refused.value, name) for name in fields} == fields
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["full", "note.txt"]
    assert (tmp_path / "full" / "note.txt").read_text() == "mine"


def test_a_disk_without_room_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 3, 7))
    with pytest.raises(errors.OutOfRange) as refused:
        save(PLAN, tmp_path / "new", progress=None)
    assert f"{4 * PLAN.element_count} bytes of room" in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_is_filled(tmp_path, alone):
    (tmp_path / "empty").mkdir()
    save(PLAN, tmp_path / "empty", **SMALL)
    assert digests(tmp_path / "empty") == digests(alone)


@pytest.mark.parametrize("kind", ["here", "pool", "cluster"])
def test_a_failure_in_the_middle_leaves_no_trace(tmp_path, kind, request):
    workers = request.getfixturevalue(kind) if kind != "here" else None
    with pytest.raises(errors.NonFiniteValue) as failure:
        save(TOO_LARGE, tmp_path / "new", workers, block_bytes=4000, progress=None)
    assert (failure.value.subject, failure.value.index) == ("b as float32", 0)
    assert not list(tmp_path.iterdir())


def test_a_progress_that_stops_the_run_leaves_no_trace(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(KeyboardInterrupt):
            save(PLAN, tmp_path / "new", pool, **SMALL | {"progress": stop})
        assert not list(tmp_path.iterdir())  # although the pool goes on
        assert pool.submit(max, 1, 2).result() == 2
    assert not list(tmp_path.iterdir())


def test_the_index_comes_last_and_the_name_after_it(tmp_path, monkeypatch):
    moved = []
    replace = os.replace

    def watching(source, target):
        moved.append((INDEX in os.listdir(source), os.path.exists(target)))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watching)
    save(PLAN, tmp_path / "new", progress=None)
    assert moved == [(True, False)]


# --- checking a sample ---------------------------------------------------------------------------


def test_a_sample_of_sound_files_agrees_and_takes_one_draw_a_block(alone):
    rng = SplitMix64(1)
    assert check(PLAN, alone, 30, rng) > 30
    assert rng == SplitMix64(1).advance(30)


def test_a_sample_finds_files_of_another_seed(alone):
    other = Plan(decoder(2, 32, 48, 100), seed=18)
    with pytest.raises(errors.DamagedFile) as found:
        check(other, alone, 30, SplitMix64(1))
    assert "is not what the plan draws" in found.value.reason


def test_a_sample_finds_a_changed_number_when_it_meets_it(alone, tmp_path):
    folder = Path(shutil.copytree(alone, tmp_path / "copy"))
    for path in folder.glob("*.safetensors"):
        raw = bytearray(path.read_bytes())
        for place in range(len(raw) - 4, len(raw) // 2, -32):
            raw[place] ^= 1
        path.write_bytes(raw)
    with pytest.raises(errors.DamagedFile):
        check(PLAN, folder, 30, SplitMix64(1))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"metadata": {}}', "\xff"])
def test_a_damaged_index_is_refused(alone, tmp_path, text):
    folder = Path(shutil.copytree(alone, tmp_path / "copy"))
    (folder / INDEX).write_text(text, encoding="latin-1")
    with pytest.raises(errors.DamagedFile):
        check(PLAN, folder, 1, SplitMix64(1))


def test_a_missing_or_cut_file_is_told(alone, tmp_path):
    with pytest.raises(FileNotFoundError):
        check(PLAN, tmp_path, 1, SplitMix64(1))
    folder = Path(shutil.copytree(alone, tmp_path / "copy"))
    for path in folder.glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(errors.DamagedFile):
        check(PLAN, folder, 1, SplitMix64(1))


# --- without Dask --------------------------------------------------------------------------------


def test_without_dask_one_line_says_what_to_install(monkeypatch):
    for name in ("dask", "dask.array", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    requests = [lambda: array(PLAN["decoder.norm.gain"]), local_cluster().__enter__]
    for request in requests:
        with pytest.raises(errors.PackageMissing) as missing:
            request()
        assert missing.value.cure == sharded.INSTALL
        assert "\n" not in str(missing.value)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (lambda: array(np.ones(3)), errors.WrongType),
        (lambda: arrays({"a": 1}), errors.WrongType),
        (lambda: local_cluster(0).__enter__(), errors.OutOfRange),
        (lambda: local_cluster(1.0).__enter__(), errors.WrongType),
    ],
)
def test_what_is_no_start_and_no_number_of_workers_is_refused(request_, error):
    with pytest.raises(error):
        request_()
