"""Tests of the report and feedback pages: their figures, their content, and what each reader is allowed to see."""

import base64
import dataclasses
import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from grader.base.text import printable
from grader.output.page import class_pages, overview
from grader.output.page.class_pages import Shown, render_feedback, write_feedback
from grader.output.page.sections import make_parts
from grader.output.page.speed import summarize_speed
from grader.output.page.student import summarize_student
from grader.results import result as load
from grader.results.result import Result
from grader.results.visibility import view_as_instructor, view_as_student
from grader.tests.conftest import Hide, call_grader
from grader.tests.support.html_tree import get_text, parse_html
from grader.tests.support.random_class import make_class
from grader.tests.support.sample_results import (
    HOSTILE,
    OUTCOMES,
    make_result,
    make_result_with_cpu_speed,
    make_result_with_speed,
)
from torchkata.course import course

SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
TOLD = "claim\n  note      the same\n  again: pytest"


class Reader:
    """Collects the tags of a page and the text of each `<pre>`."""

    def __init__(self, html: str) -> None:
        elements = [*parse_html(html).iter()]
        self.tags = [element.tag for element in elements]
        self.messages = [get_text(element) for element in elements if element.tag == "pre"]
        attributes = [name for element in elements for name in element.attrib]
        assert not [name for name in attributes if name.startswith("on")], "no attribute may contain a script"


def write_page(folder: Path, *results: Result) -> str:
    for one in results:
        load.write(one, folder)
    done = call_grader("report", folder)
    assert (done.code, done.err) == (0, "")
    assert f"page:      {folder / 'report.html'}" in done.out
    return (folder / "report.html").read_text("utf-8")


def make_feedback(result: Result) -> str:
    return render_feedback(Shown(result, make_parts(result, view_as_student(result, platform_hides=False)), None))


def test_report_shows_status_and_points_of_results() -> None:
    katas = [kata for kata in course().katas.values() if kata.track == "core"]
    students = []
    for one in make_class(20):
        parts = make_parts(one, view_as_instructor(one))
        shown = {part.result.kata: (part.result.status, part.result.score) for part in parts}
        assert {kata.kata: (kata.status, kata.score) for kata in one.katas}.items() <= shown.items()
        students.append(summarize_student(one, parts))
    for row in overview.summarize_katas(students, katas):
        assert sum(row.counts.values()) == 20
        scores = [one.cells[row.kata.name].score for one in students]
        assert row.mean == pytest.approx(sum(scores) / 20 / row.kata.max_score)


def test_rehearsals_are_marked_on_every_page(tmp_path: Path) -> None:
    made = make_result_with_cpu_speed("why")
    found = {one.workload.name: one.earned for one in summarize_speed([summarize_student(made, [])])}
    reached = {name: next(what for what, count in earned.items() if count) for name, earned in found.items()}
    assert reached == {"linear_forward": "all", "cruncher_step": "none", "sgd_step": "some"}
    page = write_page(tmp_path, made)
    assert "a rehearsal without points; the numbers of submissions show which threshold was reached" in page
    assert '<span class="of">a rehearsal without points</span>' in page
    write_feedback(tmp_path, ["ada"], tmp_path, {})
    own = (tmp_path / "ada/feedback.html").read_text()
    assert own.count("a rehearsal without points") == 2, "the note belongs in the contents and above the workloads"
    assert "of 0" not in own
    assert "lower threshold 0.45, upper threshold 0.75" in own


@given(st.text(min_size=1))
def test_message_is_escaped_on_feedback_page(message: str) -> None:
    told = f"claim\n:{message}\nagain"
    reader, plain = (Reader(make_feedback(make_result(words))) for words in (told, "claim\n:\nagain"))
    assert reader.tags == plain.tags
    assert set(reader.messages) == {printable(told)}


def test_page_allows_only_its_own_scripts(tmp_path: Path) -> None:
    page = write_page(tmp_path, *make_class(5), make_result_with_speed("why", submission="<script>alert(1)<script>"))
    scripts = SCRIPT.findall(page)
    assert len(scripts) == 2
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in digests)
    assert f"default-src 'none'; script-src {allowed}; " in page.replace("&#39;", "'")
    assert re.findall(r"""(?:src|srcset|action|data|poster)=["']""", page) == []
    assert {link[:1] for link in re.findall(r'href="([^"]*)', page)} <= {"#", "d"}
    assert re.findall(r"url\((?!#)", page) == []


def test_page_of_large_class_links_to_submissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = [make_result(f"words of {name}", submission=name) for name in ("ada", "li & co")]
    page = write_page(tmp_path, *results)
    assert {*re.findall("words of [^<]+", page)} == {"words of ada", "words of li &amp; co"}
    assert list(tmp_path.glob("*/report.html")) == []
    monkeypatch.setattr(class_pages, "MOST_ON_PAGE", 1)
    page = write_page(tmp_path, *results)
    assert "words of" not in page
    assert {*re.findall(r'href="([^"]*html)"', page)} == {"ada/report.html", "li%20%26%20co/report.html"}
    for name, other in (("ada", "li"), ("li & co", "ada")):
        own = (tmp_path / name / "report.html").read_text("utf-8")
        assert {*Reader(own).messages} == {f"words of {name}"}
        assert 'href="../report.html#submissions"' in own
        assert f"words of {other}" not in own


def test_report_page_shows_findings_and_inconclusive_tests(tmp_path: Path) -> None:
    findings = [load.Finding("linear", 7, "torch.nn.Linear: look")]
    page = write_page(tmp_path, replace(make_result("why", submission="zoe"), findings=findings), *make_class(3))
    calm = write_page(tmp_path / "calm", next(make_class(1, timed=False)))
    for words in ('id="again"', "<dt>torch.nn.Linear: look</dt>", "linear.py, line 7"):
        assert words in page
    assert [words for words in ('id="again"', 'id="speed"') if words in calm] == []


def test_outdated_result_is_reported_and_skipped(tmp_path: Path) -> None:
    old = make_result("why", submission="old")
    first, *rest = old.katas[0].tests
    old.katas[0] = replace(old.katas[0], tests=(dataclasses.replace(first, name="test_of_last_year"), *rest))
    for one in (old, make_result("why")):
        load.write(one, tmp_path)
    done = call_grader("report", tmp_path, "--out", tmp_path / "to")
    assert done.code == 2
    line = f"grader: {tmp_path}/old/result.json: kata get_batch has changed since this was graded; grade again\n"
    assert done.err == line
    assert "<bdi>ada</bdi>" in (tmp_path / "report.html").read_text("utf-8")
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["ada"]


def test_feedback_page_shows_no_other_submission(tmp_path: Path) -> None:
    names = ("ada", "Ben <b>", "李 & co")
    for name in names:
        made = make_result_with_speed(f"words of {name}", submission=name)
        load.write(replace(made, findings=[load.Finding("linear", 1, "look here")]), tmp_path)
    done = call_grader("report", tmp_path, "--out", tmp_path / "to")
    assert (done.code, done.err) == (0, "")
    assert f"feedback:  {tmp_path}/to/<submission>/feedback.html" in done.out
    for name in names:
        html = (tmp_path / "to" / name / "feedback.html").read_text("utf-8")
        assert {*Reader(html).messages} == {f"words of {name}"}
        for words in ("look here", *(f"words of {other}" for other in {*names} - {name})):
            assert words not in html
    refused = call_grader("report", tmp_path, "--out", tmp_path / "report.html")
    assert (refused.code, "report.html: can't write there (Not a directory)" in refused.err) == (2, True)


def test_hidden_messages_are_only_for_instructors(hide: Hide, tmp_path: Path) -> None:
    hide("hidden")
    one = make_result("get_batch · claim\n  secret", file="get_batch.py")
    page, own = write_page(tmp_path, one), make_feedback(one)
    assert [words for words in ("secret", "hidden from students") if words not in page] == []
    assert "hidden test 3" in own
    assert [words for words in ("secret", "start positions are uniform") if words in own] == []
    assert "timed out" not in own.partition("<body>")[2], "the outcome must be hidden"


def test_class_page_renders_hostile_message_as_text(tmp_path: Path) -> None:
    said = HOSTILE.replace("\ud800", "")  # JSON can't represent it
    page = write_page(tmp_path, replace(make_result_with_speed(said), findings=[load.Finding("linear", 1, said)]))
    assert len(SCRIPT.findall(page)) == 2
    assert Reader(page).messages[0] == printable(said)
    assert printable("a\u202eb\u2066c\u2028d\u2029e\x1b[31mf\x00") == "a<U+202E>b<U+2066>c\nd\ne[31mf"
    assert printable("שלום") == "שלום"


def test_failure_shared_by_tests_is_shown_once() -> None:
    made = make_result()
    (kata,) = made.katas
    tests = tuple(dataclasses.replace(test, outcome="failed", score=0.0, message=TOLD) for test in kata.tests)
    text = make_feedback(replace(made, katas=[replace(kata, tests=tests)]))
    assert len(Reader(text).messages) == 1
    assert text.count(", the same") == len(tests) - 1
    assert all(test.name.removeprefix("test_").replace("_", " ") in text for test in tests)


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
