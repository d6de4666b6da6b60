"""GitHub's Markdown and annotations: a student's words start no markup, no command and no line of their own."""

import re

import pytest

from grader.output.formats import github
from grader.tests.conftest import Hide
from grader.tests.support.made_results import HOSTILE, result
from grader.tests.support.platforms import outside_fences


def test_the_github_summary_counts_points_and_shows_the_failed_tests() -> None:
    summary = github.render_summary(result("linear · claim\n  secret"))
    assert summary.startswith("## ada: 3 of 16 points\n")
    assert "| Random batches from a token file (`get_batch`) | 3 of 16 | 2 of 11 |" in outside_fences(
        summary.replace("&#45;", "-")
    )
    assert "<details><summary>get_batch: 9 not passed</summary>" in summary
    assert summary.count("  secret\n") == 9
    assert "**every valid start occurs** · wrong · 0 of 2 points" in summary


def test_hostile_words_stay_in_their_fence_in_the_github_summary() -> None:
    summary = github.render_summary(result(HOSTILE))
    outside = outside_fences(summary)
    for word in ("script", "forged", "link", "bold"):
        assert word in summary
        assert word not in outside
    assert "`````text" in summary, "longer than the four that are in it"
    assert not [c for c in summary if c != "\n" and not c.isprintable()]


@pytest.mark.parametrize("name", ["a|b", "<img src=x>", "[x](y)", "`x`", "**x**", "a\n\n# b", "\\|", "www.example.org"])
def test_the_name_of_a_submission_is_no_markup_in_the_github_summary(name: str) -> None:
    for markdown in (github.render_summary(result(submission=name)), github.render_class([result(submission=name)])):
        line = next(line for line in markdown.splitlines() if re.search(r"3 of 16", line))
        shown = re.sub(r"&#\d+;", "", line.removeprefix("## ").replace(": 3 of 16 points", "").strip("| "))
        assert not set(shown.split(" | ")[0]) & set("|<>[]()`*\\#.\n"), line


def test_the_github_summary_of_a_class_has_a_line_for_each_submission() -> None:
    lines = github.render_class([result(submission="ada"), result(submission="bob")]).splitlines()
    assert lines[2:] == ["| ada | 3 of 16 | 0 of 1 |", "| bob | 3 of 16 | 0 of 1 |"]


def test_a_github_annotation_points_to_the_students_line() -> None:
    (line,) = github.list_annotations(result("get_batch · claim\n  100% wrong", file="get_batch.py"))
    assert line == (
        "::error file=assignment/get_batch.py,line=7,title=get_batch%3A every valid start occurs"
        "::get_batch · claim%0A  100%25 wrong%0A(and 8 more of get_batch)"
    )


def test_hostile_words_start_no_github_command() -> None:
    (line,) = github.list_annotations(result(HOSTILE, file="get_batch.py"))
    assert "\n" not in line
    assert "\r" not in line
    assert "%250A::error::forged" in line


@pytest.mark.parametrize("file", ["../../etc/passwd.py", "x,line=1::forged.py", "x y.py", "x.py\n::error::forged"])
def test_a_github_annotation_does_not_name_a_file_that_a_student_made_up(file: str) -> None:
    (line,) = github.list_annotations(result("why", file=file))
    assert line.startswith("::error file=assignment/get_batch.py,title=")


def test_the_github_summary_and_annotations_show_nothing_of_hidden_tests(hide: Hide) -> None:
    hide("hidden", "claim")
    made = result("get_batch · claim\n  secret", file="get_batch.py")
    (line,) = github.list_annotations(made)
    summary = github.render_summary(made)
    assert "secret" not in line + summary
    assert "line=" not in line
    assert "get_batch · claim\n  Its input and your result are hidden." in summary
    assert "crashed" not in summary
