"""Who is who, by which rules points become marks, and how these come into a gradebook of somebody else's."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from grader.base.errors import CallError
from grader.marks.marked import overtaken, results_in
from grader.marks.roster import Person, match
from grader.marks.rulebook import read_rulebook
from grader.marks.rules import Extension, Mark, Override, Points, Policy, days_late, mark
from grader.output import lms
from grader.results import result
from grader.tests.conftest import Run, ask
from grader.tests.unit.test_stored import TESTS, store

BERLIN = ZoneInfo("Europe/Berlin")
DUE = datetime(2026, 10, 1, 23, 59)
POINTS = Points(80.0, {"linear": 50.0, "sgd": 30.0}, {("linear", "test_a"): 20.0, ("linear", "test_b"): 30.0})

times = st.datetimes(datetime(2026, 9, 25), datetime(2026, 11, 5), timezones=st.just(UTC))
policies = st.builds(
    Policy,
    due=st.datetimes(datetime(2026, 9, 28), datetime(2026, 10, 30)),
    grace_minutes=st.integers(0, 60),
    free_days=st.integers(0, 3),
    penalty_per_day=st.floats(0, 1),
    cap=st.floats(0, 1),
    closes_after_days=st.none() | st.integers(0, 9),
)
overrides = st.lists(
    st.builds(Override, st.sampled_from(["linear", "sgd"]), st.just(""), st.floats(0, 90), st.just("r"), st.just("w")),
    unique_by=lambda one: one.kata,
)


def final(given: Mark) -> float:
    """What somebody gets who has handed in."""
    assert given.final is not None
    return given.final


def test_a_submission_is_whose_name_it_has_in_the_download_of_a_platform() -> None:
    people = [
        Person("ada", "Ada Lovelace", "lovelace@school.edu", "4711"),
        Person("zhang3", "张 三", "", "4712"),
        Person("Zoë", "Zoë Müller", "zoe@school.edu", "4713"),
        Person("x-ray", "Ray X", "", "", submission="handed over by mail"),
    ]
    found = match(
        people,
        ["lovelaceada_LATE_4711_99_hw.py", "张 三_815_assignsubmission_file_", "hw1-zoe\u0308", "handed over by mail"],
    )
    assert found.problems == ()
    assert found.submissions == {
        "ada": "lovelaceada_LATE_4711_99_hw.py",
        "zhang3": "张 三_815_assignsubmission_file_",
        "Zoë": "hw1-zoe\u0308",
        "x-ray": "handed over by mail",
    }
    assert match(people, ["lovelace"]).submissions == {"ada": "lovelace"}
    assert match(people, ["ray x_1_assignsubmission_file"]).submissions == {}, "who is named for one has no other"


def test_what_does_not_match_is_named_and_never_guessed() -> None:
    people = [Person("a", "Li Wei"), Person("b", "Li Wei"), Person("c")]
    found = match(people, ["li wei_1_assignsubmission_file", "submission_12345", "c", "hw-c"])
    assert found.submissions == {}
    assert found.problems == (
        "li wei_1_assignsubmission_file: could be of a, b; name it in one's column submission",
        "submission_12345: nobody in the class list; name it in their column submission",
        "c: has c, hw-c; name one in their column submission",
    )


def test_a_groups_submission_is_all_its_members() -> None:
    people = [Person("a", group="g1"), Person("b", group="g1"), Person("c", group="g2"), Person("d")]
    assert match(people, ["g1", "c"]).submissions == {"a": "g1", "b": "g1", "c": "c"}
    assert match(people, ["a"]).submissions == {"a": "a", "b": "a"}, "one of them has handed in for all"


@pytest.mark.parametrize(
    ("handed_in", "days"),
    [
        ("2026-10-24T23:59:00+02:00", 0),
        ("2026-10-25T00:03:00+02:00", 0),
        ("2026-10-25T00:05:00+02:00", 1),
        ("2026-10-25T23:58:00+01:00", 1),  # 24 hours and 59 minutes later: the clocks went back
        ("2026-10-26T00:00:00+01:00", 2),
        ("2026-10-31T23:59:00+01:00", 7),
    ],
)
def test_a_day_ends_when_the_clock_says_the_same_in_summer_and_in_winter(handed_in: str, days: int) -> None:
    due = datetime(2026, 10, 24, 23, 59, tzinfo=BERLIN)
    assert days_late(datetime.fromisoformat(handed_in), due, 5, BERLIN) == days


def test_a_mark_is_told_step_by_step() -> None:
    policy = Policy(due=DUE, penalty_per_day=0.1, free_days=1, cap=0.5)
    late = datetime(2026, 10, 4, 12, tzinfo=BERLIN)
    override = Override("linear", "test_b", 40.0, "the test was wrong", "ta")
    assert mark(POINTS, late, policy, BERLIN, overrides=[override]) == Mark(
        80.0, 3, 16.0, 10.0, 74.0, ("3 days late", "linear test_b 40: the test was wrong (ta)")
    )
    extension = Extension(datetime(2026, 10, 4, 11, tzinfo=BERLIN), "ill")
    told = ("1 day late", "extension until 2026-10-04T11:00+02:00: ill")
    assert mark(POINTS, late, policy, BERLIN, extension) == Mark(80.0, 1, 0.0, 0.0, 80.0, told)
    whole = Override("", "", 55.0, "talked about it", "ta")
    assert mark(POINTS, late, policy, BERLIN, overrides=[whole]).final == 55.0
    assert mark(None, None, policy, BERLIN) == Mark(None, 0, 0.0, 0.0, None, ())
    assert mark(None, None, policy, BERLIN, overrides=[whole]).final == 55.0


@given(times, times, policies, overrides)
def test_later_never_earns_more(one: datetime, other: datetime, policy: Policy, changed: list[Override]) -> None:
    marks = [mark(POINTS, time, policy, BERLIN, overrides=changed) for time in sorted([one, other])]
    assert final(marks[0]) >= final(marks[1])
    assert marks[0].raw == marks[1].raw == POINTS.score


@given(times, times, policies)
def test_an_extension_never_earns_less(handed_in: datetime, until: datetime, policy: Policy) -> None:
    without = mark(POINTS, handed_in, policy, BERLIN)
    assert final(mark(POINTS, handed_in, policy, BERLIN, Extension(until, "ill"))) >= final(without)


@given(times, policies, overrides)
def test_the_order_of_overrides_is_all_the_same(handed_in: datetime, policy: Policy, changed: list[Override]) -> None:
    one = mark(POINTS, handed_in, policy, BERLIN, overrides=changed)
    assert mark(POINTS, handed_in, policy, BERLIN, overrides=changed[::-1]) == one


@given(times, st.integers(0, 10), st.integers(0, 300))
def test_late_days_are_counted_as_a_calendar_counts_them(due: datetime, days: int, minutes: int) -> None:
    clock = due.astimezone(BERLIN).replace(tzinfo=None) + timedelta(days=days)
    handed_in = clock.replace(tzinfo=BERLIN)
    if handed_in.astimezone(UTC).astimezone(BERLIN).replace(tzinfo=None) == clock:  # a time that there is
        assert days_late(handed_in, due, 0, BERLIN) in (days, days + 1)  # an hour that comes twice
        later = handed_in.astimezone(UTC) + timedelta(minutes=minutes)
        assert days_late(later, due, 0, BERLIN) >= days_late(handed_in, due, 0, BERLIN)


CELLS = st.text(st.sampled_from('ab,;" \n\r\t=张'), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_cells_are_those_that_a_csv_reader_finds(rows: list[list[str]], quoted: bool, ending: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=ending, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerows(rows)
    read = csv.reader(io.StringIO(out.getvalue(), newline=""))
    found = lms.cells_of(out.getvalue(), ",")
    assert [[cell.text for cell in line] for line in found] == [line or [""] for line in read]


CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,torchkata (77),Final Score\r\n"
    "    Points Possible,,,,,2.00,(read only)\r\n"
    '"Lovelace, Ada",4711,ada,ada@x.edu,"1, ""late""",,90\r\n'
    "张三,4712,zs,zs@x.edu,1,1.5,80\r\n"
    "Nobody,9,no,no@x.edu,1,,\r\n"
)


def test_canvas_gets_its_gradebook_back_with_one_column_changed() -> None:
    people = [(Person("zs", lms_id="4712"), 2.0), (Person("ada"), 1.25), (Person("new"), 1.0), (Person("no"), None)]
    content, problems = lms.filled(CANVAS, "canvas", "torchkata", people, 2.0)
    assert problems == ["new: has no row in the gradebook"]
    assert content == CANVAS.replace('""",,90', '""",1.25,90').replace("1,1.5,80", "1,2,80")


@pytest.mark.parametrize(
    ("content", "format", "column", "told"),
    [
        (CANVAS, "canvas", "sgd", "0 columns sgd; there are Student, ID"),
        (CANVAS, "canvas", "", "no column said"),
        (CANVAS.replace("2.00", "50"), "canvas", "torchkata", "its most points are 50, and those of the results 2"),
        (CANVAS + "Ada,1,ada,,,,\r\n", "canvas", "torchkata", "ada has rows 3 and 6"),
        ("id,email,mark\nada,zs@x.edu,\n", "csv", "mark", "row 2 is zs's and another's"),
        ('id,mark\n"ada"x,\n', "csv", "mark", "row 2 goes on after a quoted cell"),
        ("", "csv", "mark", "it is empty"),
        ("Email address,Grade,Maximum Grade\nada@x.edu,,100\n", "moodle", "", "its most points are 100"),
    ],
)
def test_a_gradebook_that_does_not_fit_is_refused(content: str, format: lms.Gradebook, column: str, told: str) -> None:
    people = [(Person("ada", email="ada@x.edu"), 1.0), (Person("zs", email="zs@x.edu"), 1.0)]
    with pytest.raises(lms.GradebookError, match="^" + told.replace("(", r"\(")):
        lms.filled(content, format, column, people, 2.0)


CLASS = {
    "class.csv": "id;name;email;section\nada;Ada;ada@x.edu;1\nben;=1+1;ben@x.edu;1\neve;Eve;eve@x.edu;2\n",
    "policy.toml": 'due = 2026-10-01T23:59:00\nzone = "Europe/Berlin"\npenalty_per_day = 0.25\n',
    "times.csv": "submission,time\nada,2026-10-01T20:00:00Z\nben,2026-10-02T20:00:00Z\n",
    "overrides.csv": f"id,kata,test,points,reason,who\nada,linear,{TESTS[1]},1,unfair,ta\n",
}


METADATA = """---
submission_7:
  :submitters:
  - :name: Ada L.
    :sid:
    :email: ADA@x.edu
  - :name: Eve
    :sid: 0815
    :email: eve@home.example
  :created_at: 2026-10-02 05:42:11.123456789 Z
  :score: 1.0
  :results: {tests: []}
submission_8:
  :submitters:
  - :name: Zed
    :sid: '9'
    :email: zed@x.edu
  :created_at: 2026-10-01 05:42:11.000000000 Z
"""


def written(folder: Path, **changed: str) -> Path:
    """The folder of a class, some files of it changed."""
    folder.mkdir(exist_ok=True)
    for name, text in {**CLASS, **{".".join(name.rsplit("_", 1)): text for name, text in changed.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def graded(directory: Path) -> Path:
    """Results of two of the three."""
    store(directory, "ada", "wrong", "passed", "failed")
    store(directory, "ben", "done", "passed", "passed")
    return directory


def marks(directory: Path, folder: Path) -> Run:
    """`grader marks …`."""
    return ask("marks", directory, folder)


def test_marks_of_a_class_have_a_row_for_each_and_no_zero_for_who_is_missing(tmp_path: Path) -> None:
    done = marks(graded(tmp_path / "results"), written(tmp_path / "class"))
    assert (done.code, done.err) == (0, "")
    assert "people:    3; 2 have handed in, 1 of them late" in done.out
    assert "nothing:   eve" in done.out
    rows = list(csv.DictReader((tmp_path / "class/marks.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["id"], row["name"], row["raw"], row["late"], row["override"], row["final"]) for row in rows] == [
        ("ada", "Ada", "1.0", "0.0", "1.0", "2.0"),
        ("ben", "'=1+1", "2.0", "0.5", "0.0", "1.5"),
        ("eve", "Eve", "", "0.0", "0.0", ""),
    ]


def test_marks_that_are_made_twice_are_the_same_and_change_no_result(tmp_path: Path) -> None:
    folder, results = written(tmp_path / "class"), graded(tmp_path / "results")
    before = {path: path.read_bytes() for path in results.rglob("*.json")}
    made = [(marks(results, folder).code, (folder / "marks.csv").read_bytes()) for _ in range(2)]
    assert made[0] == made[1]
    assert {path: path.read_bytes() for path in results.rglob("*.json")} == before


def test_marks_name_what_is_to_be_settled_by_hand(tmp_path: Path) -> None:
    store(graded(tmp_path / "results"), "who", "done", "passed")
    needless = CLASS["overrides.csv"].replace(",1,unfair", ",0,unfair")
    times = "submission,time\nada,2026-10-01T20:00:00Z\n"
    done = marks(tmp_path / "results", written(tmp_path / "class", overrides_csv=needless, times_csv=times))
    assert done.code == 2
    assert done.err.splitlines() == [
        "grader: who: nobody in the class list; name it in their column submission",
        f"grader: overrides.csv: ada has 0 for linear {TESTS[1]} anyway; the row is not needed",
        "grader: ben: its time is not known (times.csv), so it counts as handed in on time",
    ]


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("class_csv", "name\nAda\n", "there is no column id; needed are id"),
        ("class_csv", "id,email\na,x@y\nb,X@y\n", "two people have the email X@y"),
        ("class_csv", "id\nada\nADA\n", "two people have the id ADA"),
        ("class_csv", "id,name\nada,Ada,x\n", "row 2 has 3 cells, and the header 2"),
        ("policy_toml", "due = 2026-10-01T23:59:00\n", "due has no offset"),
        ("policy_toml", 'zone = "Mars"\n', "there is no time zone Mars"),
        ("policy_toml", "penalty = 0.1\n", "unknown field"),
        ("policy_toml", "penalty_per_day = 10\n", "Expected `float` <= 1"),
        ("times_csv", "submission,time\nada,2026-10-01T20:00:00\n", "has no offset"),
        ("times_csv", "submission,time\nada,yesterday\n", "yesterday is no time"),
        ("overrides_csv", "id,points,reason,who\nzed,1,r,w\n", "zed is not in class.csv"),
        ("overrides_csv", "id,points,reason,who\nada,1,,w\n", "row 2 has no reason"),
        ("overrides_csv", "id,points,reason,who\nada,-1,r,w\n", "they are 0 or more"),
        ("overrides_csv", "id,points,reason,who\nada,1,r,w\nada,2,r,w\n", "two overrides of the same points"),
        ("overrides_csv", "id,kata,points,reason,who\nada,sgd,1,r,w\n", "ada has no kata sgd among the results"),
        ("submission_metadata_yml", "submission_1: 7\n", "is not as Gradescope writes it"),
        ("submission_metadata_yml", METADATA.replace("000 Z", "000"), "submission_8 has a time without its zone"),
        ("pseudonyms_json", "[]", "is no key to pseudonyms"),
        ("extensions_csv", "id,until,reason\nada,2026-10-05T00:00:00,x\nada,2026-10-06,x\n", "two extensions for ada"),
    ],
)
def test_a_class_that_contradicts_itself_is_refused_in_one_line(
    tmp_path: Path, file: str, text: str, told: str
) -> None:
    done = marks(graded(tmp_path / "results"), written(tmp_path / "class", **{file: text}))
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "class/marks.csv").exists()


def test_a_class_without_rules_gets_what_it_was_graded_with(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("id\nada\n")
    book = read_rulebook(tmp_path)
    assert (book.policy, book.times, book.overrides) == (Policy(), {}, {})
    with pytest.raises(CallError, match=r"class\.csv: can't be read"):
        read_rulebook(tmp_path / "elsewhere")


def test_marks_come_into_a_gradebook_by_export(tmp_path: Path) -> None:
    folder, results = written(tmp_path / "class"), graded(tmp_path / "results")
    book = tmp_path / "moodle.csv"
    book.write_text("Identifier,Full name,Email address,Grade,Maximum Grade\nParticipant 1,Ada,ada@x.edu,,2.00\n")
    to = tmp_path / "out.csv"
    call = ("export", results, "--format", "moodle", "--class", folder, "--gradebook", book, "--to", to)
    done = ask(*call)
    assert done.code == 2, "two have no row"
    assert done.err.splitlines() == [
        "grader: ben: has no row in the gradebook",
        "grader: eve: has no row in the gradebook",
    ]
    assert to.read_text() == book.read_text().replace("ada@x.edu,,", "ada@x.edu,2,")
    lacks = ask("export", results, "--format", "canvas", "--to", to)
    assert (lacks.code, lacks.err) == (2, "grader: --format canvas needs --class FOLDER and --gradebook FILE\n")
    strays = ask("export", results, "--format", "junit", "--class", folder, "--to", to)
    assert (strays.code, strays.err) == (
        2,
        "grader: --class, --gradebook and --column are for --format canvas, moodle, csv\n",
    )


def test_gradescopes_metadata_say_whose_a_submission_is_and_when_it_came(tmp_path: Path) -> None:
    store(tmp_path / "results", "submission_7", "done", "passed", "passed")
    store(tmp_path / "results", "submission_8", "done", "passed", "passed")
    folder = written(tmp_path / "class", times_csv="submission,time\n", overrides_csv="id,points,reason,who\n")
    (folder / "submission_metadata.yml").write_text(METADATA)
    done = marks(tmp_path / "results", folder)
    assert done.err.splitlines() == ["grader: submission_8: Zed (zed@x.edu) is nobody in the class list"]
    rows = list(csv.DictReader((folder / "marks.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["id"], row["submission"], row["days_late"], row["final"]) for row in rows] == [
        ("ada", "submission_7", "1", "1.5"),
        ("ben", "", "0", ""),
        ("eve", "submission_7", "1", "1.5"),
    ]


def text_of(page: Path) -> str:
    """What somebody reads, on one line."""
    main = page.read_text("utf-8").partition("<main")[2]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def test_a_page_tells_how_a_mark_came_about(tmp_path: Path) -> None:
    folder, results = written(tmp_path / "class"), graded(tmp_path / "results")
    done = ask("report", results, "--class", folder, "--feedback", tmp_path / "pages")
    assert (done.code, done.err) == (0, "")
    ben = text_of(tmp_path / "pages/ben/feedback.html")
    steps = "mark 1.5 of 2 points as graded 2 lateness −0.5 put right by hand 0 mark 1.5 1 day late"
    assert steps in ben
    assert f"put right by hand +1 mark 2 linear {TESTS[1]} 1: unfair (ta)" in text_of(
        tmp_path / "pages/ada/feedback.html"
    )
    assert "unfair" not in ben
    assert steps in text_of(results / "report.html").replace("\\n", " ")


def test_of_marks_that_differ_in_a_group_none_is_told_to_all(tmp_path: Path) -> None:
    people = "id,group\nada,g\nben,g\n"
    folder = written(
        tmp_path / "class",
        class_csv=people,
        overrides_csv="id,points,reason,who\n",
        times_csv="submission,time\ng,2026-10-02T20:00:00Z\n",
    )
    store(tmp_path / "results", "g", "done", "passed", "passed")
    call = ("report", tmp_path / "results", "--class", folder, "--feedback", tmp_path / "pages")
    assert ask(*call).code == 0
    assert "mark 1.5 of 2" in text_of(tmp_path / "pages/g/feedback.html")
    (folder / "extensions.csv").write_text("id,until,reason\nada,2026-10-05T00:00:00,in hospital\n")
    assert ask(*call).code == 0
    own = text_of(tmp_path / "pages/g/feedback.html")
    assert "hospital" not in own
    assert "lateness" not in own
    assert "in hospital" in (tmp_path / "results/report.html").read_text()


def test_a_regrade_names_the_overrides_that_it_has_overtaken(tmp_path: Path) -> None:
    store(tmp_path / "before", "ada", "wrong", "passed", "failed")
    store(tmp_path / "before", "ben", "wrong", "failed", "failed")
    store(tmp_path / "after", "ada", "done", "passed", "passed")
    store(tmp_path / "after", "ben", "wrong", "passed", "failed")
    rows = ["id,kata,test,points,reason,who", f"ada,linear,{TESTS[1]},0.5,unfair,ta", "ben,linear,,2,unfair,ta"]
    folder = written(tmp_path / "class", overrides_csv="\n".join(rows))
    before, after = (results_in(tmp_path / name, {})[0] for name in ("before", "after"))
    assert overtaken(folder, before, after) == [
        f"overrides.csv: ada has 0.5 for linear {TESTS[1]}, which was graded 0 and is 1 now; is it needed?"
    ]
    assert overtaken(folder, after, after) == overtaken(folder, {}, after) == []
    both = ("--class", folder, "--pseudonyms", tmp_path / "key.json")
    refused = ask("grade", tmp_path, "--out", tmp_path / "after", *both)
    assert refused.err == "grader: --class names people, and --pseudonyms does not: take one of them\n"


def test_a_commits_time_counts_where_nothing_else_is_known(tmp_path: Path) -> None:
    folder, results = written(tmp_path / "class"), graded(tmp_path / "results")
    (folder / "times.csv").write_text("submission,time\nada,2026-10-01T20:00:00Z\n")
    for name in ("ada", "ben"):
        stored = result.read(results / name / "result.json")
        result.write(replace(stored, handed_in="2026-10-03T12:00:00+02:00"), results)
    assert marks(results, folder).err == ""
    rows = list(csv.DictReader((folder / "marks.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["id"], row["days_late"]) for row in rows] == [("ada", "0"), ("ben", "2"), ("eve", "0")]
