"""What a run of the notebooks needs, wherever pytest is started and whatever it is given.

It stands at the root because pytest reads it for `notebooks/`, `exercises/` and `solutions/` too.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import hypothesis
import pytest

TESTS = Path(__file__).parent / "tests"

# Before anything imports NumPy: two workers on two cores, each with two BLAS threads, wait for one
# another up to fifty times as long as they compute. The kernels of the notebooks inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A law is broken or it is not; how long a busy machine takes over an example is not part of it.
hypothesis.settings.register_profile(
    "course", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("course")

# Scripts that are run by hand, some with libraries that the course itself does not need.
collect_ignore_glob = ["tests/benchmarks/*", "tests/remake_*.py", "tests/screenshots.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # Both plugins count from where pytest was started; absolute paths are right everywhere.
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(TESTS / "nbval_sanitize.cfg")
    if not (config.option.mpl_baseline_path or config.option.mpl_generate_path):
        config.option.mpl_baseline_path = str(TESTS / "baseline")
    if not hasattr(config, "workerinput"):
        # Once, before the workers: the first import on a machine lists its fonts, and says so on
        # standard error, which would stand in the outputs of the first notebook.
        import matplotlib.font_manager  # noqa: F401


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.option.markexpr != "not browser":
        return
    there = any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    missing = "" if there else " (no chromium here: apt-get install chromium)"
    terminalreporter.write_line(
        f"browser tests: not run here; `pytest -m browser` runs them{missing}"
    )
