"""Commands run inside a submission never execute files planted for Python, pytest or the grader to find."""

import sys
from pathlib import Path

import pytest

from grader.results.result import read
from grader.sandbox import mounts
from grader.sandbox.mounts import Gpu
from grader.tests import ROOT
from grader.tests.conftest import Run, get_environment, run_program
from grader.tests.support.submissions import LINEAR, write_submissions, write_traps

FEW = ("--kata", "linear", "--examples", "5")


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    (folder,) = write_submissions(tmp_path / "ada", LINEAR, "assignment")
    write_traps(folder, tmp_path / "mark")
    return write_traps(tmp_path / "ada", tmp_path / "mark")


def run_grader(submission: Path, *arguments: str | Path) -> Run:
    """Run the installed `grader` in the folder of the submission."""
    return run_program(
        Path(sys.executable).with_name("grader"), *arguments, cwd=submission, environment=get_environment()
    )


@pytest.mark.parametrize("level", ["bwrap", "none"])
@pytest.mark.usefixtures("needs_bwrap")
def test_grading_executes_no_file_next_to_submission(submission: Path, tmp_path: Path, level: str) -> None:
    out, course = tmp_path / "out", ("--course", ROOT)
    done = run_grader(submission, *course, "grade", ".", "--out", out, "--isolation", level, *FEW)
    assert done.code == 0, done.err
    assert read(out / "ada/result.json").katas[0].status == "done"
    for command in (("report", out), ("export", out, "--format", "junit", "--out", tmp_path / "junit.xml")):
        assert run_grader(submission, *course, *command).code == 0
    assert not (tmp_path / "mark").exists()


def test_packaging_executes_no_file_in_the_folder(submission: Path, tmp_path: Path) -> None:
    done = run_grader(submission, "--course", ROOT, "package", "classroom50", "--out", tmp_path / "new", *FEW)
    assert done.code == 0, done.err
    assert not (tmp_path / "mark").exists()


def test_course_within_submission_is_rejected(submission: Path, tmp_path: Path) -> None:
    done = run_grader(submission, "grade", ".", "--out", tmp_path / "out")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"the nearest course ({submission}) is in this submission, so the student's tests would be used" in done.err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "mark").exists()


def test_driver_search_executes_no_file_in_the_folder(
    submission: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(submission)
    mounts.find_library_folders(Gpu("GPU-1", 0))
    assert not (tmp_path / "mark").exists()
