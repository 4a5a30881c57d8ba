"""Files that came to harm, and processes that were killed while they wrote one.

The law for a file of numbers: it gives back what was saved, or it is refused. The law for the
progress file: a check goes on working, keeps what it can read, and sets aside the bytes that it
cannot. The law for a killed process: the old file is there, or the new one, whole.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from coursekit.checks import progress
from coursekit.errors import DamagedFile
from coursekit.parameters import NamedParameter, NamedParameters
from coursekit.rng import SplitMix64

HERE = Path(__file__).parent


@st.composite
def damaged(draw, whole):
    """`whole` after one to three accidents: bytes changed, cut out, put in, doubled or swapped."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, draw(st.sampled_from([1, 8, len(content)]))))
        part = content[start : start + length]
        accident = draw(st.sampled_from(["change", "cut", "insert", "double", "zero", "flip"]))
        if accident in ("change", "insert"):
            noise = draw(st.binary(min_size=1, max_size=12))
            content[start : start + (len(noise) if accident == "change" else 0)] = noise
        elif accident == "cut":
            del content[start : start + length]
        elif accident == "double":
            content[start:start] = part
        elif accident == "zero":
            content[start : start + length] = bytes(len(part))
        elif part:
            content[start] ^= 1 << draw(st.integers(0, 7))
    return bytes(content)


# --- files of numbers ---------------------------------------------------------------------------


def whole_file():
    rng = SplitMix64(17)
    start = NamedParameters(
        [
            NamedParameter.he_normal("hidden.weight", 3, 2, rng),
            NamedParameter.zeros("hidden.bias", 2),
            NamedParameter.constant("__metadata__", (), -0.0),
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        start.save(Path(folder, "start"), seed=17, state=rng.state)
        return start, rng.state, Path(folder, "start").read_bytes()


START, STATE, WHOLE = whole_file()
HEADER = json.loads(WHOLE[8 : 8 + int.from_bytes(WHOLE[:8], "little")])
NUMBERS = WHOLE[8 + int.from_bytes(WHOLE[:8], "little") :]


def is_what_was_saved_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "start")
        path.write_bytes(content)
        try:
            loaded = NamedParameters.load(path)
        except DamagedFile:
            assert content != WHOLE
            return
    assert (loaded.seed, loaded.state) == (17, STATE)
    assert repr(loaded) == repr(START)
    for one, saved in zip(loaded, START, strict=True):
        assert one.value.tobytes() == saved.value.tobytes()


@given(damaged(WHOLE))
@examples(250)
def test_a_damaged_file_is_refused_or_holds_what_was_saved(content):
    is_what_was_saved_or_refused(content)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


@given(st.data())
@examples(100)
def test_a_header_that_says_something_else_is_refused(data):
    """A header of sound JSON, in which one entry was replaced, renamed, added or left out."""
    header = json.loads(json.dumps(HEADER))
    place = header
    while isinstance(place, dict) and (place is header or data.draw(st.booleans())):
        inner, key = place, data.draw(st.sampled_from(sorted(place)))
        place = place[key]
    change = data.draw(st.sampled_from(["replace", "rename", "add", "leave out"]))
    value = data.draw(ANYTHING | st.sampled_from(["F32", "I64", [0, 8], [6], [2, 3], "[]", "17"]))
    if change == "replace":
        inner[key] = value
    elif change == "add":
        inner[data.draw(st.text(max_size=4))] = value
    else:
        moved = inner.pop(key)
        if change == "rename":
            inner[data.draw(st.text(max_size=4))] = moved
    text = json.dumps(header).encode()
    is_what_was_saved_or_refused(len(text).to_bytes(8, "little") + text + NUMBERS)


# --- progress -----------------------------------------------------------------------------------

PASSED = {"ex01.a", "ex04.b", "ex09.a"}
KEPT = (json.dumps({"format": 1, "passed": sorted(PASSED)}, indent=1) + "\n").encode()
SOUND_JSON = st.one_of(
    ANYTHING,
    st.fixed_dictionaries({"format": ANYTHING | st.just(1), "passed": ANYTHING}),
    st.fixed_dictionaries({"format": st.just(1), "passed": st.lists(ANYTHING | st.text())}),
).map(lambda content: json.dumps(content).encode())


@given(st.one_of(damaged(KEPT), SOUND_JSON, st.binary(max_size=40)))
@examples(100)
def test_a_check_keeps_what_it_can_read_and_sets_aside_what_it_cannot(content):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / progress.FILE).write_bytes(content)
        try:
            before = progress.read(folder)
        except progress.Damaged:
            before = None
        assert "parts passed" in progress.progress_report(folder)
        assert (folder / progress.FILE).read_bytes() == content, "a report only reads"

        notes = progress.record(folder, "ex02.a")
        aside = sorted(folder.glob("progress.damaged-*.json"))
        if before is None:
            assert [path.read_bytes() for path in aside] == [content]
            assert len(notes) == 1
            assert aside[0].name in notes[0]
        else:
            assert (aside, notes) == ([], [])
        assert progress.read(folder) == (before or set()) | {"ex02.a"}
        assert progress.record(folder, "ex02.a") == []


# --- killed while writing -----------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked, and killed by signal")
@pytest.mark.parametrize("what", ["numbers", "progress"])
def test_a_process_killed_at_any_line_leaves_the_old_file_or_the_new_one(what, tmp_path):
    """Not at random moments: at the first line of the saving code, the second, and so on."""
    done = subprocess.run(
        [sys.executable, str(HERE / "killed_at_every_line.py"), what, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcomes = done.stdout.split()
    assert len(outcomes) > 12, "fewer lines than there are in the code"
    assert set(outcomes) == {"old", "new"}, outcomes
    assert outcomes == sorted(outcomes, key=["old", "new"].index), "and never back again"
