"""Tests of Gradescope's `results.json`: its schema and the visibility of each test."""

import json

import jsonschema
import pytest

from grader.output.formats import gradescope
from grader.tests.conftest import Hide
from grader.tests.support.made_results import HOSTILE, result
from grader.tests.support.platforms import GRADESCOPE, for_gradescope


def test_gradescope_has_status_and_points_per_outcome() -> None:
    report = for_gradescope(gradescope.render(result("why")))
    by_outcome = {test["extra_data"]["outcome"]: test for test in report["tests"]}
    assert by_outcome["passed"]["status"] == "passed"
    assert by_outcome["passed"]["score"] == by_outcome["passed"]["max_score"] > 0
    assert {by_outcome[name]["status"] for name in ("failed", "crashed", "timed_out", "inconclusive")} == {"failed"}
    assert "status" not in by_outcome["not_graded"]
    assert by_outcome["not_graded"]["output"] == "Not run: grading stopped before this test."
    assert report["score"] == sum(test["score"] for test in report["tests"]) == 3
    assert [test["number"] for test in report["tests"][:2]] == ["1.1", "1.2"]


def test_gradescope_shows_student_messages_as_plain_text() -> None:
    report = for_gradescope(gradescope.render(result(HOSTILE)))
    assert {report[name] for name in ("output_format", "test_output_format", "test_name_format")} == {"text"}
    output = report["tests"][1]["output"]
    assert "</failure><script>alert(1)</script>" in output
    assert not [c for c in output if c != "\n" and not c.isprintable()]


@pytest.mark.parametrize(
    ("visibility", "says", "output"),
    [
        ("after_due_date", "nothing", "a · claim\n  secret"),
        ("after_published", "nothing", "a · claim\n  secret"),
        ("hidden", "nothing", "This test is hidden."),
        ("hidden", "all", "a · claim\n  secret"),
    ],
)
def test_gradescope_visibility_decides_the_shown_message(hide: Hide, visibility: str, says: str, output: str) -> None:
    hide(visibility, says)
    test = for_gradescope(gradescope.render(result("a · claim\n  secret")))["tests"][1]
    assert (test["visibility"], test["output"]) == (visibility, output)


def test_gradescope_schema_rejects_invalid_reports() -> None:
    report = json.loads(gradescope.render(result()))
    for wrong in (
        report | {"points": 1},
        report | {"score": "61"},
        report | {"visibility": "public"},
        report | {"tests": [{"name": "x", "status": "wrong"}]},
        {"output": "no score anywhere", "tests": []},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(GRADESCOPE).validate(wrong)
