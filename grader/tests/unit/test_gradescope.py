"""Gradescope's `results.json`: by its schema, with every test's visibility."""

import json

import jsonschema
import pytest

from grader.output.formats import gradescope
from grader.tests.conftest import Hide
from grader.tests.support.made_results import HOSTILE, result
from grader.tests.support.platforms import GRADESCOPE, for_gradescope


def test_every_outcome_has_a_gradescope_status_and_points() -> None:
    report = for_gradescope(gradescope.render(result("why")))
    by_outcome = {test["extra_data"]["outcome"]: test for test in report["tests"]}
    assert by_outcome["passed"]["status"] == "passed"
    assert by_outcome["passed"]["score"] == by_outcome["passed"]["max_score"] > 0
    assert {by_outcome[name]["status"] for name in ("failed", "crashed", "timed_out", "inconclusive")} == {"failed"}
    assert "status" not in by_outcome["not_graded"]
    assert by_outcome["not_graded"]["output"] == "Not run: grading stopped before this test."
    assert report["score"] == sum(test["score"] for test in report["tests"]) == 3
    assert [test["number"] for test in report["tests"][:2]] == ["1.1", "1.2"]


def test_words_of_a_student_reach_gradescope_as_text_without_control_characters() -> None:
    report = for_gradescope(gradescope.render(result(HOSTILE)))
    assert {report[name] for name in ("output_format", "test_output_format", "test_name_format")} == {"text"}
    output = report["tests"][1]["output"]
    assert "</failure><script>alert(1)</script>" in output
    assert not [c for c in output if c != "\n" and not c.isprintable()]


@pytest.mark.parametrize("visibility", ["after_due_date", "after_published"])
def test_a_test_that_gradescope_hides_for_a_while_has_its_whole_message(hide: Hide, visibility: str) -> None:
    hide(visibility)
    test = for_gradescope(gradescope.render(result("linear · claim\n  secret")))["tests"][1]
    assert (test["visibility"], test["output"]) == (visibility, "linear · claim\n  secret")


@pytest.mark.parametrize(("says", "output"), [("nothing", "This test is hidden."), ("all", "a · claim\n  secret")])
def test_a_hidden_test_on_gradescope_says_only_what_it_may(hide: Hide, says: str, output: str) -> None:
    hide("hidden", says)
    test = for_gradescope(gradescope.render(result("a · claim\n  secret")))["tests"][1]
    assert (test["visibility"], test["output"]) == ("hidden", output)


def test_the_gradescope_schema_rejects_wrong_reports() -> None:
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
