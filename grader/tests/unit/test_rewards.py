"""Tests of what students are told when a kata, a track or the course is done, and of other correct solutions."""

import ast
from pathlib import Path

import pytest

from torchkata.cli import self_study
from torchkata.course import course, read_course
from torchkata.pytest_plugin.history import LastRun, State
from torchkata.pytest_plugin.rewards import describe_end, describe_kata, format_bar

KATAS = course().katas
CORE = [kata.name for kata in KATAS.values() if kata.track == "core"]


def finish(*names: str) -> State:
    """Return the progress of a student who has done these katas, and has run the last one seven times."""
    done = {name: LastRun("done", len(KATAS[name].points), "", "") for name in names}
    last = names[-1]
    return State(done | {last: LastRun("done", len(KATAS[last].points), "", "", number=7)})


def test_bar_shows_how_many_katas_are_done() -> None:
    assert format_bar(State()) == f"[{'.' * 20}] 0/{len(KATAS)}"
    assert format_bar(finish(*KATAS)) == f"[{'#' * 20}] {len(KATAS)}/{len(KATAS)}"


def test_finished_kata_offers_what_it_makes_possible() -> None:
    now, offers = describe_kata(KATAS["train"], finish("train"))
    assert now == f"Done. You can now {KATAS['train'].after}."
    assert offers == ("  see it learn: kata rates   compare: kata solution train --others   go on: kata next")


def test_track_ends_with_its_last_kata_only() -> None:
    ending = course().tracks["core"].ending
    assert ending in describe_kata(KATAS["train"], finish(*CORE))
    assert ending not in [*describe_kata(KATAS["train"], finish(*CORE[:-1]))]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_end_of_course_names_its_commands(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("KATA_LANG", language)
    text = "\n".join(describe_end(finish(*KATAS)))
    assert all(f"kata {name}" in text for name in ("rates", "measure", "speak"))
    assert ("You began with the question" in text) == (language == "en")
    tests, last = sum(len(kata.points) for kata in KATAS.values()), [*KATAS][-1]
    assert all(f"{part}" in text for part in (len(KATAS), tests, last, len(KATAS) + 6))


def test_other_solutions_say_how_they_differ() -> None:
    others = course().other_solutions(KATAS)
    assert len(others) > 100
    assert [name for name, source in others.items() if not ast.get_docstring(ast.parse(source))] == []


def test_others_are_shown_after_our_solution(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(self_study, "load_state", lambda: finish("linear"))
    monkeypatch.setattr(State, "is_old", lambda *_: False)
    self_study.show_solution(KATAS["linear"])
    alone = capsys.readouterr().out
    self_study.show_solution(KATAS["linear"], others=True)
    whole = capsys.readouterr().out
    assert whole.startswith(alone)
    assert whole.count("── linear/") == len(course().other_solutions(["linear"])) == 3
    assert "── sgd/" not in whole


@pytest.mark.parametrize("line", ['ways = { a = ["no_such_kata"] }', 'endings = { no_such_track = "x" }'])
def test_unknown_name_in_ways_or_endings_is_rejected(tmp_path: Path, line: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.torchkata]\n{line}\n[tool.torchkata.tracks]\none = "One"\n')
    with pytest.raises(ValueError, match="no_such_"):
        _ = read_course(tmp_path).katas
