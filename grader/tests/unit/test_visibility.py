"""Tests of what students see of hidden tests."""

import pytest

from grader.results.view import view_as_student
from grader.tests.conftest import Hide
from grader.tests.support.sample_results import OUTCOMES, make_result
from torchkata.course import course


@pytest.mark.parametrize("visibility", ["hidden", "after_due_date", "after_published"])
def test_students_see_only_points_of_hidden_test(hide: Hide, visibility: str) -> None:
    hide(visibility)
    rows = view_as_student(make_result("get_batch · claim\n  secret", file="get_batch.py"), platform_hides=False)
    assert [row.title for row in rows[:2]] == ["hidden test 1", "hidden test 2"]
    assert {row.result.message for row in rows} == {"", "This test is hidden."}
    assert {(row.result.file, row.result.line, row.result.seconds) for row in rows} == {("", 0, 0.0)}
    assert [row.result.outcome for row in rows[1:4]] == ["failed"] * 3, "the kind of failure must be hidden"
    assert sum(row.result.max_score for row in rows) == course().katas["get_batch"].max_score


def test_visibility_setting_reveals_claim_or_everything(hide: Hide) -> None:
    one = make_result("get_batch · claim\n  secret", file="get_batch.py")
    hide("hidden", "claim")
    row = view_as_student(one, platform_hides=False)[2].result
    assert (row.name, row.outcome, row.file, row.line) == ("test_start_positions_are_uniform", "failed", "", 0)
    assert row.message == "get_batch · claim\n  The test's input and your result are hidden."
    hide("hidden", "all")
    rows = view_as_student(one, platform_hides=False)
    assert [row.result.outcome for row in rows[:7]] == list(OUTCOMES)
    assert (rows[2].result.message, rows[2].result.line) == ("get_batch · claim\n  secret", 7)
