"""The doctor, shown one trouble after the other: each is named, cured and counted."""

import json
import os
import sys

import pytest

from coursekit import doctor, errors
from coursekit.doctor import Finding

PINS = "numpy==2.0.0\nabsent-package==1.0\nother-system==1 ; sys_platform == 'plan9'\n"


def only(findings):
    (finding,) = findings
    return finding


def test_python_versions():
    assert not doctor.python_version((3, 11, 0)).is_trouble
    assert not doctor.python_version((3, 14, 1)).is_trouble
    old = doctor.python_version((3, 10, 13))
    assert old.is_trouble
    assert "3.11" in old.cure
    assert "3.10.13" in old.seen


def test_a_python_of_32_bits(monkeypatch):
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert "64-bit" in doctor.python_version((3, 12, 0)).cure


def test_a_work_folder_that_can_be_written_is_left_as_it_was(tmp_path):
    assert not doctor.work_folder(tmp_path / "my_work").is_trouble
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "my_work").mkdir()
    assert not doctor.work_folder(tmp_path / "my_work").is_trouble
    assert list((tmp_path / "my_work").iterdir()) == []


def test_a_work_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "my_work").write_text("a file in its place", encoding="utf-8")
    finding = doctor.work_folder(tmp_path / "my_work")
    assert finding.is_trouble
    assert str(tmp_path / "my_work") in finding.seen

    def denied(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", denied)
    finding = doctor.work_folder(tmp_path)
    assert "Permission denied" in finding.seen
    assert "write" in finding.cure


def test_versions_as_tried(monkeypatch):
    monkeypatch.setattr(doctor, "_required", lambda: ["numpy"])
    finding = only(doctor.packages("numpy==2.0.0\n# remark\n\n", {"numpy": "2.0.0"}.get))
    assert finding == Finding("packages", "1 in the versions of constraints.txt")


def test_another_version_than_the_one_tried(monkeypatch):
    monkeypatch.setattr(doctor, "_required", lambda: ["numpy"])
    found = list(doctor.packages(PINS, {"numpy": "1.26.4", "other-system": "7"}.get))
    assert [finding.is_trouble for finding in found] == [True, False]
    assert found[0].seen == "numpy is 1.26.4, tried with 2.0.0"
    assert "constraints.txt" in found[0].cure
    assert found[1].seen.startswith("0 ")


def test_a_missing_package(monkeypatch):
    monkeypatch.setattr(doctor, "_required", lambda: ["numpy", "jupyterlab"])
    found = list(doctor.packages(PINS, {"numpy": "2.0.0"}.get))
    assert [(finding.seen, finding.is_trouble) for finding in found] == [
        ("jupyterlab is missing", True),
        ("1 in the versions of constraints.txt", False),
    ]


def test_what_is_required_comes_from_the_installation(monkeypatch):
    required = doctor._required()
    assert {"jupyterlab", "numpy", "matplotlib", "ipywidgets", "safetensors"} <= set(required)
    assert "pytest" not in required
    assert doctor._installed("numpy")
    assert doctor._installed("no-such-package") is None

    def unknown(name):
        raise doctor.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "requires", unknown)
    assert doctor._required() == ["coursekit"]


def test_a_missing_packaging(monkeypatch):
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    assert only(doctor.packages(PINS)).cure == doctor.REINSTALL


def test_a_real_kernel_computes_and_draws():
    found = list(doctor.kernel())
    assert [finding.is_trouble for finding in found] == [False, False]
    assert found[1].subject == "matplotlib"


def test_a_kernel_that_is_not_installed():
    finding = only(doctor.kernel("no-such-kernel"))
    assert "no-such-kernel" in finding.seen
    assert "ipykernel install" in finding.cure


@pytest.mark.parametrize(
    ("failure", "seen"),
    [
        (
            ModuleNotFoundError("No module named 'jupyter_client'"),
            "No module named 'jupyter_client'",
        ),
        (RuntimeError("ImportError: Cannot load backend\n'qtagg'"), "'qtagg'"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_a_kernel_that_does_not_run(monkeypatch, failure, seen):
    def fails(*_):
        raise failure

    monkeypatch.setattr(doctor, "_printed_by_kernel", fails)
    finding = only(doctor.kernel())
    assert finding.seen == f"does not run ({seen})"
    assert finding.is_trouble


def answer(monkeypatch, **changes):
    seen = {
        "python": sys.prefix,
        "coursekit": "rng.py",
        "word": doctor.FIRST_WORD_OF_SEED_0,
        "backend": "agg",
    }
    monkeypatch.setattr(doctor, "_printed_by_kernel", lambda *_: json.dumps(seen | changes))
    return list(doctor.kernel())


def test_a_kernel_of_another_python(monkeypatch, tmp_path):
    finding = only(answer(monkeypatch, python=str(tmp_path)))
    assert str(tmp_path) in finding.seen
    assert "kernelspec remove" in finding.cure


def test_a_changed_generator(monkeypatch):
    assert not any(finding.is_trouble for finding in answer(monkeypatch))
    assert answer(monkeypatch, word=1)[-1].is_trouble


def test_an_error_in_the_kernel_is_told(monkeypatch):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        doctor._printed_by_kernel("python3", "1 / 0", 60.0)


@pytest.mark.parametrize(
    ("findings", "status", "last"),
    [
        ([Finding("a", "fine")], 0, "No trouble found."),
        ([Finding("a", "fine"), Finding("b", "bad", "mend it")], 1, "1 trouble found."),
        ([Finding("a", "bad", "x"), Finding("b", "bad", "y")], 1, "2 troubles found."),
    ],
)
def test_the_exit_status_counts_troubles(monkeypatch, capsys, findings, status, last):
    monkeypatch.setattr(doctor, "examine", lambda: iter(findings))
    assert doctor.main() == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    for finding in findings:
        assert any(f"{finding.subject}: {finding.seen}" in line for line in lines)
        assert not finding.cure or f"        cure: {finding.cure}" in lines


def test_an_examination_looks_at_everything(monkeypatch, tmp_path):
    (tmp_path / "constraints.txt").write_text("numpy==0.1\n", encoding="utf-8")
    monkeypatch.setattr(doctor, "course_root", lambda: tmp_path)
    monkeypatch.setattr(doctor, "kernel", lambda: iter([Finding("kernel", "fine")]))
    subjects = [finding.subject for finding in doctor.examine()]
    assert subjects == ["Python", "course", "work folder", "packages", "packages", "kernel"]
    assert os.listdir(tmp_path) == ["constraints.txt"]


def test_without_the_course_there_is_nothing_more_to_look_at(monkeypatch):
    def missing():
        raise errors.CourseNotFound("notebooks", "here", "there")

    monkeypatch.setattr(doctor, "course_root", missing)
    found = list(doctor.examine())
    assert [finding.subject for finding in found] == ["Python", "course"]
    assert found[1].cure == "change to the folder that you cloned"
