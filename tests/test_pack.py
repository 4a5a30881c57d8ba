"""The hand-out: the same bytes twice, whole, without what is kept back, and it works unpacked."""

import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from coursekit import __main__ as command_line
from coursekit.publishing import pack

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[str]]:
    target = tmp_path_factory.mktemp("pack") / "course.zip"
    said = list(pack.make(root=ROOT, target=target))
    return target.read_bytes(), said


@pytest.fixture
def unpacked(zipped, tmp_path: Path) -> Path:
    zipfile.ZipFile(io.BytesIO(zipped[0])).extractall(tmp_path)
    return tmp_path / pack.NAME


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A course of few files, with what must not be handed out lying between them."""
    for name in (
        "README.md",
        "pyproject.toml",
        "notebooks/00_start_here.ipynb",
        "notebooks/instructor_guide.ipynb",
        "notebooks/data/digits.csv.gz",
        "notebooks/.ipynb_checkpoints/00_start_here-checkpoint.ipynb",
        "notebooks/scratch.py",
        "exercises/ex01_a.ipynb",
        "solutions/ex01_a.ipynb",
        "my_work/ex01_a.ipynb",
        "tests/test_a.py",
        "coursekit/rng.py",
        "coursekit/__pycache__/rng.cpython-311.pyc",
        "coursekit/lab_settings/overrides.json",
    ):
        path = tmp_path / "course" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path / "course"


def test_only_what_a_learner_needs_is_handed_out(small: Path) -> None:
    assert [name for name, _ in pack.members(small)] == [
        "README.md",
        "coursekit/lab_settings/overrides.json",
        "coursekit/rng.py",
        "exercises/ex01_a.ipynb",
        "notebooks/00_start_here.ipynb",
        "notebooks/data/digits.csv.gz",
        "pyproject.toml",
    ]


def test_time_mode_and_place_leave_no_trace(small: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    list(pack.make(root=small, target=first))
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(small, elsewhere)
    for path in elsewhere.rglob("*.py"):
        path.chmod(0o755)
        os.utime(path, (0, 0))
    list(pack.make(root=elsewhere, target=second))
    assert first.read_bytes() == second.read_bytes()
    (elsewhere / "README.md").write_text("changed", encoding="utf-8")
    list(pack.make(root=elsewhere, target=second))
    assert first.read_bytes() != second.read_bytes()


def test_entries_are_sorted_stored_and_of_one_time_and_mode(zipped) -> None:
    entries = zipfile.ZipFile(io.BytesIO(zipped[0])).infolist()
    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert {name.partition("/")[0] for name in names} == {pack.NAME}
    for entry in entries:
        assert entry.compress_type == zipfile.ZIP_STORED
        assert entry.date_time == (1980, 1, 1, 0, 0, 0)
        assert (entry.create_system, entry.external_attr >> 16) == (3, 0o100644)


def test_no_answer_is_in_it(zipped) -> None:
    archive = zipfile.ZipFile(io.BytesIO(zipped[0]))
    names = archive.namelist()
    assert not [
        name for name in names if re.search(r"solutions/|tests/|guide\.ipynb|my_work", name)
    ]
    for name in names:
        if name.endswith(".ipynb"):
            assert b"BEGIN SOLUTION" not in archive.read(name), name
    assert len(
        [name for name in names if "/notebooks/" in name and name.endswith(".ipynb")]
    ) == len(list((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")))


def test_what_is_done_is_said(zipped) -> None:
    packed, said = zipped
    assert [line.partition(":")[0] for line in said[:-1]] == [
        "beside them",
        "coursekit",
        "exercises",
        "notebooks",
    ]
    counted = sum(int(re.search(r": (\d+) files", line)[1]) for line in said[:-1])
    assert counted == len(zipfile.ZipFile(io.BytesIO(packed)).infolist())
    assert re.search(r"course\.zip: \d+\.\d\d MB, SHA-256 [0-9a-f]{64}$", said[-1])


def test_the_readme_names_no_file_and_no_command_that_is_not_there(unpacked: Path) -> None:
    text = (unpacked / "README.md").read_text(encoding="utf-8")
    assert "not handed out" not in text
    assert "solutions/" not in text
    assert "pytest" not in text
    for link in re.findall(r"\]\((?!https:|#)([^)]+)\)", text):
        assert (unpacked / link).is_file(), link
    commands = re.findall(r"```sh\n(.*?)\n```", text, re.S)
    assert commands[0].startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert commands[0].endswith(".venv/bin/coursekit lab")
    assert all(command.strip() for command in commands)


def test_links_between_notebooks_lead_somewhere(unpacked: Path) -> None:
    for path in sorted(unpacked.rglob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(((?:\.\./)?[\w/]+\.(?:ipynb|md))", text):
            if (ROOT / path.relative_to(unpacked).parent / link).exists():
                assert (path.parent / link).is_file(), f"{path.name}: {link}"


def test_what_the_installation_reads_is_there_and_the_package_runs(unpacked: Path) -> None:
    about = tomllib.loads((unpacked / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in (about["readme"], *about["license-files"], "constraints.txt"):
        assert (unpacked / name).is_file(), name
    run = subprocess.run(
        [sys.executable, "-m", "coursekit", "report"],
        cwd=unpacked,
        env=os.environ | {"PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=True,
    )
    golden = (ROOT / "tests" / "golden" / "report.txt").read_bytes()
    assert run.stdout.replace(b"\r\n", b"\n") == golden


def test_a_class_packs_what_it_was_handed_to_the_same_bytes(zipped, unpacked, tmp_path) -> None:
    again = tmp_path / "again.zip"
    list(pack.make(root=unpacked, target=again))
    assert again.read_bytes() == zipped[0]


def test_a_zip_that_cannot_be_written_leaves_the_old_one(small: Path, tmp_path: Path) -> None:
    target = tmp_path / "course.zip"
    target.write_bytes(b"old")
    (small / "coursekit" / "gone.py").symlink_to(small / "nowhere.py")
    (small / "README.md").unlink()
    (small / "README.md").mkdir()
    list(pack.make(root=small, target=target))
    assert (
        zipfile.ZipFile(target).namelist()[0]
        == f"{pack.NAME}/coursekit/lab_settings/overrides.json"
    )


def test_the_command_passes_its_file_on(monkeypatch, capsys) -> None:
    monkeypatch.setattr(pack, "make", lambda target: iter([f"made {target}"]))
    assert command_line.main(["pack", "--output", "a.zip"]) == 0
    assert command_line.main(["pack"]) == 0
    assert capsys.readouterr().out == "made a.zip\nmade None\n"
