"""The learner's folders: found from anywhere, opened, filled, and never written over."""

import json
import os
import sys
from pathlib import Path

import pytest

from coursekit import errors, workspace


@pytest.fixture
def course(tmp_path, monkeypatch):
    root = tmp_path / "course"
    for folder in ("notebooks", "exercises", "coursekit"):
        (root / folder).mkdir(parents=True)
    (root / workspace.START).write_text("{}", encoding="utf-8")
    for name in ("ex01_draw.ipynb", "ex02_scale.ipynb", "ex10_last.ipynb", "notes.txt"):
        (root / "exercises" / name).write_text(f"content of {name}", encoding="utf-8")
    monkeypatch.chdir(root)
    return root


def test_the_course_is_found_from_within_and_from_the_package(course, tmp_path, monkeypatch):
    assert workspace.course_root() == course
    monkeypatch.chdir(course / "exercises")
    assert workspace.course_root() == course
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace, "__file__", str(course / "coursekit" / "workspace.py"))
    assert workspace.course_root() == course


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the current folder")
def test_from_a_deleted_folder_the_course_of_the_package_is_found(course, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(workspace, "__file__", str(course / "coursekit" / "workspace.py"))
    assert workspace.course_root() == course


def test_a_missing_course_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace, "__file__", str(tmp_path / "site" / "coursekit" / "x.py"))
    with pytest.raises(errors.CourseNotFound) as refusal:
        workspace.course_root()
    assert refusal.value.missing == "notebooks/00_start_here.ipynb"
    assert refusal.value.current == str(tmp_path)


def test_jupyterlab_is_asked_for_the_first_chapter_without_news(course):
    arguments, environment = workspace.lab_command()
    assert arguments[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={course}" in arguments
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in arguments
    assert "--no-browser" not in arguments
    assert environment.items() >= {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1"}.items()
    (settings,) = (a.split("=", 1)[1] for a in arguments if "app_settings_dir" in a)
    overrides = json.loads(Path(settings, "overrides.json").read_text(encoding="utf-8"))
    notifications = overrides["@jupyterlab/apputils-extension:notification"]
    assert notifications["fetchNews"] == "false"
    assert notifications["checkForUpdates"] is False


def test_options_of_the_lab(course, tmp_path):
    arguments, _ = workspace.lab_command(tmp_path, port=9123, browser=False)
    assert f"--ServerApp.root_dir={tmp_path}" in arguments
    assert arguments.count("--port=9123") == arguments.count("--no-browser") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no root user")
@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_may_start_it_in_a_container(course, monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("--allow-root" in workspace.lab_command()[0]) == allowed


def test_the_lab_waits_through_control_c_and_returns_the_status(course, monkeypatch, capsys):
    started = []

    class Lab:
        def __init__(self, arguments, env):
            started.append(arguments)
            self.answers = iter([KeyboardInterrupt, 3])

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def wait(self):
            answer = next(self.answers)
            if answer is KeyboardInterrupt:
                raise answer
            return answer

    monkeypatch.setattr(workspace.subprocess, "Popen", Lab)
    assert workspace.open_lab(port=9000, browser=False) == 3
    assert "--port=9000" in started[0]
    assert "Control-C" in capsys.readouterr().out


def test_a_missing_jupyterlab_is_a_sentence(course, monkeypatch):
    monkeypatch.setattr(workspace, "find_spec", lambda name: None)
    with pytest.raises(errors.PackageMissing, match=r"jupyterlab.*pip install"):
        workspace.open_lab()


@pytest.mark.parametrize("number", ["1", "01", "10", "all"])
def test_exercises_are_copied(course, number):
    sentences = workspace.start(number)
    copied = sorted(path.name for path in (course / "my_work").iterdir())
    wanted = {
        "all": ["ex01_draw.ipynb", "ex02_scale.ipynb", "ex10_last.ipynb"],
        "10": ["ex10_last.ipynb"],
    }.get(number, ["ex01_draw.ipynb"])
    assert copied == wanted
    assert sentences == [f"my_work/{name} is ready" for name in wanted]
    for name in wanted:
        assert (course / "my_work" / name).read_text(encoding="utf-8") == f"content of {name}"


def test_a_copy_is_never_written_over(course):
    workspace.start("2")
    mine = course / "my_work" / "ex02_scale.ipynb"
    mine.write_text("my answer", encoding="utf-8")
    assert workspace.start("2") == ["my_work/ex02_scale.ipynb is there already and stays as it is"]
    assert len(workspace.start("all")) == 3
    assert mine.read_text(encoding="utf-8") == "my answer"


@pytest.mark.parametrize(
    "number",
    [
        "0",
        "3",
        "11",
        "-1",
        "",
        "one",
        "1.0",
        "²",
        "٢",
        "../1",
        "ALL",
        pytest.param("1" * 5000, id="5000 digits"),
    ],
)
def test_an_unknown_exercise_copies_nothing(course, number):
    with pytest.raises(errors.UnknownChoice) as refusal:
        workspace.start(number)
    assert refusal.value.given == number
    assert refusal.value.known == ("1", "2", "10", "all")
    assert not (course / "my_work").exists()


def test_a_copy_that_fails_halfway_leaves_nothing(course, monkeypatch):
    import builtins

    plain = builtins.open

    class Full:
        def __init__(self, *arguments):
            self.file = plain(*arguments)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, content):
            self.file.write(content[:3])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(workspace, "open", Full, raising=False)
    with pytest.raises(OSError, match="No space"):
        workspace.start("1")
    assert list((course / "my_work").iterdir()) == []
