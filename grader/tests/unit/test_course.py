"""The course: what it promises of every kata, and the choice of katas by name and by track."""

import re
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import ask
from torchkata.course import course

TRACKS = {track: [kata for kata in course().katas.values() if kata.track == track] for track in course().tracks}


@pytest.mark.parametrize("track", course().tracks)
def test_the_points_of_a_track_sum_to_a_hundred(track: str) -> None:
    assert sum(kata.max_score for kata in TRACKS[track]) == 100


def test_every_kata_has_a_track_hints_and_all_its_files() -> None:
    for kata in course().katas.values():
        assert kata.track in course().tracks
        assert 2 <= len(kata.hints) <= 3
        assert (ROOT / f"tests/probes/{kata.name}.py").is_file()
        for file in ("oracle.py", "solution.py", "mistakes.py", "wrong.toml"):
            assert (course().folder(kata.name) / file).is_file(), file
        assert set(kata.builds_on) <= set(course().katas)


def test_the_lecture_is_mapped_to_every_kata_and_to_nothing_else() -> None:
    rows = [line for line in (ROOT / "docs/lecture.md").read_text("utf-8").splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[4])}
    assert named == set(course().katas)


def test_a_choice_is_by_kata_and_by_track_with_or_without_commas() -> None:
    choose = course().choose
    everything = list(course().katas.values())
    assert choose([]) == choose([], ["all"]) == everything
    assert (
        choose([], ["core,optimizers"]) == choose([], ["optimizers", "core"]) == TRACKS["core"] + TRACKS["optimizers"]
    )
    assert [kata.name for kata in choose(["sgd,linear"])] == ["linear", "sgd"]
    assert choose(["linear"], ["core"]) == TRACKS["core"]
    with pytest.raises(ValueError, match="there is no kata 'lineal'"):
        choose(["linear,lineal"])
    with pytest.raises(ValueError, match="there is no track 'cores'; the tracks are core, memory"):
        choose([], ["cores"])


def test_grade_refuses_a_track_that_there_is_not(tmp_path: Path) -> None:
    refused = ask("grade", ROOT / "assignment", "--out", tmp_path / "out", "--track", "cores")
    assert refused.code == 2
    assert refused.err.startswith("grader: there is no track 'cores'")
