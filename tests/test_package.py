"""The package itself: light to import, with every module a name away."""

import subprocess
import sys

import pytest

import coursekit


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_it_loads_nothing_heavy():
    heavy = "{'matplotlib', 'ipywidgets', 'nbclient', 'psutil', 'safetensors', 'dask'}"
    assert run(f"import sys, coursekit; print({heavy} & {{*sys.modules}})") == "set()"


def test_modules_load_when_they_are_asked_for():
    code = "import coursekit; print(hex(coursekit.rng.SplitMix64(0).next_u64()))"
    assert run(code) == "0xe220a8397b1dcdaf"


def test_unknown_names_are_no_attributes():
    with pytest.raises(AttributeError, match="no attribute 'none_such'"):
        _ = coursekit.none_such
    assert not hasattr(coursekit, "_private")
    assert {"rng", "initializers", "autodiff", "layers", "__version__"} <= {*dir(coursekit)}
