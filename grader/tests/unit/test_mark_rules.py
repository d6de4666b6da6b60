"""Tests of marks: matching submissions to people, rules for late days, and filling another system's gradebook."""

import csv
import io
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.marks.platform_tables import Gradebook
from grader.marks.roster import Person, match_submissions
from grader.marks.rules import Extension, Mark, Override, Points, Policy, compute_mark, count_days_late
from grader.output import lms

BERLIN = ZoneInfo("Europe/Berlin")
DUE = datetime(2026, 10, 1, 23, 59)
POINTS = Points(80.0, {"linear": 50.0, "sgd": 30.0}, {("linear", "test_a"): 20.0, ("linear", "test_b"): 30.0})

times = st.datetimes(datetime(2026, 9, 25), datetime(2026, 11, 5), timezones=st.just(UTC))
policies = st.builds(
    Policy,
    due=st.datetimes(datetime(2026, 9, 28), datetime(2026, 10, 30)),
    grace_minutes=st.integers(0, 60),
    free_days=st.integers(0, 3),
    **{"penalty_per_day": st.floats(0, 1), "cap": st.floats(0, 1), "closes_after_days": st.none() | st.integers(0, 9)},
)
overrides = st.lists(
    st.builds(Override, st.sampled_from(["linear", "sgd"]), st.just(""), st.floats(0, 90), st.just("r"), st.just("w")),
    unique_by=lambda one: one.kata,
)


def get_final(given: Mark) -> float:
    assert given.final is not None
    return given.final


def test_submissions_match_people_by_platform_names() -> None:
    expected = {
        **{"ada": "lovelaceada_LATE_4711_99_hw.py", "zhang3": "张 三_815_assignsubmission_file_"},
        **{"Zoë": "hw1-zoe\u0308", "x-ray": "handed over by mail"},
    }
    people = [
        *(Person("ada", "Ada Lovelace", "lovelace@school.edu", "4711"), Person("zhang3", "张 三", "", "4712")),
        Person("Zoë", "Zoë Müller", "zoe@school.edu", "4713"),
        Person("x-ray", "Ray X", "", "", submission="handed over by mail"),
    ]
    found = match_submissions(people, [*expected.values()])
    assert (found.submissions, found.problems) == (expected, ())
    assert match_submissions(people, ["lovelace"]).submissions == {"ada": "lovelace"}
    taken = match_submissions(people, ["ray x_1_assignsubmission_file"])
    assert taken.submissions == {}, "the column submission excludes other matches"


def test_ambiguous_submissions_are_reported_not_guessed() -> None:
    people = [Person("a", "Li Wei"), Person("b", "Li Wei"), Person("c"), Person("412345")]
    found = match_submissions(people, ["li wei_1_assignsubmission_file", "submission_12345", "c", "hw-c", "00412345"])
    assert found.submissions == {}
    assert found.problems == (
        "li wei_1_assignsubmission_file: could belong to a, b; enter it in the owner's `submission` column",
        "submission_12345: no owner in the class list; enter it in the owner's `submission` column",
        "00412345: no owner in the class list, only 412345: has a spreadsheet removed the zeros?",
        "c: has several submissions (c, hw-c); enter one of them in their `submission` column",
    )


def test_group_submission_belongs_to_all_members() -> None:
    people = [Person("a", group="g1"), Person("b", group="g1"), Person("c", group="g2"), Person("d")]
    assert match_submissions(people, ["g1", "c"]).submissions == {"a": "g1", "b": "g1", "c": "c"}
    assert match_submissions(people, ["a"]).submissions == {"a": "a", "b": "a"}, "one submission counts for the group"


@pytest.mark.parametrize(
    ("handed_in", "days"),
    [
        *(("2026-10-24T23:59:00+02:00", 0), ("2026-10-25T00:03:00+02:00", 0), ("2026-10-25T00:05:00+02:00", 1)),
        ("2026-10-25T23:58:00+01:00", 1),  # 24 hours and 59 minutes later, because the clocks were set back
        *(("2026-10-26T00:00:00+01:00", 2), ("2026-10-31T23:59:00+01:00", 7)),
    ],
)
def test_late_days_use_local_time_across_dst(handed_in: str, days: int) -> None:
    due = datetime(2026, 10, 24, 23, 59, tzinfo=BERLIN)
    assert count_days_late(datetime.fromisoformat(handed_in), due, 5, BERLIN) == days


def test_mark_lists_its_calculation_steps() -> None:
    policy = Policy(due=DUE, penalty_per_day=0.1, free_days=1, cap=0.5)
    late = datetime(2026, 10, 4, 12, tzinfo=BERLIN)
    override = Override("linear", "test_b", 40.0, "the test was wrong", "ta")
    assert compute_mark(POINTS, late, policy, BERLIN, overrides=[override]) == Mark(
        80.0, 3, 16.0, 10.0, 74.0, ("3 days late", "linear test_b 40: the test was wrong (ta)")
    )
    extension = Extension(datetime(2026, 10, 4, 11, tzinfo=BERLIN), "ill")
    told = ("1 day late", "extension until 2026-10-04T11:00+02:00: ill")
    assert compute_mark(POINTS, late, policy, BERLIN, extension) == Mark(80.0, 1, 0.0, 0.0, 80.0, told)
    whole = Override("", "", 55.0, "talked about it", "ta")
    assert compute_mark(POINTS, late, policy, BERLIN, overrides=[whole]).final == 55.0
    assert compute_mark(None, None, policy, BERLIN) == Mark(None, 0, 0.0, 0.0, None, ())
    assert compute_mark(None, None, policy, BERLIN, overrides=[whole]).final == 55.0


@given(times, times, policies, overrides)
def test_marks_never_increase_with_lateness(
    one: datetime, other: datetime, policy: Policy, changed: list[Override]
) -> None:
    earlier, later = (compute_mark(POINTS, time, policy, BERLIN, overrides=changed) for time in sorted([one, other]))
    assert get_final(earlier) >= get_final(later)
    assert earlier.raw == later.raw == POINTS.score
    assert compute_mark(POINTS, max(one, other), policy, BERLIN, overrides=changed[::-1]) == later
    extended = compute_mark(POINTS, one, policy, BERLIN, Extension(other, "ill"))
    assert get_final(extended) >= get_final(compute_mark(POINTS, one, policy, BERLIN))


CELLS = st.text(st.sampled_from('ab,;" \n\r\t=张'), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_parsed_cells_match_those_of_csv_reader(rows: list[list[str]], quoted: bool, ending: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=ending, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerows(rows)
    read = csv.reader(io.StringIO(out.getvalue(), newline=""))
    found = lms.parse_cells(out.getvalue(), ",")
    assert [[cell.text for cell in line] for line in found] == [line or [""] for line in read]


CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,torchkata (77),Final Score\r\n"
    "    Points Possible,,,,,2.00,(read only)\r\n"
    '"Lovelace, Ada",4711,ada,ada@x.edu,"1, ""late""",,90\r\n'
    "张三,4712,zs,zs@x.edu,1,1.5,80\r\n"
    "Nobody,9,no,no@x.edu,1,,\r\n"
)


def test_canvas_export_changes_only_one_column() -> None:
    people = [(Person("zs", lms_id="4712"), 2.0), (Person("ada"), 1.25), (Person("new"), 1.0), (Person("no"), None)]
    content, notes = lms.fill_gradebook(CANVAS, "canvas", "torchkata", people, 2.0, overwrite=True)
    assert notes == ["wrote 2 rows; 1 person is not in this gradebook: new"]
    filled = CANVAS.replace('""",,90', '""",1.25,90')
    assert content == filled.replace("1,1.5,80", "1,2,80")
    content, notes = lms.fill_gradebook(CANVAS, "canvas", "torchkata", people, 2.0)
    assert content == filled
    assert notes[1:] == ["kept 1 cell with another value (--force replaces them): zs: 1.5"]


@pytest.mark.parametrize(
    ("content", "format", "column", "told"),
    [
        (CANVAS, "canvas", "sgd", "0 columns are called sgd; the columns are Student, ID"),
        (CANVAS, "canvas", "", "choose a column with --column NAME"),
        (
            CANVAS.replace("2.00", "50"),
            "canvas",
            "torchkata",
            "its maximum is 50 points, but the maximum of the marks is 2; to scale the marks, add out_of = 50",
        ),
        (CANVAS + "Ada,1,ada,,,,\r\n", "canvas", "torchkata", "ada has rows 3 and 6"),
        ("id,email,mark\nada,zs@x.edu,\n", "csv", "mark", "row 2 belongs to zs and to another person"),
        ('id,mark\n"ada"x,\n', "csv", "mark", "row 2 has text after a quoted cell"),
        ("", "csv", "mark", "the file is empty"),
        ("id,mark\neve,\n", "csv", "mark", "nobody in class.csv is in this gradebook"),
        ("Identifier,Grade\nParticipant 1,\n", "moodle", "", "no column with e-mail addresses or other known ids; the"),
        ("Email address,Grade,Maximum Grade\nada@x.edu,,100\n", "moodle", "", "its maximum is 100 points"),
    ],
)
def test_mismatched_gradebook_is_rejected(content: str, format: Gradebook, column: str, told: str) -> None:
    people = [(Person("ada", email="ada@x.edu"), 1.0), (Person("zs", email="zs@x.edu"), 1.0)]
    with pytest.raises(lms.GradebookError, match="^" + told.replace("(", r"\(")):
        lms.fill_gradebook(content, format, column, people, 2.0)
