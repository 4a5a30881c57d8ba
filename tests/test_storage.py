"""Files: every damage is found, every save is whole, and another program can read them."""

import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from coursekit import errors
from coursekit.storage import load_arrays, save_arrays

ARRAYS = {"b": np.array([[1.5, -0.0], [5e-324, 2.0]]), "a": np.array(3.0), "none": np.zeros((0, 2))}
NOTES = {"seed": "17", "state": "3", "remark": "π ≈ 22/7"}


@pytest.fixture
def path(tmp_path):
    save_arrays(tmp_path / "arrays.safetensors", ARRAYS, NOTES)
    return tmp_path / "arrays.safetensors"


def test_bits_order_shapes_and_metadata_come_back(path):
    arrays, notes = load_arrays(path)
    assert list(arrays) == ["b", "a", "none"]
    assert notes == NOTES
    for name, array in ARRAYS.items():
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].shape == array.shape
        assert arrays[name].flags.writeable


def test_the_plain_library_reads_the_file(path):
    arrays = safetensors.numpy.load_file(path)
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in ARRAYS.items()
    }
    with safetensors.safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    assert metadata.items() >= NOTES.items()
    assert len(metadata["sha256"]) == 64


@pytest.mark.parametrize("length", range(1, 9))
def test_numbers_begin_on_a_multiple_of_eight_bytes(tmp_path, length):
    save_arrays(tmp_path / "file", {"n" * length: np.zeros(1)}, {})
    content = (tmp_path / "file").read_bytes()
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    assert len(header) % 8 == 0
    assert len(header) - len(header.rstrip(b" ")) < 8


def test_an_array_in_any_memory_order_is_saved_by_its_rows(tmp_path):
    matrix = np.arange(6.0).reshape(2, 3)
    save_arrays(tmp_path / "f", {"f": np.asfortranarray(matrix), "t": matrix.T}, {})
    arrays, _ = load_arrays(tmp_path / "f")
    assert np.array_equal(arrays["f"], matrix)
    assert np.array_equal(arrays["t"], matrix.T)


def test_every_flipped_bit_is_found(path, tmp_path):
    whole = path.read_bytes()
    damaged = tmp_path / "damaged"
    for position in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[position] ^= 1 << bit
            damaged.write_bytes(flipped)
            with pytest.raises(errors.DamagedFile) as refusal:
                load_arrays(damaged)
            assert refusal.value.path == str(damaged)


def test_every_shortened_or_lengthened_file_is_found(path, tmp_path):
    whole = path.read_bytes()
    damaged = tmp_path / "damaged"
    for content in [whole[:length] for length in range(len(whole))] + [whole + b"\0"]:
        damaged.write_bytes(content)
        with pytest.raises(errors.DamagedFile, match="damaged"):
            load_arrays(damaged)


def test_a_refusal_says_what_the_reader_found(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(errors.DamagedFile) as refusal:
        load_arrays(tmp_path / "empty")
    assert refusal.value.reason not in ("", "SafetensorError")
    assert refusal.value.reason == str(refusal.value.__cause__)


def test_a_save_that_cannot_begin_says_so_and_nothing_else(tmp_path):
    with pytest.raises(FileNotFoundError) as refusal:
        save_arrays(tmp_path / "no folder" / "file", {}, {})
    assert refusal.value.__context__ is None, "an error of tidying up hides the first one"


def test_a_foreign_file_is_refused(tmp_path):
    foreign = tmp_path / "foreign"
    contents = {
        "other": safetensors.numpy.save({"a": np.zeros(2)}),
        "notes": safetensors.numpy.save({"a": np.zeros(2)}, metadata={"format": "pt"}),
        "claim": safetensors.numpy.save(
            {"a": np.zeros(2)}, metadata={"format": "coursekit arrays 1"}
        ),
        "names": safetensors.numpy.save(
            {"a": np.zeros(2)}, metadata={"format": "coursekit arrays 1", "names": "[1]"}
        ),
        "text": b"seed: 17\n" * 50,
        "zip": b"PK\x03\x04" + bytes(200),
    }
    for content in contents.values():
        foreign.write_bytes(content)
        with pytest.raises(errors.DamagedFile, match="foreign"):
            load_arrays(foreign)


def test_a_path_of_another_type_says_nothing_of_the_file(path):
    for wrong in (os.fsencode(path), 1_000_000, None):
        with pytest.raises(TypeError):
            load_arrays(wrong)


def test_a_missing_file_and_a_folder_are_the_systems_own_errors(tmp_path):
    with pytest.raises(FileNotFoundError) as refusal:
        load_arrays(tmp_path / "missing")
    assert str(refusal.value.filename) == str(tmp_path / "missing")
    with pytest.raises(OSError, match=str(tmp_path.name)):
        load_arrays(tmp_path)


@pytest.mark.parametrize(
    ("arrays", "notes", "message"),
    [
        ({"a": np.zeros(2, np.float32)}, {}, "array 'a' must be a float64 array"),
        ({"a": [0.0]}, {}, "array 'a' must be a float64 array"),
        ({"a": np.zeros(2)}, {"seed": 17}, "metadata 'seed' must be text"),
    ],
)
def test_a_refused_save_writes_nothing(tmp_path, arrays, notes, message):
    with pytest.raises(errors.WrongType, match=message):
        save_arrays(tmp_path / "new", arrays, notes)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_disk_leaves_the_old_file_and_nothing_beside_it(path, monkeypatch):
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save_arrays(path, {"new": np.ones(3)}, {})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_symbolic_link_stays_a_link(path, tmp_path):
    link = tmp_path / "latest"
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("this system makes no symbolic links")
    save_arrays(link, {"new": np.ones(3)}, {})
    assert link.is_symlink()
    assert list(load_arrays(path)[0]) == ["new"]


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    """A process saves over and over; whenever it dies, the file is one of those it wrote."""
    path = tmp_path / "checkpoint"
    endless = textwrap.dedent(
        """
        import sys
        import numpy as np
        from coursekit.storage import save_arrays
        for count in range(10**9):
            save_arrays(sys.argv[1], {"a": np.full(50_000, float(count))}, {"count": str(count)})
        """
    )
    for delay in (0.0, 0.013, 0.029):
        path.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-c", endless, str(path)])
        try:
            deadline = time.monotonic() + 30
            while not path.exists() and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(delay)
        finally:
            process.kill()
            process.wait()
        arrays, notes = load_arrays(path)
        assert (arrays["a"] == float(notes["count"])).all()
