"""The same bits with other vector instructions, other threads, and on the machine of the record."""

import os
import subprocess
import sys
from pathlib import Path

import bits
import pytest

SCRIPT = Path(bits.__file__)
RECORDED = (SCRIPT.parent / "golden" / "bits.txt").read_text(encoding="ascii").strip()


def printed(*arguments, **environment):
    run = subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def test_the_bits_are_the_recorded_ones():
    assert bits.digest() == RECORDED


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_bits_do_not_depend_on_vector_instructions_or_threads(threads):
    found = bits.features()
    if not found:
        pytest.skip("this NumPy uses the same instructions on every processor of this kind")
    without = {"NPY_DISABLE_CPU_FEATURES": " ".join(found), "COURSEKIT_THREADS": threads}
    assert printed("--features", **without) == "", "they are not switched off"
    assert printed(**without) == RECORDED
