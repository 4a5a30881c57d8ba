"""Start JupyterLab on a copy of the course and drive it with Debian's chromium.

Used by test_browser.py and screenshots.py. Nothing of the user's own Jupyter is read or written,
nothing outside this machine is asked for, and the server ends with the `with` block.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.workspace import lab_command

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: where it answers, the word that opens it, and the folder it serves."""

    url: str
    token: str
    root: Path

    def page(self, path: str, view: str = "lab") -> str:
        return f"{self.url}/{view}/tree/{path}?token={self.token}&reset"


def chromium() -> str | None:
    """Return the path of the browser, or None where it is not installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def copied_course(target: Path, source: Path = ROOT) -> Path:
    """Copy the notebooks, so that no autosave reaches the originals."""
    for name in ("notebooks", "exercises", "solutions"):
        if (source / name).is_dir():
            shutil.copytree(
                source / name, target / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
            )
    return target


@contextmanager
def jupyterlab(root: Path, settings: dict[str, Any] | None = None) -> Iterator[Server]:
    """Serve `root` as `coursekit lab` does, on a free port of this machine, until the block ends.

    Args:
        settings: JupyterLab settings by plugin, over those of `coursekit lab`.
    """
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="course-lab-") as folder:
        home = Path(folder)
        port = _free_port()
        arguments, environment = lab_command(root, port=port, browser=False)
        arguments += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
        if settings:
            arguments = _with_settings(arguments, settings, home / "app")
            arguments.append("--LabApp.expose_app_in_browser=True")
        for variable in (
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
            "IPYTHONDIR",
        ):
            environment[variable] = str(home / variable.lower())
        with (home / "log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                arguments,
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                server = Server(f"http://127.0.0.1:{port}", token, root)
                _wait_for(server, process, home / "log")
                yield server
            finally:
                _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _with_settings(arguments: list[str], settings: dict[str, Any], folder: Path) -> list[str]:
    """Return the arguments with `settings` laid over the settings folder that they name."""
    option = "--LabApp.app_settings_dir="
    (given,) = (text.removeprefix(option) for text in arguments if text.startswith(option))
    merged = json.loads((Path(given) / "overrides.json").read_text(encoding="utf-8")) | settings
    folder.mkdir()
    (folder / "overrides.json").write_text(json.dumps(merged), encoding="utf-8")
    return [*(text for text in arguments if not text.startswith(option)), f"{option}{folder}"]


def _wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with direct.open(f"{server.url}/api/status?token={server.token}", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-3000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server and the kernels it started: they share its process group."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        try:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            else:
                process.terminate()
            process.wait(timeout=10)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


@contextmanager
def browser_page(width: int, height: int, dark: bool = False) -> Iterator[Any]:
    """Open one page of a browser that keeps nothing."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=CHROMIUM_OPTIONS, headless=True
        )
        try:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
            )
            yield context.new_page()
        finally:
            browser.close()


def wait_until_idle(page: Any, seconds: float = 60) -> None:
    """Wait until the notebook in front has a kernel, and that kernel has nothing left to do."""
    page.wait_for_selector(
        '.jp-Notebook-ExecutionIndicator[data-status="idle"]',
        timeout=seconds * 1000,
        state="attached",
    )
    page.wait_for_function(
        "() => ![...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) "
        ".jp-InputPrompt')].some(prompt => prompt.textContent.includes('*'))",
        timeout=seconds * 1000,
    )
