"""The code on the pages: what is kept of it, which lines are marked, and for whom."""

import ast
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from grader.base.text import printable
from grader.output.page.parts import make_parts
from grader.output.page.write import Shown, render_feedback, write_feedback, write_report
from grader.results import result, source
from grader.results.result import Finding, Result
from grader.results.source import MAX_FILE, MAX_TOTAL, Source, StoredSubmission, truncate
from grader.results.view import view_as_student
from grader.tests.conftest import Hide
from grader.tests.support import made_results
from grader.tests.support.html_tree import parse_html, text_of
from torchkata.course import course

TEXT = "".join(f"line {number}\n" for number in range(1, 12))
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


class Lines:
    """The lines of all code on a page, and by number the class and the notes of those that are marked."""

    def __init__(self, page: str) -> None:
        root = parse_html(page)
        self.tags = {element.tag for element in root.iter()}
        items = root.findall(".//*[@class='lines']/li")
        self.lines = [(item.text or "") + "".join(child.tail or "" for child in item) for item in items]
        marked = {number: item for number, item in enumerate(items, 1) if item.get("class")}
        self.marked = {number: (item.get("class"), "".join(map(text_of, item))) for number, item in marked.items()}


def handed_in(**files: str) -> StoredSubmission:
    """These modules."""
    return StoredSubmission("sha256:0", NOON, {f"{name}.py": Source(text) for name, text in files.items()})


def page_of(one: Result, files: StoredSubmission) -> str:
    """A student's page."""
    return render_feedback(Shown(one, make_parts(one, view_as_student(one, platform_hides=False)), files))


def crashed(line: int) -> Result:
    """A submission whose tests of `get_batch` all crash at one line."""
    one = made_results.result("claim\n  crashed   x")
    tests = tuple(
        replace(test, outcome="crashed", score=0.0, file="get_batch.py", line=line) for test in one.katas[0].tests
    )
    return msgspec.structs.replace(one, katas=[msgspec.structs.replace(one.katas[0], status="crashed", tests=tests)])


@given(st.text())
def test_every_line_of_a_file_is_text_on_the_page_under_its_number(text: str) -> None:
    one = made_results.result("why")
    found, plain = (Lines(page_of(one, handed_in(get_batch=words))) for words in (text, "x"))
    assert found.lines == [printable(line) for line in Source(text).lines]
    assert found.tags - {"li"} == plain.tags - {"li"}


def test_lines_are_numbered_as_python_numbers_them() -> None:
    text = "a = 1\r\nb = '\u2028\x1c'\x0c\rc = 2\n\n"
    assert ast.parse(text).body[-1].lineno == 3
    assert Source(text).lines == ["a = 1", "b = '\u2028\x1c'\x0c", "c = 2", ""]


def test_the_line_at_which_tests_ended_is_marked_once_with_how_many_did() -> None:
    found = Lines(page_of(crashed(7), handed_in(get_batch=TEXT)))
    assert found.marked == {7: ("noted crashed", "crashed · rows are windows of data (+10)")}
    assert Lines(page_of(crashed(12), handed_in(get_batch=TEXT))).marked == {}, "there is no such line"


def test_a_hidden_test_marks_no_line_for_the_student(hide: Hide) -> None:
    hide("hidden")
    found = Lines(page_of(crashed(7), handed_in(get_batch=TEXT)))
    assert (len(found.lines), found.marked) == (11, {})


def test_a_page_names_the_course_and_the_day_of_grading() -> None:
    page = page_of(made_results.result("why"), handed_in())
    assert course().title in page
    assert "graded on 2026-03-0" in page


def class_page(folder: Path, *results: Result, **files: str) -> str:
    """`report.html` of these, all of whom handed in the same, after their feedback was written."""
    for one in results:
        result.write(one, folder)
        source.store(
            folder, one.submission, one.fingerprint, {f"{name}.py": text.encode() for name, text in files.items()}
        )
    assert write_report(folder, [one.submission for one in results], {}) == []
    assert write_feedback(folder, [one.submission for one in results], folder, {}) == []
    return (folder / "report.html").read_text("utf-8")


def test_findings_mark_lines_for_the_instructor_alone(tmp_path: Path) -> None:
    one = msgspec.structs.replace(crashed(7), findings=[Finding("get_batch", 2, "look"), Finding("helper", 1, "there")])
    page = Lines(class_page(tmp_path, one, get_batch=TEXT, helper="x = 1\n"))
    assert page.marked == {
        2: ("noted finding", "look"),
        7: ("noted crashed", "crashed · rows are windows of data (+10)"),
        12: ("noted finding", "there"),
    }
    own = Lines((tmp_path / "ada/feedback.html").read_text("utf-8"))
    assert (page.lines, list(own.marked)) == (own.lines, [7])


def test_the_class_page_has_what_many_handed_in_once_and_what_passed_only_where_something_was_found(
    tmp_path: Path,
) -> None:
    one = made_results.result()
    tests = tuple(replace(test, outcome="passed", message="") for test in one.katas[0].tests)
    passed = msgspec.structs.replace(one, katas=[msgspec.structs.replace(one.katas[0], status="done", tests=tests)])
    many = [msgspec.structs.replace(crashed(7), submission=f"s{number}") for number in range(20)]
    assert Lines(class_page(tmp_path, passed, *many, get_batch=TEXT)).lines == TEXT.splitlines()
    assert Lines(class_page(tmp_path / "passed", passed, get_batch=TEXT)).lines == []
    assert Lines((tmp_path / "passed/ada/feedback.html").read_text("utf-8")).lines == TEXT.splitlines()
    found = msgspec.structs.replace(passed, findings=[Finding("get_batch", 2, "look")])
    assert list(Lines(class_page(tmp_path / "found", found, get_batch=TEXT)).marked) == [2]


def test_the_code_of_another_result_is_not_shown(tmp_path: Path) -> None:
    class_page(tmp_path, crashed(7), get_batch=TEXT)
    result.write(msgspec.structs.replace(crashed(7), fingerprint="sha256:1"), tmp_path)
    assert write_report(tmp_path, ["ada"], {}) == []
    assert Lines((tmp_path / "report.html").read_text("utf-8")).lines == []


def test_no_more_is_kept_than_is_sensible_and_the_page_says_so() -> None:
    files = {f"m{number:02}.py": b"x" * (MAX_FILE + number - 1) for number in range(20)}
    found = truncate(files)
    assert sum(len(one.text) for one in found.values()) == MAX_TOTAL
    assert [one.whole for one in found.values()][:3] == [True, True, False]
    assert set(found) == set(files)
    cut = StoredSubmission("sha256:0", NOON, {"get_batch.py": Source("x", whole=False)})
    assert "This file was truncated." in page_of(made_results.result(), cut)
