"""The command line: every command, every mistake one line and status 2."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

from coursekit import __main__ as command_line
from coursekit import doctor, workspace
from coursekit.__main__ import main

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = ["lab", "doctor", "start", "progress", "report", "trace"]
COMMANDS += ["slides", "site", "pack", "refresh"]


@pytest.mark.parametrize("name", ["report", "trace"])
def test_the_worked_texts(name, capsys):
    assert main([name]) == 0
    assert capsys.readouterr().out == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert main([name, "--seed", "18"]) == 0
    assert "seed: 18" in (out := capsys.readouterr().out) or "seed=18" in out


@pytest.mark.parametrize("start", [["-m", "coursekit"], ["-W", "error", "-m", "coursekit"]])
def test_a_process_prints_the_golden_bytes(start):
    run = subprocess.run([sys.executable, *start, "report"], capture_output=True, check=True)
    golden = (GOLDEN / "report.txt").read_bytes()
    assert run.stdout.replace(b"\r\n", b"\n") == golden
    assert run.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["report", "--seed", "-1"], "seed must be at least 0 and below 2**64; got -1"),
        (["trace", "--seed", str(2**64)], f"got {2**64}"),
        (["report", "--seed", "1.5"], "an integer is needed; got '1.5'"),
        (["report", "--seed"], "expected one argument"),
        (["report", "--sed", "1"], "unrecognized arguments"),
        (["lab", "--port", "0"], "between 1 and 65535"),
        (["lab", "--port", "http"], "an integer is needed"),
        (["start"], "the following arguments are required: N|all"),
        (["nothing"], "invalid choice: 'nothing'"),
        (["doctor", "more"], "unrecognized arguments: more"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments, reason, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("coursekit: ")
    assert printed.err.count("\n") == 1
    assert reason in printed.err


def test_an_unknown_exercise_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "ex01_a.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(workspace, "course_root", lambda: tmp_path)
    assert main(["start", "2"]) == 2
    assert capsys.readouterr().err == "coursekit: exercise must be one of 1, all; got '2'\n"
    assert main(["start", "1"]) == 0
    assert capsys.readouterr().out == "my_work/ex01_a.ipynb is ready\n"


def test_a_place_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "ex01_a.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / "my_work").write_text("a file where the folder should be", encoding="utf-8")
    monkeypatch.setattr(workspace, "course_root", lambda: tmp_path)
    assert main(["start", "1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"coursekit: {tmp_path / 'my_work'}: ")
    assert said.count("\n") == 1


def test_outside_the_course_lab_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace, "__file__", str(tmp_path / "coursekit" / "workspace.py"))
    assert main(["lab"]) == 2
    assert "must be run from its own folder" in capsys.readouterr().err


def test_lab_passes_its_options_on(monkeypatch):
    given = {}
    monkeypatch.setattr(workspace, "open_lab", lambda **options: given.update(options) or 5)
    assert main(["lab", "--port", "9000", "--no-browser"]) == 5
    assert given == {"port": 9000, "browser": False}
    assert main(["lab"]) == 5
    assert given == {"port": None, "browser": True}


def test_doctor_returns_the_status(monkeypatch):
    monkeypatch.setattr(doctor, "main", lambda: 1)
    assert main(["doctor"]) == 1


def test_refresh_passes_its_arguments_on(monkeypatch):
    from coursekit import authoring

    calls = []
    monkeypatch.setattr(
        authoring, "refresh", lambda paths, check: calls.append((list(paths), check)) or 1
    )
    assert main(["refresh", "--check", "a.ipynb", "b"]) == 1
    assert main(["refresh"]) == 1
    assert calls == [(["a.ipynb", "b"], True), ([], False)]


def test_progress_shows_what_the_checks_say(monkeypatch, tmp_path, capsys):
    checks = types.ModuleType("coursekit.checks")
    checks.progress_report = lambda folder: f"checked {folder.name}\n"
    monkeypatch.setitem(sys.modules, "coursekit.checks", checks)
    monkeypatch.setattr(workspace, "course_root", lambda: tmp_path)
    assert main(["progress"]) == 0
    assert capsys.readouterr().out == "checked my_work\n"


def test_control_c_is_no_traceback(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "main", interrupted)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == ""


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n    {name} " in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: coursekit {command}" in capsys.readouterr().out


def test_the_command_line_itself_loads_nothing_heavy():
    code = "import sys, coursekit.__main__ as m; m._parser(); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "matplotlib",
        "jupyterlab",
        "nbformat",
        "ipywidgets",
        "nbconvert",
        "coursekit.autodiff",
    }
    assert heavy & set(run.stdout.split()) == set()
    assert command_line.lab_command is workspace.lab_command


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipe")
def test_a_reader_who_has_seen_enough_is_no_error():
    pipe = subprocess.Popen(
        [sys.executable, "-m", "coursekit", "trace"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    pipe.stdout.close()  # before the command prints its first line
    with pipe.stderr as stream:
        said = stream.read()
    assert (pipe.wait(), said) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "coursekit", "report"], stdout=full, stderr=subprocess.PIPE
        )
    assert (ended.returncode, ended.stderr.count(b"\n")) == (2, 1)
    assert ended.stderr.startswith(b"coursekit: output: ")


def test_without_an_output_nothing_is_printed_and_nothing_fails(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["report"]) == 0
