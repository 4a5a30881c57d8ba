"""What a run of the notebooks needs, wherever pytest is started and whatever it is given.

It stands at the root because pytest reads it for `notebooks/`, `exercises/` and `solutions/` too.
"""

import shutil
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "tests"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # Both plugins count from where pytest was started; absolute paths are right everywhere.
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(TESTS / "nbval_sanitize.cfg")
    if not (config.option.mpl_baseline_path or config.option.mpl_generate_path):
        config.option.mpl_baseline_path = str(TESTS / "baseline")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if config.option.markexpr != "not browser":
        return
    missing = "" if shutil.which("chromium") else " (chromium is missing: apt-get install chromium)"
    terminalreporter.write_line(
        f"browser tests: not run here; `pytest -m browser` runs them{missing}"
    )
