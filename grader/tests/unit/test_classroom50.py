"""Classroom 50's `result.json`: by its schema, in whole points, with what the runner knows."""

from dataclasses import replace

import jsonschema
import msgspec
import pytest

from grader.output.formats import classroom50
from grader.results.result import Result
from grader.tests.conftest import Hide
from grader.tests.support.made_results import HOSTILE, result
from grader.tests.support.platforms import CLASSROOM50, RUNNER, for_classroom50


def with_points(scores: list[float], maxima: list[float]) -> Result:
    """A result with these points in its first tests, and 0 of 1 in the others."""
    made = result("why")
    kata = made.katas[0]
    scores, maxima = scores + [0.0] * 20, maxima + [1.0] * 20
    tests = tuple(
        replace(test, score=score, max_score=most)
        for test, score, most in zip(kata.tests, scores, maxima, strict=False)
    )
    return msgspec.structs.replace(made, katas=[msgspec.structs.replace(kata, tests=tests)])


def test_the_classroom50_report_has_what_the_runner_says() -> None:
    report = for_classroom50(result(HOSTILE))
    assert report["classroom"] == "cs336"
    assert report["assignment_type"] == "group"
    assert (report["datetime"], report["graded_at"]) == ("2026-09-01T10:00:00Z", "2026-09-01T12:00:00Z")
    assert (report["score"], report["max-score"], len(report["tests"])) == (3, 16, 11)
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
def test_points_for_classroom50_are_scaled_to_integers_and_never_rounded_up(
    score: float, most: float, shown: tuple[int, int]
) -> None:
    report = for_classroom50(with_points([score], [most]))
    test = report["tests"][0]
    assert (test["score"], test["max-score"]) == shown
    assert report["tests"][1]["max-score"] == shown[1] / most, "all by the same factor"
    assert report["max-score"] == sum(test["max-score"] for test in report["tests"])


def test_classroom50_fields_that_are_not_given_come_from_github_actions() -> None:
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
    assert (about.submission, about.assignment_type, about.datetime) == (
        "submit/1",
        "individual",
        "2026-09-01T10:00:00Z",
    )


def test_classroom50_fields_that_are_given_override_github_actions() -> None:
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
def test_a_wrong_classroom50_field_is_named(given: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        classroom50.collect_fields(given, RUNNER)


def test_hidden_tests_have_no_name_in_the_classroom50_report(hide: Hide) -> None:
    hide("hidden")
    names = [test["test-name"] for test in for_classroom50(result("x · claim"))["tests"]]
    assert names == [f"get_batch: hidden test {number}" for number in range(1, 12)]


def test_the_classroom50_schema_rejects_wrong_reports() -> None:
    report = for_classroom50(result())
    for wrong in (
        report | {"output": "x"},
        report | {"score": 61.5},
        report | {"submission": "main"},
        report | {"datetime": "2026-09-01T10:00:00+02:00"},
        {name: value for name, value in report.items() if name != "owner"},
        report | {"tests": [{"test-name": "x", "passed": "yes", "score": 0, "max-score": 1}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(CLASSROOM50).validate(wrong)
