"""Tests of the katas in which students write tests, and of the programs that these tests check (some are hidden)."""

import importlib
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from grader.commands.package.platform_package import run_package
from grader.options import PackageOptions
from scripts.write_hidden import find_files, update
from tests.candidates import Candidates, Program, read_candidates
from torchkata import require
from torchkata.course import HIDDEN_PROGRAMS, course
from torchkata.inside.text import Text
from torchkata.seam.failures import NotStarted, Wrong
from torchkata.seam.student import InProcess, Student

KATAS = [path.parent.name for path in find_files()]


def read(kata: str, file: str) -> Candidates:
    """Return the programs in a file of a kata, which are called with the probe and arguments that its tests use."""
    candidates: Candidates = importlib.import_module(f"tests.test_{kata}").CANDIDATES
    path = course().folder(kata) / file
    return read_candidates(path, kata, candidates.name, candidates.probe, candidates.hidden_probe)


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


@pytest.mark.parametrize(
    ("platform", "graded", "expected"), [("gradescope", KATAS[:1], KATAS[:1]), ("github", KATAS, [])]
)
def test_only_graded_private_package_has_hidden_programs(
    platform: str, graded: list[str], expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / ("out.zip" if platform == "gradescope" else "out")
    assert run_package(platform, PackageOptions(out=out, katas=tuple(graded), examples=10)) == 0
    if out.is_file():
        with zipfile.ZipFile(out) as archive:
            archive.extractall(tmp_path / "unpacked")
    assert sorted(path.parent.name for path in tmp_path.rglob(HIDDEN_PROGRAMS)) == expected
    assert ("grade these katas yourself" in capsys.readouterr().out) == (platform != "gradescope")


@pytest.mark.parametrize("verdict", ["accepted", "rejected", "error", None, "the source of the program"])
def test_message_never_shows_text_about_hidden_program(verdict: str | None) -> None:
    unusual, adding = (Program(Text(says), "", False) for says in ("it is unusual", "it adds the gradient"))
    programs = [unusual], {"group": [adding]}
    student = Mock(memory={})
    student.call.return_value = verdict
    with pytest.raises(AssertionError) as failed:
        Candidates("kata", "SGD", len, len, *programs).assert_group_caught(student, "group", b"")
    assert "source" not in str(failed.value)
    assert ("it adds" if verdict == "accepted" else "unusual") in str(failed.value)


@pytest.mark.parametrize("rejected_call", [0, 1])
def test_rejection_by_chance_shows_its_text(rejected_call: int) -> None:
    replies = [{"verdict": "accepted", "text": ""}] * 2
    replies[rejected_call] = {"verdict": "rejected", "text": "AssertionError: uneven"}
    student = Mock(memory={})
    student.call.side_effect = replies
    right = [Program(Text("your SGD may be wrong"), "", True)]
    with pytest.raises(AssertionError, match=r"in one of two calls, so it fails by chance: .*uneven") as failed:
        Candidates("kata", "SGD", len, len, right, {}).assert_right_accepted(student, b"")
    assert "may be wrong" not in str(failed.value)


@pytest.mark.parametrize("accepted", ["b", "", "ab"])
def test_check_without_tolerance_is_named(accepted: str) -> None:
    def judge(_probe: Any, _kata: str, _name: str, source: str, _seed: int) -> dict[str, str]:
        return {"verdict": "accepted" if source in [*accepted] else "rejected", "text": ""}

    student = Mock(memory={})
    student.call.side_effect = judge
    right = [Program(Text(says), says, True, is_rounding=says != "own") for says in ("own", "a", "b")]
    with pytest.raises(Wrong) as failed:
        Candidates("kata", "SGD", len, len, right, {}).assert_right_accepted(student, b"")
    is_named = accepted == "b"
    assert ("allow for a few roundings" in str(failed.value.mistake)) == is_named
    assert ("(a)" if is_named else "(own)") in failed.value.note
    assert student.call.call_args.args[3] == ("a" if is_named else "own")


class CountingStudent(Student):
    """A student whose calls are recorded."""

    def __init__(self, folder: Path) -> None:
        super().__init__(InProcess(folder, course().limits))
        self.calls: list[tuple[str, int]] = []  # the source and the seed

    def call(self, probe: Any, *args: Any) -> Any:
        self.calls.append((args[-2], args[-1]))
        return super().call(probe, *args)


@pytest.mark.parametrize("kata", KATAS)
def test_each_hidden_program_is_judged_with_same_seeds(kata: str, tmp_path: Path) -> None:
    (tmp_path / f"{kata}.py").write_bytes(course().solution(kata).read_bytes())
    student, hidden = CountingStudent(tmp_path), read(kata, HIDDEN_PROGRAMS)
    hidden.assert_right_accepted(student, b"secret")
    for group in hidden.wrong:
        hidden.assert_group_caught(student, group, b"secret")
    programs = len(hidden.right) + sum(map(len, hidden.wrong.values()))
    assert len(student.calls) == 1 + 2 * programs < 60
    first, *calls = student.calls
    assert first[0] == ""
    assert {*Counter(source for source, _ in calls).values()} == {2}
    assert len({seed for _, seed in calls}) == 2


def test_memory_is_not_shared_between_submissions(tmp_path: Path) -> None:
    (tmp_path / "break_sgd.py").write_bytes(course().solution("break_sgd").read_bytes())
    hidden = read("break_sgd", HIDDEN_PROGRAMS)
    for student in (CountingStudent(tmp_path), CountingStudent(tmp_path)):
        for _ in range(2):
            hidden.assert_right_accepted(student, b"", require)
        assert len(student.calls) == 1 + 2 * len(hidden.right)


def test_stub_counts_as_not_started(tmp_path: Path) -> None:
    (tmp_path / "break_sgd.py").write_bytes(course().stub("break_sgd").read_bytes())
    with pytest.raises(NotStarted):
        read("break_sgd", HIDDEN_PROGRAMS).assert_group_caught(CountingStudent(tmp_path), "wrong_formulas", b"")
