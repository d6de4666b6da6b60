"""Tests of GitHub's Markdown and annotations: a student's text must not become markup or a command."""

import re

import pytest

from grader.output.formats import github
from grader.tests.conftest import Hide
from grader.tests.support.made_results import HOSTILE, result
from grader.tests.support.platforms import outside_fences


def test_github_summary_shows_points_and_failures() -> None:
    summary = github.render_summary(result("linear · claim\n  secret"))
    row = "| Random batches from a token file (`get_batch`) | 3 of 16 | 2 of 11 |"
    assert summary.startswith("## ada: 3 of 16 points\n")
    assert row in outside_fences(summary.replace("&#45;", "-"))
    assert "<details><summary>get_batch: 9 not passed</summary>" in summary
    assert summary.count("  secret\n") == 9
    assert "**every valid start occurs** · wrong · 0 of 2 points" in summary
    lines = github.render_class([result(submission="ada"), result(submission="bob")]).splitlines()
    assert lines[2:] == ["| ada | 3 of 16 | 0 of 1 |", "| bob | 3 of 16 | 0 of 1 |"]


def test_hostile_message_stays_inside_github_fence() -> None:
    summary = github.render_summary(result(HOSTILE))
    words = ("script", "forged", "link", "bold")
    assert all(word in summary for word in words)
    assert [word for word in words if word in outside_fences(summary)] == []
    assert "`````text" in summary, "the fence must be longer than the four backticks in the message"
    assert not [c for c in summary if c != "\n" and not c.isprintable()]
    (line,) = github.list_annotations(result(HOSTILE, file="get_batch.py"))
    assert not {"\n", "\r"} & {*line}
    assert "%250A::error::forged" in line


@pytest.mark.parametrize("name", ["a|b", "<img src=x>", "[x](y)", "`x`", "**x**", "a\n\n# b", "\\|", "www.example.org"])
def test_submission_name_is_escaped_in_github_summary(name: str) -> None:
    for markdown in (github.render_summary(result(submission=name)), github.render_class([result(submission=name)])):
        line = next(line for line in markdown.splitlines() if re.search(r"3 of 16", line))
        shown = re.sub(r"&#\d+;", "", line.removeprefix("## ").replace(": 3 of 16 points", "").strip("| "))
        assert not set(shown.split(" | ")[0]) & set("|<>[]()`*\\#.\n"), line


def test_github_annotation_points_to_the_students_line() -> None:
    (line,) = github.list_annotations(result("get_batch · claim\n  100% wrong", file="get_batch.py"))
    assert line == (
        "::error file=assignment/get_batch.py,line=7,title=get_batch%3A every valid start occurs"
        "::get_batch · claim%0A  100%25 wrong%0A(and 8 more of get_batch)"
    )


@pytest.mark.parametrize("file", ["../../etc/passwd.py", "x,line=1::forged.py", "x y.py", "x.py\n::error::forged"])
def test_github_annotation_rejects_invented_file_names(file: str) -> None:
    (line,) = github.list_annotations(result("why", file=file))
    assert line.startswith("::error file=assignment/get_batch.py,title=")


def test_github_output_redacts_hidden_tests(hide: Hide) -> None:
    hide("hidden", "claim")
    made = result("get_batch · claim\n  secret", file="get_batch.py")
    (line,) = github.list_annotations(made)
    summary = github.render_summary(made)
    assert "secret" not in line + summary
    assert "line=" not in line
    assert "get_batch · claim\n  Its input and your result are hidden." in summary
    assert "crashed" not in summary
