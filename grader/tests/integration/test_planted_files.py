"""`grader` called in a hand-in that has files like those that Python, pytest and we look for: none of them runs."""

import sys
from pathlib import Path

import pytest

from grader.results.result import read
from grader.sandbox import launch
from grader.tests import ROOT
from grader.tests.conftest import Run, start, without_pytest
from grader.tests.support.submissions import LINEAR, handed_in, trapped

FEW = ("--kata", "linear", "--examples", "5")


@pytest.fixture
def hand_in(tmp_path: Path) -> Path:
    """A right solution, and traps around it and beside it."""
    handed_in(tmp_path / "ada", LINEAR, "assignment")
    trapped(tmp_path / "ada/assignment", tmp_path / "mark")
    return trapped(tmp_path / "ada", tmp_path / "mark")


def grader(hand_in: Path, *arguments: str | Path) -> Run:
    """The installed command, called there."""
    return start(Path(sys.executable).with_name("grader"), *arguments, cwd=hand_in, environment=without_pytest())


@pytest.mark.parametrize("level", ["bwrap", "none"])
@pytest.mark.usefixtures("needs_bwrap")
def test_grading_runs_no_file_beside_the_submission(hand_in: Path, tmp_path: Path, level: str) -> None:
    out, course = tmp_path / "out", ("--course", ROOT)
    done = grader(hand_in, *course, "grade", ".", "--out", out, "--isolation", level, *FEW)
    assert done.code == 0, done.err
    assert read(out / "ada/result.json").katas[0].status == "done"
    for command in (("report", out), ("export", out, "--format", "junit", "--to", tmp_path / "junit.xml")):
        assert grader(hand_in, *course, *command).code == 0
    assert not (tmp_path / "mark").exists()


def test_packaging_runs_no_file_of_the_folder(hand_in: Path, tmp_path: Path) -> None:
    done = grader(hand_in, "--course", ROOT, "package", "classroom50", tmp_path / "new", *FEW)
    assert done.code == 0, done.err
    assert not (tmp_path / "mark").exists()


def test_course_within_submission_is_refused(hand_in: Path, tmp_path: Path) -> None:
    done = grader(hand_in, "grade", ".", "--out", tmp_path / "out")
    assert (done.code, done.err) == (
        2,
        f"grader: .: the nearest course ({hand_in}) is in this submission, so its tests are the student's; name yours: "
        "grader --course DIR grade\n",
    )
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "mark").exists()


def test_driver_search_runs_no_file_of_the_folder(
    hand_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hand_in)
    launch.find_driver_folders()
    assert not (tmp_path / "mark").exists()
