"""Tests of the settings in `kata.toml`: hours, difficulty, "after this kata you can …", and visibility."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchkata.course import Kata, Level, course
from torchkata.course.load import parse_kata
from torchkata.course.points import TENTHS, divide_points

ENTRY: dict[str, Any] = {"title": "t", "hints": ["look", "look here"], "tests": {"central": ["test_a", "test_b"]}}


def parse(tests: Path = Path("tests"), **more: Any) -> Kata:
    return parse_kata(ENTRY | more, Path("reference/k/kata.toml"), course().tracks, tests)


def test_points_follow_order_of_test_file(tmp_path: Path) -> None:
    (tmp_path / "test_k.py").write_text("def test_b(): ...\n\n\ntest_a = contract()\n")
    assert ([*parse(tmp_path).points], [*parse().points]) == (["test_b", "test_a"], ["test_a", "test_b"])


def test_every_kata_states_hours_and_difficulty() -> None:
    for kata in course().katas.values():
        assert kata.hours > 0, kata.name
        assert kata.difficulty != "unknown", kata.name
        assert kata.after, kata.name
        assert not kata.after.endswith("."), f"{kata.name}: it completes a sentence"


def test_points_are_roughly_proportional_to_hours() -> None:
    """Check that a kata's share of its track's points is between half and twice its share of the hours."""
    for track in course().tracks:
        katas = [kata for kata in course().katas.values() if kata.track == track]
        hours, points = sum(kata.hours for kata in katas), sum(kata.max_score for kata in katas)
        for kata in katas:
            assert 1 / 2 < kata.max_score / points * hours / kata.hours < 2, kata.name


@pytest.mark.parametrize(
    ("weight", "tests", "points"),
    [
        (10, {"central": "ab", "essential": "cd", "conventions": "e"}, [2.5, 2.5, 2, 2, 1]),
        (6, {"central": "a", "conventions": "b"}, [5, 1]),
        (1, {"essential": "abcde"}, [0.25, 0.25, 0.25, 0.125, 0.125]),
        (7, {"central": "abc", "essential": "de", "conventions": "fg"}, [1.25, 1.25, 1.25, 1.5, 1.25, 0.25, 0.25]),
    ],
)
def test_points_follow_from_weight_and_lists(weight: int, tests: dict[Level, str], points: list[float]) -> None:
    assert [*divide_points(weight, tests).values()] == points
    assert sum(points) == weight


@given(st.integers(1, 100), st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any))
def test_points_are_fair_for_any_course(weight: int, counts: list[int]) -> None:
    """The points add up exactly, no test is worth nothing, and tests of a list differ by less than their rounding."""
    tests = {level: [f"{level}{i}" for i in range(count)] for level, count in zip(TENTHS, counts, strict=True)}
    points = divide_points(weight, tests)
    assert sum(points.values()) == weight
    assert min(points.values()) > 0
    for names in tests.values():
        own = [points[name] for name in names]
        assert not own or max(own) - min(own) <= min(0.25, min(points.values()))


def test_visibility_setting_is_a_string_or_table() -> None:
    plain = parse()
    assert (plain.visibility, plain.hidden_says) == ({"test_a": "visible", "test_b": "visible"}, "nothing")
    assert parse(visibility="hidden").visibility == {"test_a": "hidden", "test_b": "hidden"}
    some = parse(visibility={"test_b": "after_due_date"}, hidden_says="claim")
    assert (some.visibility, some.hidden_says) == ({"test_a": "visible", "test_b": "after_due_date"}, "claim")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            {"visibility": "public"},
            "k/kata.toml: visibility is 'public'; it can be visible, after_due_date, after_published, hidden",
        ),
        ({"visibility": {"test_a": 1}}, "k/kata.toml: visibility is 1"),
        ({"visibility": {"test_c": "hidden"}}, "kata.toml: visibility names test_c, which is not a test of this kata"),
        ({"hidden_says": "everything"}, "k/kata.toml: hidden_says is 'everything'; it can be nothing, claim, all"),
        ({"hours": -1}, "k/kata.toml: hours is -1; it should be 0 or a positive number"),
        ({"hours": float("inf")}, "k/kata.toml: hours is inf"),
        ({"hours": "two"}, "k/kata.toml: hours is 'two'; it should be a number"),
        ({"difficulty": "simple"}, "k/kata.toml: difficulty is 'simple'; it can be unknown, easy, medium, hard"),
        ({"after": 7}, "k/kata.toml: after is 7; it should be a text"),
    ],
)
def test_invalid_setting_is_rejected(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse(**wrong)
