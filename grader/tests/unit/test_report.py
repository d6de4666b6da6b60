"""The page of a class and the pages of its students: what they count, what they show, and to whom."""

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.base.text import printable
from grader.output.page import overview, speed
from grader.output.page.parts import make_parts
from grader.output.page.student import Student, summarize_student
from grader.output.page.write import Shown, render_feedback, write_feedback
from grader.results import result as load
from grader.results.items import Property
from grader.results.result import Result
from grader.results.view import view_as_instructor, view_as_student
from grader.tests.conftest import Hide, ask
from grader.tests.support.html_tree import parse_html, text_of
from grader.tests.support.made_class import a_class
from grader.tests.support.made_results import HOSTILE, result, result_with_rehearsal, result_with_speed
from torchkata.course import course

SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
TOLD = "claim\n  note      the same\n  again: pytest"


class Reader:
    """The tags of a page, and the text within each `<pre>`."""

    def __init__(self, html: str) -> None:
        elements = [*parse_html(html).iter()]
        self.tags = [element.tag for element in elements]
        self.messages = [text_of(element) for element in elements if element.tag == "pre"]
        attributes = [name for element in elements for name in element.attrib]
        assert not [name for name in attributes if name.startswith("on")], "nothing runs from an attribute"


def page_of(folder: Path, *results: Result) -> str:
    """`report.html` of these."""
    for one in results:
        load.write(one, folder)
    done = ask("report", folder)
    assert (done.code, done.err) == (0, "")
    assert f"page:      {folder / 'report.html'}" in done.out
    return (folder / "report.html").read_text("utf-8")


def feedback_of(result: Result) -> str:
    """`feedback.html` of this one."""
    return render_feedback(Shown(result, make_parts(result, view_as_student(result, platform_hides=False)), None))


def student(score: float, max_score: float = 100.0, failed: dict[Property, str] | None = None) -> Student:
    """Somebody with so many points, who has tried two properties of `linear`."""
    made = summarize_student(msgspec.structs.replace(result("why"), score=score, max_score=max_score, katas=[]), [], ())
    tried = frozenset({Property("linear", "test_a"), Property("linear", "test_b")})
    return replace(made, tried=tried, failed=failed or {})


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1000)), max_size=30))
def test_every_submission_is_in_one_bar_of_the_histogram(shares: list[tuple[float, float]]) -> None:
    found = overview.make_histogram([student(share * most, most) for share, most in shares])
    assert sum(one.count for one in found) == len(shares)
    assert [one.label for one in found][::5] == ["0–9", "50–59", "all"]
    assert max(one.height for one in found) == (1 if shares else 0)


@pytest.mark.parametrize(
    ("score", "label"),
    [(0, "0–9"), (9.99, "0–9"), (10, "10–19"), (99.5, "90–99"), (100, "all"), (99.9999999999, "all")],
)
def test_only_full_points_are_in_the_bar_of_all_points(score: float, label: str) -> None:
    assert [one.label for one in overview.make_histogram([student(score)]) if one.count] == [label]


def test_the_quartiles_of_a_small_class_are_those_of_its_scores() -> None:
    assert overview.compute_spread([student(50)]) == overview.Spread(0.5, 0.5, 0.5)
    assert overview.compute_spread([student(score) for score in (0, 50, 100)]) == overview.Spread(0.25, 0.5, 0.75)


def test_the_property_that_fails_most_comes_first_with_its_commonest_diagnosis() -> None:
    a, b = Property("linear", "test_a"), Property("linear", "test_b")
    students = [student(0, failed=failed) for failed in ({a: ""}, {a: "", b: "x"}, {b: "y"}, {b: "y"}, {})]
    first, second = overview.find_failing(students)
    assert (first.which, first.failed, first.tried, first.diagnosis, first.diagnosed) == (b, 3, 5, "y", 2)
    assert (second.which, second.failed, second.diagnosis) == (a, 2, "")


def test_the_report_page_shows_for_each_kata_its_statuses_and_mean_points() -> None:
    katas = [kata for kata in course().katas.values() if kata.track == "core"]
    students = [summarize_student(one, make_parts(one, view_as_instructor(one)), ()) for one in a_class(20)]
    for row in overview.summarize_katas(students, katas):
        assert sum(row.counts.values()) == 20
        scores = [one.cells[row.kata.name].score for one in students]
        assert row.mean == pytest.approx(sum(scores) / 20 / row.kata.max_score)


def test_every_part_of_a_page_has_the_status_and_score_of_its_kata() -> None:
    for one in a_class(20):
        parts = {
            part.result.kata: (part.result.status, part.result.score)
            for part in make_parts(one, view_as_instructor(one))
        }
        assert {kata.kata: (kata.status, kata.score) for kata in one.katas}.items() <= parts.items()


def test_every_measured_speed_is_a_dot_and_a_wrong_result_is_none() -> None:
    students = [summarize_student(result_with_speed("why", submission=name), [], ()) for name in ("ada", "ben")]
    found = {one.workload.name: one for one in speed.make_strips(students)}
    assert set(found) == {"linear_forward", "cruncher_step", "sgd_step", "no_hidden_sync"}
    linear = found["linear_forward"]
    assert (linear.count, linear.dots["all"].count("h0"), linear.of, linear.median) == (2, 2, "peak", 0.74)
    assert found["sgd_step"].dots["some"].count("h0") == found["cruncher_step"].dots["none"].count("h0") == 2
    assert all(0 <= one.place(share) <= 1000 for one in found.values() for share in (one.median, one.full, one.passing))


def test_a_rehearsal_is_coloured_by_threshold_and_marked_on_every_page(tmp_path: Path) -> None:
    made = result_with_rehearsal("why")
    found = {one.workload.name: one for one in speed.make_strips([summarize_student(made, [], ())])}
    dots = {name: next(what for what, path in one.dots.items() if path) for name, one in found.items()}
    assert dots == {"linear_forward": "all", "cruncher_step": "none", "sgd_step": "some", "no_hidden_sync": "all"}
    page = page_of(tmp_path, made)
    assert "a rehearsal, no points; the colours show which threshold was reached" in page
    assert '<span class="of">a rehearsal, no points</span>' in page
    assert write_feedback(tmp_path, ["ada"], tmp_path, {}) == []
    own = (tmp_path / "ada/feedback.html").read_text()
    assert own.count("a rehearsal, no points") == 2, "among the contents and above the workloads"
    assert "of 0" not in own
    assert "passed from 0.45, all reached from 0.75" in own


def test_the_roofline_of_a_class_shows_the_median_rates() -> None:
    rates = (4e14, 7e14, 9e14)
    students = []
    for rate in rates:
        one = result_with_speed("why")
        timed = [msgspec.structs.replace(one.performance[0], rate=rate, ratio=rate / 1e15)]
        students.append(summarize_student(msgspec.structs.replace(one, performance=timed), [], ()))
    (svg,) = speed.draw_rooflines(students)
    assert "linear_forward, 700 TFLOP/s" in svg
    assert "1 PFLOP/s" in svg
    assert list(speed.draw_rooflines([summarize_student(result("why"), [], ())])) == []


@given(st.text(min_size=1))
def test_every_message_is_text_on_a_page_and_never_markup(message: str) -> None:
    told = f"claim\n:{message}\nagain"
    reader, plain = (Reader(feedback_of(result(words))) for words in (told, "claim\n:\nagain"))
    assert reader.tags == plain.tags
    assert set(reader.messages) == {printable(told)}


def test_a_character_that_turns_the_direction_of_reading_is_shown_by_its_number() -> None:
    assert printable("a\u202eb\u2066c\u2028d\u2029e\x1b[31mf\x00") == "a<U+202E>b<U+2066>c\nd\ne[31mf"
    assert printable("שלום") == "שלום"


def test_a_page_allows_only_its_own_scripts_and_loads_nothing(tmp_path: Path) -> None:
    page = page_of(tmp_path, *a_class(5), result_with_speed("why", submission="<script>alert(1)<script>"))
    scripts = SCRIPT.findall(page)
    assert len(scripts) == 2
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in digests)
    assert f"default-src 'none'; script-src {allowed}; " in page.replace("&#39;", "'")
    assert re.findall(r"""(?:src|srcset|action|data|poster)=["']""", page) == []
    assert {link[:1] for link in re.findall(r'href="([^"]*)', page)} <= {"#", "d"}
    assert re.findall(r"url\((?!#)", page) == []


def test_a_part_that_many_submissions_share_is_stored_once(tmp_path: Path) -> None:
    one = result("why")
    page = page_of(tmp_path, *(msgspec.structs.replace(one, submission=f"s{number}") for number in range(50)))
    assert page.count("<template") == 1
    assert page.count('data-parts="0"') == 50


def test_a_page_names_tracks_only_if_there_are_several(tmp_path: Path) -> None:
    page = page_of(tmp_path, *a_class(3, tracks=["core", "models"]))
    core, models = (course().tracks[name].title for name in ("core", "models"))
    assert page.count(f'colspan="8">{core}</th>') == 2, "eight columns of katas, and eight of how they ended"
    assert f'<th scope="colgroup" colspan="3">{models}</th>' in page
    assert page.index(f'<optgroup label="{core}">') < page.index(f'<optgroup label="{models}">')
    assert core not in page_of(tmp_path / "one", *a_class(3))


@pytest.mark.parametrize("timed", [False, pytest.param(True, marks=pytest.mark.timing)])  # two pictures of each
def test_the_report_page_of_a_large_class_is_small(tmp_path: Path, timed: bool) -> None:
    page = page_of(tmp_path, *a_class(200, timed=timed))
    assert len(page.encode()) < 2**21


def test_the_report_page_shows_what_to_grade_again_and_the_findings(tmp_path: Path) -> None:
    findings = [load.Finding("linear", 7, "torch.nn.Linear: look")]
    made = msgspec.structs.replace(result("why", submission="zoe"), findings=findings)
    page = page_of(tmp_path, made, *a_class(3))
    assert 'id="again"' in page
    assert "<dt>torch.nn.Linear: look</dt>" in page
    assert "linear.py, line 7" in page
    calm = page_of(tmp_path / "calm", next(a_class(1, timed=False)))
    assert 'id="again"' not in calm
    assert 'id="speed"' not in calm


def test_a_result_of_other_tests_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    old = result("why", submission="old")
    first, *rest = old.katas[0].tests
    old.katas[0] = msgspec.structs.replace(old.katas[0], tests=(replace(first, name="test_of_last_year"), *rest))
    for one in (old, result("why")):
        load.write(one, tmp_path)
    done = ask("report", tmp_path, "--feedback", tmp_path / "to")
    assert done.code == 2
    assert (
        done.err
        == f"grader: {tmp_path}/old/result.json: kata get_batch has changed since this was graded; grade again\n"
    )
    assert "<bdi>ada</bdi>" in (tmp_path / "report.html").read_text("utf-8")
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["ada"]


def test_the_page_of_a_student_shows_nothing_of_the_others(tmp_path: Path) -> None:
    names = ("ada", "Ben <b>", "李 & co")
    for name in names:
        made = result_with_speed(f"words of {name}", submission=name)
        load.write(msgspec.structs.replace(made, findings=[load.Finding("linear", 1, "look here")]), tmp_path)
    done = ask("report", tmp_path, "--feedback", tmp_path / "to")
    assert (done.code, done.err) == (0, "")
    assert f"feedback:  {tmp_path}/to/<submission>/feedback.html" in done.out
    for name in names:
        html = (tmp_path / "to" / name / "feedback.html").read_text("utf-8")
        reader = Reader(html)
        assert set(reader.messages) == {f"words of {name}"}
        assert "look here" not in html
        assert "Roofline of cuda" in html
        assert not [other for other in names if other != name and f"words of {other}" in html]


def test_report_names_a_feedback_path_that_cannot_be_written(tmp_path: Path) -> None:
    load.write(result("why"), tmp_path)
    (tmp_path / "file").write_text("")
    done = ask("report", tmp_path, "--feedback", tmp_path / "file")
    assert (done.code, done.err) == (2, f"grader: --feedback {tmp_path}/file: can't write there (Not a directory)\n")


def test_messages_of_hidden_tests_are_on_the_instructors_page_alone(hide: Hide, tmp_path: Path) -> None:
    hide("hidden")
    one = result("get_batch · claim\n  secret", file="get_batch.py")
    page, own = page_of(tmp_path, one), feedback_of(one)
    assert "secret" in page
    assert "hidden from students" in page
    assert "secret" not in own
    assert "starts are uniform" not in own
    assert "hidden test 3" in own
    assert "timed out" not in own.partition("<body>")[2], "not how it was wrong"


@pytest.mark.parametrize("words", [HOSTILE, "", "\n", "\u202e", "x" * 100_000], ids=lambda words: words[:1])
def test_a_page_can_be_made_of_any_message(words: str, tmp_path: Path) -> None:
    said = words.replace("\ud800", "")  # JSON can't hold it
    findings = [load.Finding("linear", 1, said)]
    page = page_of(tmp_path, msgspec.structs.replace(result_with_speed(said), findings=findings))
    assert len(SCRIPT.findall(page)) == 2
    assert Reader(page).messages[0] == printable(said)


def test_what_fails_for_one_reason_is_told_once_on_a_page_and_every_test_keeps_its_points() -> None:
    made = result()
    (kata,) = made.katas
    tests = tuple(replace(test, outcome="failed", score=0.0, message=TOLD) for test in kata.tests)
    text = feedback_of(msgspec.structs.replace(made, katas=[msgspec.structs.replace(kata, tests=tests)]))
    assert len(Reader(text).messages) == 1
    assert text.count(", the same") == len(tests) - 1
    assert all(test.name.removeprefix("test_").replace("_", " ") in text for test in tests)
