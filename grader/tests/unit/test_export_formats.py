"""Tests of `grader export`: valid formats that treat messages as plain text, and the files they are written to."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from grader.base.errors import CallError
from grader.output.formats import classroom50, github, gradescope
from grader.results.result import Result, write
from grader.tests.conftest import Hide, Run, call_grader
from grader.tests.support.platforms import (
    RUNNER,
    parse_gradescope,
    parse_junit,
    remove_code_blocks,
    render_classroom50,
    render_junit,
)
from grader.tests.support.sample_results import HOSTILE, make_result


def test_gradescope_status_and_points_depend_on_outcome() -> None:
    report = parse_gradescope(gradescope.render(make_result("why")))
    by_outcome = {test["extra_data"]["outcome"]: test for test in report["tests"]}
    assert by_outcome["passed"]["status"] == "passed"
    assert by_outcome["passed"]["score"] == by_outcome["passed"]["max_score"] > 0
    assert {by_outcome[name]["status"] for name in ("failed", "crashed", "timed_out", "inconclusive")} == {"failed"}
    assert "status" not in by_outcome["not_graded"]
    assert by_outcome["not_graded"]["output"] == "Not run: grading stopped before this test."
    assert report["score"] == sum(test["score"] for test in report["tests"]) == 3
    assert [test["number"] for test in report["tests"][:2]] == ["1.1", "1.2"]


def test_gradescope_shows_student_messages_as_plain_text() -> None:
    report = parse_gradescope(gradescope.render(make_result(HOSTILE)))
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
def test_gradescope_visibility_selects_the_message(hide: Hide, visibility: str, says: str, output: str) -> None:
    hide(visibility, says)
    test = parse_gradescope(gradescope.render(make_result("a · claim\n  secret")))["tests"][1]
    assert (test["visibility"], test["output"]) == (visibility, output)


def test_github_summary_shows_points_and_failures() -> None:
    summary = github.render_summary(make_result("linear · claim\n  secret"))
    row = "| Random batches from a token file (`get_batch`) | 3 of 16 | 2 of 12 |"
    assert summary.startswith("## ada: 3 of 16 points\n")
    assert row in remove_code_blocks(summary.replace("&#45;", "-"))
    assert "<details><summary>get_batch: 10 not passed</summary>" in summary
    assert summary.count("  secret\n") == 10
    assert "**every valid start position occurs** · wrong · 0 of 2 points" in summary
    rows = [github.render_row(make_result(submission=name)) for name in ("ada", "bob")]
    assert rows == ["| ada | 3 of 16 | 0 of 1 |", "| bob | 3 of 16 | 0 of 1 |"]


def test_hostile_message_cannot_escape_github_code_fence() -> None:
    summary = github.render_summary(make_result(HOSTILE))
    words = ("script", "forged", "link", "bold")
    assert all(word in summary for word in words)
    assert [word for word in words if word in remove_code_blocks(summary)] == []
    assert "`````text" in summary, "the fence must be longer than the four backticks in the message"
    assert not [c for c in summary if c != "\n" and not c.isprintable()]
    (line,) = github.list_annotations(make_result(HOSTILE, file="get_batch.py"))
    assert not {"\n", "\r"} & {*line}
    assert "%250A::error::forged" in line


@pytest.mark.parametrize("name", ["a|b", "<img src=x>", "[x](y)", "`x`", "**x**", "a\n\n# b", "\\|", "www.example.org"])
def test_submission_name_is_escaped_in_github_summary(name: str) -> None:
    for markdown in (
        github.render_summary(make_result(submission=name)),
        github.render_row(make_result(submission=name)),
    ):
        line = next(line for line in markdown.splitlines() if re.search(r"3 of 16", line))
        shown = re.sub(r"&#\d+;", "", line.removeprefix("## ").replace(": 3 of 16 points", "").strip("| "))
        assert not set(shown.split(" | ")[0]) & set("|<>[]()`*\\#.\n"), line


def test_github_annotation_points_to_the_students_line() -> None:
    (line,) = github.list_annotations(make_result("get_batch · claim\n  100% wrong", file="get_batch.py"))
    assert line == (
        "::error file=assignment/get_batch.py,line=7,title=get_batch%3A every valid start position occurs"
        "::get_batch · claim%0A  100%25 wrong%0A(and 9 more of get_batch)"
    )


@pytest.mark.parametrize("file", ["../../etc/passwd.py", "x,line=1::forged.py", "x y.py", "x.py\n::error::forged"])
def test_github_annotation_rejects_invented_file_names(file: str) -> None:
    (line,) = github.list_annotations(make_result("why", file=file))
    assert line.startswith("::error file=assignment/get_batch.py,title=")


SHOWN: dict[str, Callable[[Result], str]] = {
    "github": lambda made: "\n".join([github.render_summary(made), *github.list_annotations(made)]),
    "junit": lambda made: render_junit(made).decode(),
    "classroom50": lambda made: json.dumps(render_classroom50(made)),
}


@pytest.mark.parametrize("format", SHOWN)
def test_export_redacts_hidden_tests(hide: Hide, format: str) -> None:
    hide("hidden")
    shown = SHOWN[format](make_result("get_batch · claim\n  secret", file="get_batch.py"))
    assert "hidden test 2" in shown
    told = ("secret", "claim", "every_start", "every valid start", "line=", "crashed")
    assert [words for words in told if words in shown] == []


def render(*submissions: str, message: str = "why") -> ET.Element:
    """Render JUnit XML for these submissions. Each has a result of `get_batch` with all outcomes."""
    return parse_junit(render_junit(*(make_result(message, submission=name) for name in submissions)))


def test_junit_suite_counts_cases_by_outcome() -> None:
    (suite,) = render("ada", message=HOSTILE)
    kinds = [next((child.tag for child in case if child.tag != "system-out"), None) for case in suite.iter("testcase")]
    assert kinds[:7] == [None, "failure", "failure", "failure", "skipped", "error", "skipped"]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["12", "6", "1", "3"]
    assert [kinds.count(kind) for kind in ("failure", "error", "skipped")] == [6, 1, 3]
    assert suite.get("timestamp") == "2026-09-01T12:00:00"
    assert float(suite.get("time", "")) == pytest.approx(12 * 0.25)
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties == {"score": "3", "max_score": "16"}
    assert suite.find("testcase/system-out").text == "2 of 2 points"  # type: ignore[union-attr]
    (text,) = {failure.text for failure in suite.iter("failure")}
    assert text == "".join(c for c in HOSTILE if c not in "\x00\x07\x1b\x9b\r\ud800\ufffe"), "XML forbids only these"


def test_junit_names_differ_for_similar_submissions() -> None:
    root = render("ada", "ada\x01", "bob <&\"'> ]]>", "ада")
    names = [case.get("name") for case in root.iter("testcase")]
    assert len(names) == len(set(names)) == 48
    assert "ada (2): get_batch: rows are independent" in names


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
def test_classroom50_scales_points_without_rounding_up(score: float, most: float, shown: tuple[int, int]) -> None:
    report = render_classroom50(make_result_with_points(score, most))
    test = report["tests"][0]
    assert (test["score"], test["max-score"]) == shown
    assert report["tests"][1]["max-score"] == shown[1] / most, "all points must be scaled by the same factor"
    assert report["max-score"] == sum(test["max-score"] for test in report["tests"])


def test_classroom50_options_override_fields_from_github_actions() -> None:
    actions = {
        "GITHUB_REPOSITORY": "cs336/primitives-ada",
        "GITHUB_SHA": "abc",
        "GITHUB_REF_NAME": "submit/1",
        "GITHUB_SERVER_URL": "https://git.example.org",
    }
    given = {"classroom": "c", "assignment": "a", "owner": "ada", "datetime": "2026-09-01T10:00:00"}
    about = classroom50.collect_fields(given, actions)
    assert about["commit"] == about["review"] == "https://git.example.org/cs336/primitives-ada/commit/abc"
    assert about["release"] == "https://git.example.org/cs336/primitives-ada/releases/tag/submit%2F1"
    assert (about["submission"], about["assignment_type"]) == ("submit/1", "individual")
    assert about["datetime"] == "2026-09-01T10:00:00Z"
    assert classroom50.collect_fields({"owner": "bob"}, RUNNER)["owner"] == "bob"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"owner": "", "teacher": "x"}, "no field 'teacher'; the fields are classroom, assignment"),
        ({"assignment_type": "pair"}, "assignment_type is 'pair'; it must be one of individual, group, team"),
        ({"submission": "main"}, "it must be a tag that begins with submit/"),
        ({"datetime": "yesterday"}, "datetime is 'yesterday'; write it as 2026-"),
    ],
)
def test_invalid_classroom50_field_is_reported(given: dict[str, str], words: str) -> None:
    with pytest.raises(CallError, match=words):
        classroom50.collect_fields(given, RUNNER)


FORMATS = ("gradescope", "classroom50", "github", "junit")


@pytest.fixture
def one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set a CI runner's environment variables and return a directory with the results of one submission."""
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    write(make_result("get_batch · claim\n  wrong", submission="ada", file="get_batch.py"), tmp_path / "one")
    return tmp_path / "one"


@pytest.fixture
def two_results(one_result: Path) -> Path:
    """Return a directory with the results of two submissions."""
    write(make_result("why", submission="bob | <b>"), one_result)
    return one_result


def export(directory: Path, format: str, to: Path, *arguments: str) -> Run:
    """Run `grader export`."""
    accept = ["--accept-inconclusive"] if format in ("gradescope", "classroom50") else []
    return call_grader("export", directory, "--format", format, "--out", to, *accept, *arguments)


def list_names(directory: Path) -> list[str]:
    """Return the sorted names of the files in a directory."""
    return sorted(path.name for path in directory.iterdir())


def test_github_export_prints_annotations_and_replaces_summary(one_result: Path, tmp_path: Path) -> None:
    for _ in range(2):
        out = export(one_result, "github", tmp_path / "summary.md").out
        assert out.startswith("::error file=assignment/get_batch.py,line=7,title=")
        assert len(out.splitlines()) == 1
    assert (tmp_path / "summary.md").read_text().count("## ada") == 1


def test_several_submissions_are_exported_to_separate_files(two_results: Path, tmp_path: Path) -> None:
    assert export(two_results, "gradescope", tmp_path / "gs").code == 0
    assert list_names(tmp_path / "gs") == ["ada.json", "bob | <b>.json"]
    fields = [f"--field={name}=x" for name in ("classroom", "assignment", "commit", "release")]
    fields += ["--field=submission=submit/{submission}", "--field=owner={submission}", "--field=datetime=2026-09-01"]
    assert export(two_results, "classroom50", tmp_path / "c50", *fields).code == 0
    owners = {json.loads(path.read_text())["owner"] for path in (tmp_path / "c50").iterdir()}
    assert owners == {"ada", "bob | <b>"}


def test_junit_and_github_put_submissions_into_one_file(two_results: Path, tmp_path: Path) -> None:
    assert export(two_results, "junit", tmp_path / "junit.xml").code == 0
    assert len(ET.parse(tmp_path / "junit.xml").getroot()) == 2
    done = export(two_results, "github", tmp_path / "class.md")
    assert (done.code, done.out) == (0, "")
    assert len((tmp_path / "class.md").read_text().splitlines()) == 4


def test_too_long_name_is_skipped_and_reported(two_results: Path, tmp_path: Path) -> None:
    write(make_result("why", submission="c" * 255), two_results)
    write(make_result("why", submission="d" * 250), two_results)
    done = export(two_results, "gradescope", tmp_path / "gs")
    problem = f"grader: {tmp_path}/gs/{'c' * 255}.json: can't write there (File name too long)\n"
    assert (done.code, done.err) == (2, problem)
    assert list_names(tmp_path / "gs") == ["ada.json", "bob | <b>.json", f"{'d' * 250}.json"]


@pytest.mark.parametrize("format", FORMATS)
def test_unreadable_or_outdated_results_are_skipped_and_reported(
    two_results: Path, tmp_path: Path, format: str
) -> None:
    (two_results / "eve").mkdir()
    (two_results / "eve/result.json").write_text('{"score": 100}')
    old = make_result("why", submission="old")
    write(msgspec.structs.replace(old, katas=[msgspec.structs.replace(old.katas[0], kata="gone")]), two_results)
    done = export(two_results, format, tmp_path / "to")
    unreadable, outdated = done.err.splitlines()
    assert done.code == 2
    assert unreadable.startswith(f"grader: {two_results}/eve/result.json: not a torchkata result (")
    assert (
        outdated == f"grader: {two_results}/old/result.json: kata gone has changed since this was graded; grade again"
    )
    written = tmp_path / "to"
    if written.is_dir():
        assert list_names(written) == ["ada.json", "bob | <b>.json"]
    else:
        assert all(name in written.read_text() for name in ("ada", "bob"))


def test_bidirectional_characters_are_shown_as_code_points(tmp_path: Path, one_result: Path) -> None:
    shutil.rmtree(one_result)
    write(make_result("get_batch · claim\n  a\u202eb", submission="eve\u2066", file="get_batch.py"), one_result)
    printed = call_grader("report", one_result, "--out", tmp_path / "pages").out
    for format in FORMATS:
        printed += export(one_result, format, tmp_path / "to" / format).out
    with_names = [*tmp_path.rglob("gradebook.csv"), *tmp_path.rglob("*.html")]  # other tables contain no names
    written = [*with_names, *(tmp_path / "to").iterdir()]
    assert len(written) == 3 + len(FORMATS)
    for name, text in {"terminal": printed, **{path.name: path.read_text("utf-8") for path in written}}.items():
        assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), name
        assert name == "classroom50" or "2066" in text or "202E" in text, name
