"""Tests of Classroom 50's `result.json`: its schema, integer points, and the fields that come from the CI runner."""

from dataclasses import replace

import msgspec
import pytest

from grader.base.errors import CallError
from grader.output.formats import classroom50
from grader.results.result import Result
from grader.tests.conftest import Hide
from grader.tests.support.platforms import RUNNER, render_classroom50
from grader.tests.support.sample_results import HOSTILE, make_result


def make_result_with_points(score: float, most: float) -> Result:
    """Return a result with the given points in its first test, and 0 of 1 in the others."""
    whole = make_result("why")
    first, *others = whole.katas[0].tests
    zeros = (replace(test, score=0.0, max_score=1.0) for test in others)
    tests = (replace(first, score=score, max_score=most), *zeros)
    return msgspec.structs.replace(whole, katas=[msgspec.structs.replace(whole.katas[0], tests=tests)])


def test_classroom50_report_has_fields_points_and_tests() -> None:
    report = render_classroom50(make_result(HOSTILE))
    assert report["classroom"] == "cs336"
    assert report["assignment_type"] == "group"
    assert (report["datetime"], report["graded_at"]) == ("2026-09-01T10:00:00Z", "2026-09-01T12:00:00Z")
    assert (report["score"], report["max-score"], len(report["tests"])) == (3, 16, 12)
    assert report["tests"][0] == {
        "test-name": "get_batch: rows are windows of data",
        "passed": True,
        "score": 2,
        "max-score": 2,
    }


@pytest.mark.parametrize(
    ("score", "most", "shown"),
    [
        (1.0, 2.0, (1, 2)),
        (0.5, 2.0, (1, 4)),
        (1.3, 2.0, (13, 20)),
        (1 / 3, 1.0, (333, 1000)),
        (0.9999, 1.0, (999, 1000)),
    ],
)
def test_points_are_scaled_to_integers_never_rounded_up(score: float, most: float, shown: tuple[int, int]) -> None:
    report = render_classroom50(make_result_with_points(score, most))
    test = report["tests"][0]
    assert (test["score"], test["max-score"]) == shown
    assert report["tests"][1]["max-score"] == shown[1] / most, "all points must be scaled by the same factor"
    assert report["max-score"] == sum(test["max-score"] for test in report["tests"])


def test_fields_come_from_options_then_github_actions() -> None:
    actions = {
        "GITHUB_REPOSITORY": "cs336/primitives-ada",
        "GITHUB_SHA": "abc",
        "GITHUB_REF_NAME": "submit/1",
        "GITHUB_SERVER_URL": "https://git.example.org",
    }
    given = {"classroom": "c", "assignment": "a", "owner": "ada", "datetime": "2026-09-01T10:00:00"}
    about = classroom50.collect_fields(given, actions)
    assert about.commit == about.review == "https://git.example.org/cs336/primitives-ada/commit/abc"
    assert about.release == "https://git.example.org/cs336/primitives-ada/releases/tag/submit%2F1"
    assert (about.submission, about.assignment_type) == ("submit/1", "individual")
    assert about.datetime == "2026-09-01T10:00:00Z"
    assert classroom50.collect_fields({"owner": "bob"}, RUNNER).owner == "bob"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"owner": "", "teacher": "x"}, "no field 'teacher'; the fields are classroom, assignment"),
        ({"assignment_type": "pair"}, "assignment_type is 'pair'; it must be one of individual, group, team"),
        ({"submission": "main"}, "it must be a tag that begins with submit/"),
        ({"datetime": "yesterday"}, "datetime is 'yesterday'; write it as 2026-"),
    ],
)
def test_invalid_report_field_is_reported(given: dict[str, str], words: str) -> None:
    with pytest.raises(CallError, match=words):
        classroom50.collect_fields(given, RUNNER)


def test_hidden_tests_are_shown_without_name(hide: Hide) -> None:
    hide("hidden")
    names = [test["test-name"] for test in render_classroom50(make_result("x · claim"))["tests"]]
    assert names == [f"get_batch: hidden test {number}" for number in range(1, 13)]
