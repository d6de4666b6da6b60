"""Tests of `grader marks`, which computes marks according to rules, and of the pages and exports that show them."""

import csv
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from grader.base.errors import CallError
from grader.marks.rulebook import read_rulebook
from grader.marks.rules import Policy
from grader.results.result import read, write
from grader.tests.conftest import call_grader
from grader.tests.unit.test_report_command import TESTS, store

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


def write_class(folder: Path, **changed: str) -> Path:
    """Write the files of a class to a folder. `changed` replaces the content of some files."""
    folder.mkdir(exist_ok=True)
    for name, text in {**CLASS, **{".".join(name.rsplit("_", 1)): text for name, text in changed.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def store_results(directory: Path) -> Path:
    store(directory, "ada", "wrong", "passed", "failed")
    store(directory, "ben", "done", "passed", "passed")
    return directory


def read_marks(folder: Path, *columns: str) -> list[tuple[str, ...]]:
    rows = csv.DictReader((folder / "marks.csv").read_text(encoding="utf-8").splitlines())
    return [tuple(row[name] for name in columns) for row in rows]


def test_marks_file_has_one_row_per_student(tmp_path: Path) -> None:
    results, folder = store_results(tmp_path / "results"), write_class(tmp_path / "class")
    before = {path: path.read_bytes() for path in results.rglob("*.json")}
    done = call_grader("marks", results, folder)
    assert (done.code, done.err) == (0, "")
    assert "people:    3; 2 submitted, 1 of them late" in done.out
    assert "missing:   eve" in done.out
    assert read_marks(folder, "id", "name", "raw", "late", "override", "final") == [
        ("ada", "Ada", "1.0", "0.0", "1.0", "2.0"),
        ("ben", "'=1+1", "2.0", "0.5", "0.0", "1.5"),
        ("eve", "Eve", "", "0.0", "0.0", ""),
    ], "a missing submission gets an empty mark, not 0"
    content = (folder / "marks.csv").read_bytes()
    assert (call_grader("marks", results, folder).code, (folder / "marks.csv").read_bytes()) == (0, content)
    assert {path: path.read_bytes() for path in results.rglob("*.json")} == before


def test_marks_command_lists_problems_in_class_files(tmp_path: Path) -> None:
    store(store_results(tmp_path / "results"), "who", "done", "passed")
    needless = CLASS["overrides.csv"].replace(",1,unfair", ",0,unfair")
    times = "submission,time\nada,2026-10-01T20:00:00Z\n"
    done = call_grader(
        "marks", tmp_path / "results", write_class(tmp_path / "class", overrides_csv=needless, times_csv=times)
    )
    assert done.code == 2
    assert done.err.splitlines() == [
        "grader: ben: submission time unknown, counted as on time; add it to times.csv",
        "grader: who: no owner in the class list; enter it in the owner's `submission` column",
        f"grader: overrides.csv: ada has 0 for linear {TESTS[1]}, which they would have anyway; delete the row",
    ]


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("class_csv", "name\nAda\n", "there is no column id; required columns: id"),
        ("class_csv", "id,email\na,x@y\nb,X@y\n", "two people have the email X@y"),
        ("class_csv", "id\nada\nADA\n", "two people have the id ADA"),
        ("class_csv", "id,name\nada,Ada,x\n", "row 2 has 3 cells, but the header has 2"),
        ("policy_toml", "due = 2026-10-01T23:59:00\n", "due has no UTC offset"),
        ("policy_toml", "due = 2026-10-01\n", "write it without quotes, as in due = 2026-"),
        ("policy_toml", 'due = "2026-10-01 23:59"\n', "write it without quotes, as in due = 2026-"),
        ("policy_toml", 'zone = "Mars"\n', "unknown time zone Mars"),
        ("policy_toml", "penalty = 0.1\n", "unknown field"),
        ("policy_toml", "penalty_per_day = 10\n", "Expected `float` <= 1"),
        ("times_csv", "submission,time\nada,2026-10-01T20:00:00\n", "has no UTC offset"),
        ("times_csv", "submission,time\nada,yesterday\n", "yesterday is not a time"),
        ("times_csv", "submission,time\nada,0001-01-01T00:00:00+14:00\n", "0001-01-01T00:00:00+14:00 is not a time"),
        ("times_csv", "submission,time\nada,9999-12-31T23:59:59-12:00\n", "9999-12-31T23:59:59-12:00 is not a time"),
        ("overrides_csv", "id,points,reason,who\nzed,1,r,w\n", "zed is not in class.csv"),
        ("overrides_csv", "id,points,reason,who\nada,1,,w\n", "row 2 has no reason"),
        ("overrides_csv", "id,points,reason,who\nada,-1,r,w\n", "use 0 or a positive number"),
        ("overrides_csv", "id,points,reason,who\nada,1,r,w\nada,2,r,w\n", "two overrides for the same points"),
        ("overrides_csv", "id,kata,points,reason,who\nada,sgd,1,r,w\n", "ada has no result for the kata sgd"),
        ("submission_metadata_yml", "submission_1: 7\n", "not in Gradescope's format"),
        ("submission_metadata_yml", METADATA.replace("000 Z", "000"), "the time of submission_8 has no time zone"),
        ("pseudonyms_json", "[]", "not a pseudonym key"),
        ("extensions_csv", "id,until,reason\nada,2026-10-05T00:00:00,x\nada,2026-10-06,x\n", "two extensions for ada"),
    ],
)
def test_contradictory_class_files_are_rejected(tmp_path: Path, file: str, text: str, told: str) -> None:
    done = call_grader("marks", store_results(tmp_path / "results"), write_class(tmp_path / "class", **{file: text}))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert told in done.err
    assert not (tmp_path / "class/marks.csv").exists()


def test_mark_of_earlier_submission_says_so(tmp_path: Path) -> None:
    results, folder = store_results(tmp_path / "results"), write_class(tmp_path / "class")
    write(replace(read(results / "ada/result.json"), unreadable="is encrypted"), results)
    assert call_grader("marks", results, folder).code == 2, "the instructor is told, too"
    raw, reasons = read_marks(folder, "raw", "reasons")[0]
    assert raw == "1.0"
    assert reasons.endswith("these are the points of an earlier submission; the last one can't be read: is encrypted")


def test_class_without_rules_uses_default_policy(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("id\nada\n")
    book = read_rulebook(tmp_path)
    assert (book.policy, book.times, book.overrides) == (Policy(), {}, {})
    with pytest.raises(CallError, match=r"class\.csv: can't be read"):
        read_rulebook(tmp_path / "elsewhere")


def test_export_fills_gradebook_with_marks(tmp_path: Path) -> None:
    folder, results = write_class(tmp_path / "class"), store_results(tmp_path / "results")
    book = tmp_path / "moodle.csv"
    book.write_text("Identifier,Full name,Email address,Grade,Maximum Grade\nParticipant 1,Ada,ada@x.edu,,2.00\n")
    to = tmp_path / "out.csv"
    done = call_grader("export", results, "--format", "moodle", "--class", folder, "--gradebook", book, "--out", to)
    assert (done.code, done.err) == (0, ""), "an export of one section is a success"
    assert done.out == "wrote 1 row; 2 people are not in this gradebook: ben, eve\n"
    assert to.read_text() == book.read_text().replace("ada@x.edu,,", "ada@x.edu,2,")
    lacks = call_grader("export", results, "--format", "canvas", "--out", to)
    assert (lacks.code, "needs --class FOLDER and --gradebook FILE" in lacks.err) == (2, True)
    strays = call_grader("export", results, "--format", "junit", "--gradebook", book, "--out", to)
    assert (strays.code, strays.err) == (2, "grader: --gradebook can be used only with --format canvas, csv, moodle\n")


def test_gradescope_metadata_gives_submitters_and_times(tmp_path: Path) -> None:
    store(tmp_path / "results", "submission_7", "done", "passed", "passed")
    store(tmp_path / "results", "submission_8", "done", "passed", "passed")
    folder = write_class(tmp_path / "class", times_csv="submission,time\n", overrides_csv="id,points,reason,who\n")
    (folder / "submission_metadata.yml").write_text(METADATA)
    done = call_grader("marks", tmp_path / "results", folder)
    assert done.err.splitlines() == ["grader: submission_8: Zed (zed@x.edu) is not in the class list"]
    assert read_marks(folder, "id", "submission", "days_late", "final") == [
        ("ada", "submission_7", "1", "1.5"),
        ("ben", "", "0", ""),
        ("eve", "submission_7", "1", "1.5"),
    ]


def read_text(page: Path) -> str:
    return strip_tags(page.read_text("utf-8"))


def strip_tags(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page.partition("<main")[2]).split())


def test_page_shows_how_mark_was_calculated(tmp_path: Path) -> None:
    folder, results = write_class(tmp_path / "class"), store_results(tmp_path / "results")
    done = call_grader("report", results, "--class", folder, "--out", tmp_path / "pages")
    assert (done.code, done.err) == (0, "")
    ben = read_text(tmp_path / "pages/ben/feedback.html")
    steps = "mark 1.5 of 2 points as graded 2 lateness −0.5 manual correction 0 mark 1.5 1 day late"
    assert steps in ben
    ada = read_text(tmp_path / "pages/ada/feedback.html")
    assert f"manual correction +1 mark 2 linear {TESTS[1]} 1: unfair (ta)" in ada
    assert "unfair" not in ben
    assert steps in strip_tags((results / "report.html").read_text("utf-8"))


def test_feedback_page_hides_marks_that_differ_within_group(tmp_path: Path) -> None:
    files = {
        **{"class_csv": "id,group\nada,g\nben,g\n", "overrides_csv": "id,points,reason,who\n"},
        "times_csv": "submission,time\ng,2026-10-02T20:00:00Z\n",
    }
    folder = write_class(tmp_path / "class", **files)
    store(tmp_path / "results", "g", "done", "passed", "passed")
    call = ("report", tmp_path / "results", "--class", folder, "--out", tmp_path / "pages")
    assert call_grader(*call).code == 0
    assert "mark 1.5 of 2" in read_text(tmp_path / "pages/g/feedback.html")
    (folder / "extensions.csv").write_text("id,until,reason\nada,2026-10-05T00:00:00,in hospital\n")
    assert call_grader(*call).code == 0
    own = read_text(tmp_path / "pages/g/feedback.html")
    assert "hospital" not in own
    assert "lateness" not in own
    assert "in hospital" in (tmp_path / "results/report.html").read_text("utf-8")


def test_unknown_submission_time_is_reported_by_every_command(tmp_path: Path) -> None:
    files = {"class_csv": "id\nada\nben\n", "times_csv": "submission,time\nben,2026-10-02T12:00:00+02:00\n"}
    folder = write_class(tmp_path / "class", **files, overrides_csv="id,points,reason,who\n")
    results, book = store_results(tmp_path / "results"), tmp_path / "book.csv"
    done = call_grader("marks", results, folder)
    unknown = "grader: ada: submission time unknown, counted as on time; add it to times.csv\n"
    assert (done.code, done.err) == (0, unknown)
    assert read_marks(folder, "id", "final") == [("ada", "1.0"), ("ben", "1.5")]
    done = call_grader("report", results, "--class", folder)
    assert (done.code, done.err) == (0, unknown)
    book.write_text("id,mark\nada,\nben,\n")
    column = ("--class", folder, "--gradebook", book, "--column", "mark")
    done = call_grader("export", results, "--format", "csv", *column, "--out", book)
    assert (done.code, done.err) == (0, unknown)
    assert book.read_text() == "id,mark\nada,1\nben,1.5\n"
