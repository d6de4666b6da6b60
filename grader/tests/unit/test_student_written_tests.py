"""Tests of the katas in which students write tests, and of the programs that these tests check (some are hidden)."""

import importlib
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from grader.commands.package.project import copy_project
from grader.commands.package.write import run_package
from grader.commands.release.contents import build_handout
from scripts.write_hidden import find_files, update
from tests.candidates import Candidates, Program, read_candidates
from torchkata.course import HIDDEN_PROGRAMS, course
from torchkata.seam.student import InProcess, Student

KATAS = [path.parent.name for path in find_files()]


def read(kata: str, file: str) -> Candidates:
    """Return the programs in a file of a kata, which are called with the probe and arguments that its tests use."""
    candidates: Candidates = importlib.import_module(f"tests.test_{kata}").CANDIDATES
    return read_candidates(course().folder(kata) / file, kata, candidates.probe, *candidates.arguments)


@pytest.fixture
def solution(tmp_path: Path) -> Student:
    """Return a student whose files are the solutions."""
    for name, content in course().solutions().items():
        (tmp_path / name).write_bytes(content)
    return Student(InProcess(tmp_path, course().limits.call_seconds))


@pytest.mark.parametrize("path", find_files(), ids=KATAS)
def test_hidden_programs_match_the_zoo(path: Path) -> None:
    assert path.read_text("utf-8") == update(path), "run python -m scripts.write_hidden"


@pytest.mark.parametrize("kata", KATAS)
def test_each_group_has_hidden_and_visible_programs(kata: str) -> None:
    hidden, visible = read(kata, HIDDEN_PROGRAMS), read(kata, "visible.toml")
    assert hidden.wrong.keys() == visible.wrong.keys()
    for candidates, right, wrong in ((hidden, 6, 12), (visible, 2, 4)):
        assert len(candidates.right) >= right
        assert sum(map(len, candidates.wrong.values())) >= wrong
    public = (course().folder(kata) / "visible.toml").read_text("utf-8")
    programs = [*hidden.right, *(program for group in hidden.wrong.values() for program in group)]
    assert not any(program.source.strip() in public for program in programs)


@pytest.mark.parametrize("kata", KATAS)
def test_solution_accepts_correct_and_rejects_wrong_programs(kata: str, solution: Student) -> None:
    visible = read(kata, "visible.toml")
    visible.assert_right_accepted(solution, 0)
    for group in visible.wrong:
        visible.assert_group_caught(solution, group, 0)


def test_only_grader_gets_hidden_programs() -> None:
    hidden = {f"reference/{kata}/{HIDDEN_PROGRAMS}" for kata in KATAS}
    handout = build_handout([*course().katas.values()])
    assert hidden.isdisjoint(handout)
    assert {f"reference/{kata}/visible.toml" for kata in KATAS} <= handout.keys()
    assert hidden <= copy_project(KATAS, is_public=False).keys()


@pytest.mark.parametrize(
    ("platform", "graded", "expected"),
    [
        ("gradescope", KATAS, KATAS),
        ("gradescope", KATAS[:1], KATAS[:1]),
        ("gradescope", ["linear"], []),
        ("github", KATAS, []),
        ("classroom50", KATAS, []),
    ],
)
def test_only_graded_private_package_has_hidden_programs(
    platform: str, graded: list[str], expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / ("out.zip" if platform == "gradescope" else "out")
    assert run_package(platform, out, graded, "--seed 0", None, force=False) == 0
    if out.is_file():
        with zipfile.ZipFile(out) as archive:
            archive.extractall(tmp_path / "unpacked")
    assert sorted(path.parent.name for path in tmp_path.rglob(HIDDEN_PROGRAMS)) == expected
    assert ("grade these katas yourself" in capsys.readouterr().out) == (platform != "gradescope")


@pytest.mark.parametrize("verdict", ["accepted", "rejected", "error"])
def test_message_never_shows_text_about_hidden_program(verdict: str) -> None:
    programs = [Program("it is unusual", "", False)], {"group": [Program("it adds the gradient", "", False)]}
    student = Mock()
    student.call.return_value = {"verdict": verdict, "text": "ValueError: the source of the program"}
    with pytest.raises(AssertionError) as failed:
        Candidates("kata", len, (), *programs).assert_group_caught(student, "group", 0)
    assert "source" not in str(failed.value)
    assert ("it adds" if verdict == "accepted" else "unusual") in str(failed.value)
