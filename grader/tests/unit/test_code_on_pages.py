"""Tests of how submitted code is stored, and how pages show it with marked lines."""

import ast
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from grader.base.text import printable
from grader.output.page.class_pages import Shown, render_feedback, write_feedback, write_report
from grader.output.page.sections import make_parts
from grader.results import result, source
from grader.results.result import Finding, Result
from grader.results.source import MAX_FILE, MAX_TOTAL, Source, StoredSubmission, truncate
from grader.results.visibility import view_as_student
from grader.tests.conftest import Hide
from grader.tests.support import sample_results
from grader.tests.support.html_tree import get_text, parse_html
from torchkata.result import Status

TEXT = "".join(f"line {number}\n" for number in range(1, 12))
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
CRASH = ("noted crashed", "crashed · rows are windows of data (+11)")


class Lines:
    """Collects the lines of code on a page, and the class and notes of each marked line by its number."""

    def __init__(self, page: str) -> None:
        root = parse_html(page)
        self.tags = {element.tag for element in root.iter()}
        items = root.findall(".//*[@class='lines']/li")
        self.lines = [(item.text or "") + "".join(child.tail or "" for child in item) for item in items]
        marked = {number: item for number, item in enumerate(items, 1) if item.get("class")}
        self.marked = {number: (item.get("class"), "".join(map(get_text, item))) for number, item in marked.items()}


def make_page(result: Result, text: str, *, whole: bool = True) -> str:
    """Return a student's page for the given `get_batch.py`."""
    files = StoredSubmission("sha256:0", NOON, {"get_batch.py": Source(text, whole=whole)})
    return render_feedback(Shown(result, make_parts(result, view_as_student(result, platform_hides=False)), files))


def make_result(status: Status, **changes: Any) -> Result:
    """Return a result of `get_batch` with the given status, and changes applied to all its tests."""
    made = sample_results.make_result("claim\n  crashed   x")
    kata = made.katas[0]
    tests = tuple(replace(test, **changes) for test in kata.tests)
    return msgspec.structs.replace(made, katas=[msgspec.structs.replace(kata, status=status, tests=tests)])


def make_crashed(line: int) -> Result:
    """Return a result of `get_batch` in which all tests crash at the same line."""
    return make_result("crashed", outcome="crashed", score=0.0, file="get_batch.py", line=line)


@given(st.text())
def test_source_lines_are_escaped_and_in_order(text: str) -> None:
    result = sample_results.make_result("why")
    found, plain = (Lines(make_page(result, words)) for words in (text, "x"))
    assert found.lines == [printable(line) for line in Source(text).lines]
    assert found.tags - {"li"} == plain.tags - {"li"}


def test_lines_are_numbered_as_in_python() -> None:
    text = "a = 1\r\nb = '\u2028\x1c'\x0c\rc = 2\n\n"
    assert ast.parse(text).body[-1].lineno == 3
    assert Source(text).lines == ["a = 1", "b = '\u2028\x1c'\x0c", "c = 2", ""]


def test_line_of_failure_is_marked_once_with_count() -> None:
    assert Lines(make_page(make_crashed(7), TEXT)).marked == {7: CRASH}
    assert Lines(make_page(make_crashed(12), TEXT)).marked == {}, "the file has no line 12"


def test_hidden_test_marks_no_line_on_students_page(hide: Hide) -> None:
    hide("hidden")
    found = Lines(make_page(make_crashed(7), TEXT))
    assert (len(found.lines), found.marked) == (11, {})


def make_class_page(folder: Path, *results: Result, **files: str) -> str:
    """Write feedback for the given results, all with the same files, and return `report.html`."""
    names = [each.submission for each in results]
    contents = {f"{name}.py": text.encode() for name, text in files.items()}
    for each in results:
        result.write(each, folder)
        source.store(folder, each.submission, each.hand_in, contents)
    assert write_report(folder, names, {}) == []
    write_feedback(folder, names, folder, {})
    return (folder / "report.html").read_text("utf-8")


def test_findings_mark_lines_for_instructor_only(tmp_path: Path) -> None:
    one = msgspec.structs.replace(
        make_crashed(7), findings=[Finding("get_batch", 2, "look"), Finding("helper", 1, "there")]
    )
    page = Lines(make_class_page(tmp_path, one, get_batch=TEXT, helper="x = 1\n"))
    assert page.marked == {2: ("noted finding", "look"), 7: CRASH, 12: ("noted finding", "there")}
    own = Lines((tmp_path / "ada/feedback.html").read_text("utf-8"))
    assert (page.lines, list(own.marked)) == (own.lines, [7])


def test_code_of_another_result_is_not_shown(tmp_path: Path) -> None:
    make_class_page(tmp_path, make_crashed(7), get_batch=TEXT)
    result.write(msgspec.structs.replace(make_crashed(7), hand_in="1"), tmp_path)
    assert write_report(tmp_path, ["ada"], {}) == []
    assert Lines((tmp_path / "report.html").read_text("utf-8")).lines == []


def test_stored_code_is_truncated_with_note_on_page() -> None:
    files = {f"m{number:02}.py": b"x" * (MAX_FILE + number - 1) for number in range(20)}
    found = truncate(files)
    assert sum(len(file.text) for file in found.values()) == MAX_TOTAL
    assert [file.whole for file in found.values()][:3] == [True, True, False]
    assert set(found) == set(files)
    assert "This file was truncated." in make_page(sample_results.make_result(), "x", whole=False)
