"""Tests of waived, broken and inconclusive tests: who gets the points, what is printed, and what is exported."""

import csv
import json
from pathlib import Path

import pytest

from grader.results.faults import Fault, describe_open, describe_waived
from grader.results.previous import forget_older, keep_previous
from grader.results.result import read
from grader.results.visibility import view_as_student
from grader.tests.conftest import call_grader
from grader.tests.unit.test_class_marks import read_text, write_class
from grader.tests.unit.test_report_command import TESTS, store
from torchkata.result import Outcome, Status, get_status

RULES = {"times_csv": "submission,time\n", "policy_toml": "", "overrides_csv": "id,points,reason,who\n"}


def write_waived_class(tmp_path: Path, waive: str, *outcomes: Outcome) -> tuple[Path, Path]:
    """Store results of ada (with these outcomes) and ben (all passed), and write a class with this waive.toml."""
    store(tmp_path / "results", "ada", get_status(outcomes), *outcomes)
    passed: list[Outcome] = ["passed"] * len(outcomes)
    store(tmp_path / "results", "ben", "done", *passed)
    return tmp_path / "results", write_class(tmp_path / "class", **RULES, waive_toml=waive)


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["waived"], "done"),
        (["waived", "passed"], "done"),
        (["waived", "not_started"], "not_started"),
        (["waived", "failed"], "wrong"),
        (["waived", "inconclusive"], "inconclusive"),
    ],
)
def test_waived_test_does_not_affect_status(outcomes: list[Outcome], status: Status) -> None:
    assert get_status(outcomes) == status


def test_faults_are_described_once_per_cause() -> None:
    faults = {
        "ada": [Fault("waived", "linear.test_a"), Fault("broken", "sgd.test_b"), Fault("unsettled", "sgd.test_c")],
        "ben": [Fault("waived", "linear.test_a"), Fault("unsettled", "adam.test_d")],
    }
    assert describe_waived(faults) == ["linear.test_a is waived: 2 submissions get its full points"]
    assert describe_open(faults) == [
        "sgd.test_b is broken for 1 submission: fix it, or waive it in waive.toml",
        "2 submissions could not be graded because the machine was too slow or failed (sgd.test_c, adam.test_d); "
        "run the same `grader grade` command again: ada, ben",
    ]


@pytest.mark.parametrize(
    ("waive", "scores", "most"),
    [
        ('"linear.{}" = "full"', {"ada": 2.0, "ben": 2.0}, 2.0),
        ('linear.{} = "full"', {"ada": 2.0, "ben": 2.0}, 2.0),
        ('"linear.{}" = "drop"', {"ada": 1.0, "ben": 1.0}, 1.0),
    ],
)
def test_waive_file_changes_every_output(tmp_path: Path, waive: str, scores: dict[str, float], most: float) -> None:
    results, folder = write_waived_class(tmp_path, waive.format(TESTS[1]), "passed", "failed")
    before = (results / "ada/result.json").read_bytes()
    done = call_grader("marks", results, folder)
    assert (done.code, done.err) == (0, "")
    rows = {row["id"]: row for row in csv.DictReader((folder / "marks.csv").read_text().splitlines())}
    assert {name: float(rows[name]["final"]) for name in scores} == scores
    assert float(rows["ada"]["max_score"]) == most
    pages = tmp_path / "pages"
    assert call_grader("report", results, "--class", folder, "--out", pages).code == 0
    table = csv.DictReader((results / "gradebook.csv").read_text().splitlines())
    assert {row["submission"]: float(row["score"]) for row in table} == scores
    assert f"mark {scores['ada']:g} of {most:g}" in read_text(pages / "ada/feedback.html")
    call_grader("export", results, "--format", "gradescope", "--class", folder, "--out", tmp_path / "to")
    assert json.loads((tmp_path / "to/ada.json").read_text())["score"] == scores["ada"]
    line = f"linear.{TESTS[1]} is waived: 2 submissions get its full points"
    assert (line in done.out, line in (results / "report.html").read_text()) == ((most == 2.0),) * 2
    assert ("waived, with full points" in rows["ada"]["reasons"]) == (most == 2.0)
    assert (results / "ada/result.json").read_bytes() == before, "stored results must not change"


@pytest.mark.parametrize(
    ("waive", "told"),
    [
        ('"linear.test_no_such" = "full"', "the course has no test linear.test_no_such"),
        ('"no_kata.test_x" = "full"', "the course has no test no_kata.test_x"),
        (f'"linear.{TESTS[0]}" = "half"', 'write each line as "linear.test_x" = "full" or "drop"'),
        ("linear = 1", 'write each line as "linear.test_x" = "full" or "drop"'),
        ("linear", 'write each line as "linear.test_x" = "full" or "drop"'),
    ],
)
def test_invalid_waive_file_is_rejected(tmp_path: Path, waive: str, told: str) -> None:
    done = call_grader("marks", *write_waived_class(tmp_path, waive, "passed", "failed"))
    assert (done.code, done.err) == (2, f"grader: {tmp_path / 'class/waive.toml'}: {told}\n")


@pytest.mark.parametrize("format", ["marks", "csv", "gradescope"])
def test_export_waits_until_inconclusive_tests_are_settled(tmp_path: Path, format: str) -> None:
    results, folder = write_waived_class(tmp_path, "", "passed", "inconclusive")
    book, to = tmp_path / "book.csv", tmp_path / "to"
    book.write_text("id,mark\nada,\nben,\neve,\n")
    call: tuple[object, ...] = ("marks", results, folder)
    if format != "marks":
        call = ("export", results, "--format", format, "--class", folder, "--out", to)
    if format == "csv":
        call = (*call, "--gradebook", book, "--column", "mark")
    done = call_grader(*call)
    why = f"1 submission could not be graded because the machine was too slow or failed (linear.{TESTS[1]}); "
    remedy = "run the same `grader grade` command again: ada; or use --accept-inconclusive\n"
    assert (done.code, done.err) == (2, f"grader: {why}{remedy}")
    assert not to.exists()
    assert not (folder / "marks.csv").exists()
    assert call_grader(*call, "--accept-inconclusive").code == 0
    assert to.exists() or (folder / "marks.csv").exists()


def test_student_is_told_about_waived_hidden_test(tmp_path: Path) -> None:
    waived: list[Outcome] = ["waived"] * len(TESTS)
    store(tmp_path, "ada", "done", *waived)
    for platform_hides in (True, False):
        rows = view_as_student(read(tmp_path / "ada/result.json"), platform_hides=platform_hides)
        assert {(row.result.outcome, row.result.message) for row in rows} == {("waived", "a message")}


def test_diff_compares_with_results_that_regrade_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("ada", "ben", "eve"):
        store(out, name, "done", "passed", "passed")
    assert call_grader("diff", out).err.endswith("to compare two directories: grader diff OLD NEW\n")
    for regrade in ("first", "second"):
        for name in ("ada", "ben"):
            keep_previous(out, name, {"course": regrade})
            store(out, name, "done", "passed", "waived")
        forget_older(out, {"course": "second"})
        done = call_grader("diff", out)
        changed = [f"linear · {TESTS[1]}: 2 submissions, passed → waived", "2 of 3 submissions differ"]
        assert done.out.splitlines()[-2:] == changed if regrade == "first" else ["0 of 3 submissions differ"]
    assert len(list(out.glob(".previous/*"))) == 1
    keep_previous(out, "new", {"course": "second"})
    assert not list(out.glob(".previous/*/new")), "nothing was replaced"
