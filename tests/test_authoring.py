"""Refresh and exercise builder: equal bytes twice, one cause named, nothing lost."""

import http.server
import json
import os
import stat
import threading
from pathlib import Path

import nbformat
import pytest

from coursekit import authoring
from coursekit.errors import NotebookRefused

VIEW = authoring.WIDGET_VIEW


def notebook(*cells: str, kernel: str | None = "python3") -> bytes:
    """A notebook as a person saves it: markdown for what begins with # or <, else code."""
    made = [
        nbformat.v4.new_markdown_cell(text)
        if text.startswith(("# ", "<"))
        else nbformat.v4.new_code_cell(text, metadata={"collapsed": True, "tags": ["a"]})
        for text in cells
    ]
    about = {} if kernel is None else {"kernelspec": {"name": kernel, "display_name": "?"}}
    return nbformat.writes(nbformat.v4.new_notebook(cells=made, metadata=about)).encode()


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("notebooks", "solutions", "exercises"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is about files alone: a second saved by each kernel that is not started."""

    def pretend(executed: nbformat.NotebookNode, path: Path) -> None:
        code = [cell for cell in executed.cells if cell.cell_type == "code"]
        for count, cell in enumerate(code, start=1):
            cell.execution_count = count

    monkeypatch.setattr(authoring, "execute", pretend)


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "runtime" not in path.parts
    }


def refused(path: str | Path, capsys: pytest.CaptureFixture[str], **options: bool) -> str:
    """Refresh one bad notebook: status 1, its bytes as before; return what was said."""
    before = everything(Path.cwd())
    assert authoring.refresh([path], **options) == 1
    assert everything(Path.cwd()) == before
    return capsys.readouterr().out


# --- refresh ------------------------------------------------------------------------------------


def test_two_refreshes_give_equal_bytes_and_one_normal_form(course: Path, capsys) -> None:
    path = course / "notebooks" / "03_a.ipynb"
    path.write_bytes(
        notebook(
            "# Title",
            "import os\nprint('one')\nprint('two')\nos.path.basename(os.getcwd())",
            "import ipywidgets\n"
            "class Both:\n"
            "    def _repr_mimebundle_(self, **_):\n"
            "        live = ipywidgets.IntSlider()._repr_mimebundle_()\n"
            "        return live | {'text/plain': 'a sentence', 'text/html': '<b>static</b>'}\n"
            "Both()",
        )
    )
    assert authoring.refresh() == 0
    first = path.read_bytes()
    assert authoring.refresh() == 0
    assert path.read_bytes() == first
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("[1/1] notebooks/03_a.ipynb ... rewritten (")
    assert said[1] == "1 notebooks: 1 rewritten"
    assert said[2].startswith("[1/1] notebooks/03_a.ipynb ... unchanged (")

    stored = json.loads(first)
    assert [cell["id"] for cell in stored["cells"]] == ["03_a-00", "03_a-01", "03_a-02"]
    assert [cell["metadata"] for cell in stored["cells"]] == [
        {"slideshow": {"slide_type": kind}} for kind in ("slide", "fragment", "fragment")
    ]
    assert [cell.get("execution_count") for cell in stored["cells"]] == [None, 1, 2]
    assert stored["metadata"] == {
        "kernelspec": authoring.KERNELSPEC,
        "language_info": {"name": "python"},
    }
    printed, value = stored["cells"][1]["outputs"]
    assert printed["text"] == ["one\n", "two\n"]
    assert value["data"]["text/plain"] == ["'notebooks'"]  # it ran in its own folder
    shown = stored["cells"][2]["outputs"][0]
    assert set(shown["data"]) == {"text/plain", "text/html"}
    assert shown["metadata"] == {}
    assert first.endswith(b"}\n")
    assert b"\r" not in first


@pytest.mark.usefixtures("no_kernel")
def test_slides_keep_their_mark(course: Path) -> None:
    path = course / "notebooks" / "a.ipynb"
    document = json.loads(notebook("# Title"))
    document["cells"][0]["metadata"] = {"slideshow": {"slide_type": "slide"}, "editable": True}
    path.write_text(json.dumps(document), encoding="utf-8")
    assert authoring.refresh([path]) == 0
    kept = json.loads(path.read_bytes())["cells"][0]["metadata"]
    assert kept == {"slideshow": {"slide_type": "slide"}}


def test_check_names_the_first_difference_and_writes_nothing(course: Path, capsys) -> None:
    path = course / "notebooks" / "a.ipynb"
    path.write_bytes(notebook("# A", "0.125 * 2"))
    authoring.refresh()
    assert authoring.refresh(check=True) == 0
    path.write_bytes(path.read_bytes().replace(b'"0.25"', b'"0.26"'))
    capsys.readouterr()
    said = refused(path, capsys, check=True)
    assert "... stale\n" in said
    assert 'at a-01: stored "0.26", now "0.25"' in said


@pytest.mark.usefixtures("no_kernel")
def test_a_write_keeps_the_mode_and_leaves_no_other_file(course: Path) -> None:
    path = course / "notebooks" / "a.ipynb"
    path.write_bytes(notebook("1"))
    path.chmod(0o640)
    authoring.refresh([path])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 or os.name == "nt"
    assert list(everything(course)) == ["notebooks/a.ipynb"]


@pytest.mark.usefixtures("no_kernel")
def test_a_write_that_is_cut_off_leaves_the_old_file(course: Path, monkeypatch) -> None:
    path = course / "notebooks" / "a.ipynb"
    path.write_bytes(notebook("1"))
    before = everything(course)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        authoring.refresh([path])
    assert everything(course) == before


# --- refusals -----------------------------------------------------------------------------------


def test_a_failing_cell_is_named_and_the_others_are_still_refreshed(course: Path, capsys) -> None:
    bad, good = course / "notebooks" / "01_bad.ipynb", course / "notebooks" / "02_good.ipynb"
    bad.write_bytes(notebook("# A", "1", "width = 0\n1 / width", "2"))
    good.write_bytes(notebook("1 + 1"))
    before = bad.read_bytes()
    assert authoring.refresh() == 1
    said = capsys.readouterr().out
    assert "notebooks/01_bad.ipynb, cell 2 (01_bad-02): ZeroDivisionError: division by zero" in said
    assert "[2/2] notebooks/02_good.ipynb ... rewritten" in said
    assert said.endswith("2 notebooks: 1 refused, 1 rewritten\n")
    assert bad.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"{ not json", "not JSON: Expecting property name"),
        (b"\xff\xfe", "not JSON: 'utf-8' codec"),
        (b"", "not JSON: "),
        (b"[1, 2]", "JSON, but no notebook"),
        (b'{"cells": []}', "JSON, but no notebook: no nbformat"),
        (b'{"nbformat": 3, "worksheets": []}', "notebook format must be 4; got 3"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "JSON, but no valid notebook"),
        (
            b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}',
            "no valid notebook",
        ),
        (
            b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {},'
            b' "cells": [{"cell_type": "poem", "metadata": {}, "source": ""}]}',
            "JSON, but no valid notebook",
        ),
        (notebook("1", kernel=None), "metadata must name the kernel"),
        (notebook("1", kernel="julia-1.9"), "got 'julia-1.9'"),
    ],
    ids=[
        "brace",
        "bytes",
        "empty",
        "list",
        "no-format",
        "format-3",
        "no-cells",
        "cell-no-object",
        "cell-of-no-kind",
        "no-kernel",
        "other-kernel",
    ],
)
def test_what_is_no_runnable_notebook_is_refused_with_its_cause(
    course: Path, capsys, content: bytes, cause: str
) -> None:
    (course / "notebooks" / "a.ipynb").write_bytes(content)
    said = refused("notebooks/a.ipynb", capsys)
    assert f"notebooks/a.ipynb: {cause}" in said or cause in said
    assert "notebooks/a.ipynb: " in said


def test_a_missing_file_is_refused(course: Path, capsys) -> None:
    assert "notebooks/none.ipynb: No such file" in refused("notebooks/none.ipynb", capsys)


def test_a_kernel_that_is_not_installed_is_named(course: Path, capsys, monkeypatch) -> None:
    (course / "notebooks" / "a.ipynb").write_bytes(notebook("1", kernel="gone"))
    monkeypatch.setattr(authoring, "KERNEL", "gone")
    assert "kernel gone is not installed" in refused("notebooks/a.ipynb", capsys)


def test_a_cell_that_never_ends_and_one_that_kills_the_kernel_are_named(
    course: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(authoring, "CELL_SECONDS", 1)
    (course / "notebooks" / "a.ipynb").write_bytes(notebook("import time", "time.sleep(30)"))
    said = refused("notebooks/a.ipynb", capsys)
    assert "cell 1 (a-01): still running after 1 s" in said
    monkeypatch.setattr(authoring, "CELL_SECONDS", 30)
    (course / "notebooks" / "a.ipynb").write_bytes(notebook("import os", "os._exit(1)"))
    assert "cell 1 (a-01): the kernel died" in refused("notebooks/a.ipynb", capsys)


def test_a_file_saved_by_another_program_meanwhile_is_not_overwritten(
    course: Path, capsys, monkeypatch
) -> None:
    path = course / "notebooks" / "a.ipynb"
    path.write_bytes(notebook("1"))
    monkeypatch.setattr(authoring, "execute", lambda *_: path.write_text("newer"))
    assert authoring.refresh([path]) == 1
    assert "it changed on disk while it was executed" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == "newer"


@pytest.mark.parametrize("beside", [".#a.ipynb", ".a.ipynb.swp"])
def test_a_file_that_an_editor_holds_open_is_refused(course: Path, capsys, beside: str) -> None:
    (course / "notebooks" / "a.ipynb").write_bytes(notebook("1"))
    (course / "notebooks" / beside).write_text("user@host")
    assert f"an editor holds it open ({beside})" in refused("notebooks/a.ipynb", capsys)


class Sessions(http.server.BaseHTTPRequestHandler):
    """As much of a Jupyter server as is asked: it has a.ipynb open."""

    def do_GET(self) -> None:
        right = self.headers["Authorization"] == "token secret" and self.path == "/api/sessions"
        self.send_response(200 if right else 403)
        self.end_headers()
        self.wfile.write(b'[{"path": "notebooks/a.ipynb"}]')

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.usefixtures("no_kernel")
def test_a_notebook_open_in_jupyterlab_is_refused_and_its_neighbour_is_not(
    course: Path, capsys
) -> None:
    for name in ("a", "b"):
        (course / "notebooks" / f"{name}.ipynb").write_bytes(notebook("1"))
    (course / "runtime").mkdir()
    ended = {"url": "http://127.0.0.1:9/", "token": "", "root_dir": str(course)}
    (course / "runtime" / "jpserver-1.json").write_text(json.dumps(ended))
    (course / "runtime" / "jpserver-2.json").write_text("damaged")
    with http.server.HTTPServer(("127.0.0.1", 0), Sessions) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        running = {"url": url, "token": "secret", "root_dir": str(course)}
        (course / "runtime" / "jpserver-3.json").write_text(json.dumps(running))
        assert "it is open in JupyterLab" in refused("notebooks/a.ipynb", capsys)
        assert authoring.refresh(["notebooks/a.ipynb"], check=True) == 1  # stale, but looked at
        assert authoring.refresh(["notebooks/b.ipynb"]) == 0
        server.shutdown()


# --- exercises ----------------------------------------------------------------------------------

SOLUTION = notebook(
    "# Exercise",
    "def twice(x):\n    ### BEGIN SOLUTION\n    y = 2 * x\n    return y\n    ### END SOLUTION",
    "<!-- solution -->\nBecause.",
    "<details>A hint.</details>",
    "print(twice(2))",
    "### BEGIN SOLUTION\nanswer = 4\n### END SOLUTION",
)


def test_an_exercise_is_its_solution_without_the_answers_and_executed(course: Path, capsys) -> None:
    solution, exercise = (
        course / "solutions" / "ex01_a.ipynb",
        course / "exercises" / "ex01_a.ipynb",
    )
    solution.write_bytes(SOLUTION)
    assert authoring.refresh() == 0
    solved, made = json.loads(solution.read_bytes()), json.loads(exercise.read_bytes())
    assert solved["cells"][4]["outputs"][0]["text"] == ["4\n"]
    sources = ["".join(cell["source"]) for cell in made["cells"]]
    assert sources == [
        "# Exercise",
        "def twice(x):\n    ...  # your code here",
        "<details>A hint.</details>",
        "print(twice(2))",
        "...  # your code here",
    ]
    assert made["cells"][3]["outputs"][0]["text"] == ["None\n"]
    assert [cell["id"] for cell in made["cells"]] == [f"ex01_a-{n:02d}" for n in range(5)]
    assert [cell.get("execution_count") for cell in made["cells"]] == [None, 1, None, 2, 3]

    before = everything(course)
    assert authoring.build_exercises(check=True) == 0
    assert authoring.refresh(["exercises/ex01_a.ipynb"]) == 0
    assert everything(course) == before


@pytest.mark.usefixtures("no_kernel")
def test_an_exercise_edited_by_hand_is_stale_and_rebuilt(course: Path, capsys) -> None:
    (course / "solutions" / "ex01_a.ipynb").write_bytes(SOLUTION)
    exercise = course / "exercises" / "ex01_a.ipynb"
    authoring.refresh()
    right = exercise.read_bytes()
    exercise.write_bytes(right.replace(b"A hint", b"A typo"))
    assert authoring.build_exercises(check=True) == 1
    assert "... stale\n" in capsys.readouterr().out
    assert authoring.build_exercises() == 0
    assert exercise.read_bytes() == right


def test_an_exercise_without_a_solution_is_named_and_kept(course: Path, capsys) -> None:
    (course / "exercises" / "ex02_b.ipynb").write_bytes(notebook("1"))
    before = everything(course)
    assert authoring.build_exercises() == 1
    assert "exercises/ex02_b.ipynb: no solutions/ex02_b.ipynb to make it from" in (
        capsys.readouterr().out
    )
    assert everything(course) == before


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("### BEGIN SOLUTION\n1", "### BEGIN SOLUTION without ### END SOLUTION"),
        ("1\n### END SOLUTION", "### END SOLUTION without ### BEGIN SOLUTION"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n1\n### END SOLUTION", "has not ended"),
    ],
)
def test_a_marker_without_its_partner_names_the_cell(course: Path, capsys, source, cause) -> None:
    (course / "solutions" / "ex01_a.ipynb").write_bytes(notebook("# A", source))
    assert authoring.build_exercises() == 1
    said = capsys.readouterr().out
    assert "solutions/ex01_a.ipynb, cell 1 (ex01_a-01): " in said
    assert cause in said
    assert not (course / "exercises" / "ex01_a.ipynb").exists()


def test_two_regions_of_one_cell_become_two_stubs() -> None:
    source = "a = (\n    ### BEGIN SOLUTION\n    1\n    ### END SOLUTION\n)\n" * 2
    stub = "a = (\n    ...  # your code here\n)\n"
    assert authoring.without_solution(source) == stub * 2


def test_a_refusal_says_where_and_why() -> None:
    refusal = NotebookRefused("a.ipynb", None, "not JSON")
    assert (refusal.path, refusal.cell, refusal.reason) == ("a.ipynb", None, "not JSON")
    assert str(refusal) == "a.ipynb: not JSON"
