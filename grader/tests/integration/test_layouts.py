"""Tests of classes as platforms hand them over: every submission has a row and a mark, and none replaces another."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.pipeline.layouts import Layout
from grader.results.result import read
from grader.tests.conftest import Run, call_grader, grade
from grader.tests.support.submissions import PRIMES, SIEVE, WRONG_SIEVE
from grader.tests.unit.test_walk import pack_tar, pack_zip, write_tree

RIGHT, WRONG = SIEVE.encode(), WRONG_SIEVE.encode()
OPTIONS = ("--kata", "sieve", "--examples", 2, "--isolation", "none", "--seed", 0)
FULL, FEW = 50.0, 5.0  # points; only the upper bound is right in WRONG
MOODLE = "_assignsubmission_file"
CLASSES: dict[Layout, tuple[Mapping[str, bytes], Mapping[str, float | str]]] = {  # points, or why it is unreadable
    "folders": (
        {
            "dan.tar.xz": pack_tar({"sieve.py": RIGHT}),
            "eve.rar": b"Rar!",
            "fay/hw/hw/assignment/sieve.py": RIGHT,
            "guo/sieve.py": WRONG,
        },
        {
            "dan": FULL,
            "eve": "contains no kata; eve.rar: a .rar archive can't be read; hand in a .zip",
            "fay": FULL,
            "guo": FEW,
        },
    ),
    "canvas": (
        {
            "abelniels_101_9000_sieve-1.py": RIGHT,
            "boolegeorge_LATE_102_9001_work.zip": pack_zip({"a\\sieve.py": RIGHT}),
            "cantorgeorg_LATE_103_9002_sieve.py": RIGHT,
            "cantorgeorg_LATE_103_9003_notes.txt": b"",
            "euler_105_9004_essay.docx": b"PK",
        },
        {
            "abelniels_101_files": FULL,
            "boolegeorge_LATE_102_9001_work": FULL,
            "cantorgeorg_103_files": FULL,
            "euler_105_files": "contains no kata; it has essay.docx",
        },
    ),
    "moodle": (
        {
            f"Ida Noddack_201{MOODLE}/sieve.py": RIGHT,
            "Ida Noddack_201_assignsubmission_onlinetext/onlinetext.html": b"",
            f"Kurt Gödel_203{MOODLE}/draft/sieve.py": WRONG,
            f"Kurt Gödel_203{MOODLE}/final/sieve.py": RIGHT,
            f"Nina Bari_206{MOODLE}_sieve.py": RIGHT + "# Ératosthène\n".encode("latin-1"),
            f"Otto Hahn_207{MOODLE}/hw.zip": pack_zip({"sieve.py": b"\xef\xbb\xbf" + RIGHT.replace(b"\n", b"\r\n")}),
        },
        {
            f"Ida Noddack_201{MOODLE}": FULL,
            f"Kurt Gödel_203{MOODLE}": "sieve.py is in draft and final, and they differ: hand in one; if this is a ",
            f"Nina Bari_206{MOODLE}": FULL,
            f"Otto Hahn_207{MOODLE}": FULL,
        },
    ),
    "gradescope": (
        {
            "submission_metadata.yml": b"",
            "submission_1/sieve.py": RIGHT,
            "submission_2/sieve.ipynb": b"{}",
            "submission_3/sieve.py": WRONG,
        },
        {
            "submission_1": FULL,
            "submission_2": "contains no kata; there is sieve.ipynb: is it sieve.py?",
            "submission_3": FEW,
        },
    ),
    "github": (
        {
            **{f"hw1-{name}/.git/HEAD": b"" for name in ("ada", "cem", "gil")},
            "hw1-ada/assignment/sieve.py": RIGHT,
            "hw1-cem/alice/sieve.py": WRONG,
            "hw1-cem/bob/sieve.py": RIGHT,
            "hw1-gil/sieve.py": RIGHT,
        },
        {"hw1-ada": FULL, "hw1-cem": "sieve.py is in alice and bob, and they differ", "hw1-gil": FULL},
    ),
}
SUBMITTERS = {"submission_1": "vera", "submission_2": "tim", "submission_3": "xia yan"}
WORKSHEET = """\
ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert (Abgabe)
Teilnehmer/in201,Ida Noddack,ida@m.edu,Abgegeben,,"50,00","1. Oktober 2026, 23:59"
Teilnehmer/in203,Kurt Gödel,kurt@m.edu,Abgegeben,,"50,00","1. Oktober 2026, 20:00"
Teilnehmer/in206,Nina Bari,nina@m.edu,Abgegeben,,"50,00","1. Oktober 2026, 20:00"
Teilnehmer/in207,Otto Hahn,otto@m.edu,Abgegeben,,"50,00","2. Oktober 2026, 20:00"
Teilnehmer/in209,Rita Levi,rita@m.edu,Abgegeben,,"50,00",-
"""
BOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,primes (7)
    Points Possible,,,,,50
Abel,101,,,A,
Boole,102,,,A,
Cantor,103,,,A,
Euler,105,,,A,EX
"""
PEOPLE = {
    "class.csv": "id,name,email,lms_id\n"
    "abel,Abel,,101\nboole,Boole,,102\ncantor,Cantor,,103\neuler,Euler,,105\n"
    "ida,Ida Noddack,ida@m.edu,\nkurt,Kurt Gödel,kurt@m.edu,\nnina,Nina Bari,nina@m.edu,\notto,Otto Hahn,otto@m.edu,\n"
    "rita,Rita Levi,rita@m.edu,\n"
    "vera,,vera@x.edu,\ntim,,tim@x.edu,\nxia,,xia@x.edu,\nyan,,yan@x.edu,\n"
    "ada,,,\ncem,,,\ndan,,,\neve,,,\nfay,,,\nguo,,,\n",  # gil is not in the class list
    "policy.toml": 'due = 2026-10-01T23:59:00\nzone = "Europe/Berlin"\npenalty_per_day = 0.1\n',
    "waive.toml": '"sieve.test_upper_bound_is_exclusive" = "full"\n',
    "times.csv": "submission,time\ncantorgeorg_103_files,2026-10-02T12:00:00+02:00\n"
    "abelniels_101_files,2026-10-01T12:00:00+02:00\n",
    "submission_metadata.yml": "".join(
        f"{submission}:\n  :submitters:\n"
        + "".join(f"  - :name: {name}\n    :email: {name}@x.edu\n" for name in names.split())
        + f"  :created_at: 2026-10-0{3 if names == 'vera' else 1} 12:00:00 Z\n"
        for submission, names in SUBMITTERS.items()
    ),
    "worksheet.csv": WORKSHEET,
}
WAIVED = "waived, with full points: sieve.test_upper_bound_is_exclusive"
LATE = "late; there is no mark until the time of submission is known"
MARKS = {  # submission, raw points, mark, and reasons. The waived test is worth 10 points
    "abel": ("abelniels_101_files", "50.0", "50.0", WAIVED),
    "boole": ("boolegeorge_LATE_102_9001_work", "50.0", "", f"{WAIVED}; {LATE}"),
    "cantor": ("cantorgeorg_103_files", "50.0", "45.0", f"1 day late; {WAIVED}"),
    "euler": ("euler_105_files", "0.0", "0.0", ""),
    "ida": (f"Ida Noddack_201{MOODLE}", "50.0", "50.0", WAIVED),
    "kurt": (f"Kurt Gödel_203{MOODLE}", "0.0", "0.0", ""),
    "nina": (f"Nina Bari_206{MOODLE}", "50.0", "50.0", WAIVED),
    "otto": (f"Otto Hahn_207{MOODLE}", "50.0", "45.0", f"1 day late; {WAIVED}"),
    "rita": ("", "", "", ""),
    "vera": ("submission_1", "50.0", "40.0", f"2 days late; {WAIVED}"),
    "tim": ("submission_2", "0.0", "0.0", ""),
    "xia": ("submission_3", "15.0", "15.0", WAIVED),
    "yan": ("submission_3", "15.0", "15.0", WAIVED),
    "ada": ("hw1-ada", "50.0", "50.0", WAIVED),
    "cem": ("hw1-cem", "0.0", "0.0", ""),
    "dan": ("dan", "50.0", "50.0", WAIVED),
    "eve": ("eve", "0.0", "0.0", ""),
    "fay": ("fay", "50.0", "50.0", WAIVED),
    "guo": ("guo", "15.0", "15.0", WAIVED),
}


def grade_primes(*arguments: object) -> Run:
    return grade(*arguments, *OPTIONS, course=PRIMES)


def read_rows(path: Path, key: str) -> dict[str, dict[str, str]]:
    return {row[key]: row for row in csv.DictReader(path.read_text("utf-8").splitlines())}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Grade the class of each platform. Return a folder with the results and the folder `people`, and all errors."""
    folder = tmp_path_factory.mktemp("term")
    write_tree(folder / "people", {name: text.encode() for name, text in PEOPLE.items()})
    (folder / "canvas.csv").write_text(BOOK, "utf-8")
    told = []
    for layout, (files, _) in CLASSES.items():
        place = write_tree(folder / layout, files)
        done = grade_primes(place, "--layout", layout, "--out", folder / "results")
        assert done.code == 2, "each class has an unreadable submission"
        told.append(done.err)
    return folder, "\n".join(told)


def test_every_submission_of_a_layout_has_a_row(graded: tuple[Path, str]) -> None:
    folder, told = graded
    rows = read_rows(folder / "results/gradebook.csv", "submission")
    expected = {name: outcome for _, outcomes in CLASSES.values() for name, outcome in outcomes.items()}
    assert rows.keys() == expected.keys()
    for name, outcome in expected.items():
        if isinstance(outcome, str):
            assert rows[name]["unreadable"].startswith(outcome)
            assert float(rows[name]["score"]) == 0
            assert outcome in told
        else:
            assert (float(rows[name]["score"]), rows[name]["unreadable"]) == (outcome, "")


def test_marks_use_names_and_times_of_platforms(graded: tuple[Path, str]) -> None:
    folder, _ = graded
    done = call_grader("--course", PRIMES, "marks", folder / "results", folder / "people")
    assert done.code == 2
    columns = ("submission", "raw", "final", "reasons")
    marks = read_rows(folder / "people/marks.csv", "id")
    assert {id: tuple(row[column] for column in columns) for id, row in marks.items()} == MARKS
    assert "19; 18 submitted, 4 of them late\nmissing:   rita\n" in done.out
    assert "hw1-gil: no owner in the class list; enter it in the owner's `submission` column" in done.err
    assert "boolegeorge_LATE_102_9001_work: late by Canvas, so there is no mark yet" in done.err
    assert "(5 in all): could not be read when it was graded" in done.err
    assert "submission time unknown, counted as on time; add it to times.csv" in done.err


@pytest.mark.parametrize(
    ("format", "book", "column", "filled"),
    [
        ("canvas", "canvas.csv", "primes (7)", {"Abel": "50", "Boole": "", "Cantor": "45", "Euler": "EX"}),
        (
            "moodle",
            "people/worksheet.csv",
            "Bewertung",
            {"Ida Noddack": "50", "Kurt Gödel": "0", "Nina Bari": "50", "Otto Hahn": "45", "Rita Levi": ""},
        ),
    ],
)
def test_marks_are_filled_into_gradebook_of_platform(
    graded: tuple[Path, str], format: str, book: str, column: str, filled: dict[str, str], tmp_path: Path
) -> None:
    folder, _ = graded
    names = ("--class", folder / "people", "--gradebook", folder / book, "--column", column)
    done = call_grader(
        "--course", PRIMES, "export", folder / "results", "--format", format, *names, "--to", tmp_path / "filled.csv"
    )
    assert done.code == 2, "the same problems as with `grader marks`"
    rows = read_rows(tmp_path / "filled.csv", "Student" if format == "canvas" else "Vollständiger Name")
    assert {name: rows[name][column] for name in filled} == filled
    kept = "kept 1 cell with another value (--overwrite replaces them): euler: EX"
    assert (kept in done.out) == (format == "canvas")


def test_folder_like_a_class_is_refused_with_command(tmp_path: Path) -> None:
    for layout, (files, _) in CLASSES.items():
        run = grade_primes(write_tree(tmp_path / layout, files), "--out", tmp_path / "out")
        assert run.code == 2
        assert f"grader grade --layout {layout} DIR" in run.err
    assert not (tmp_path / "out").exists()


def test_code_that_is_nobodys_is_counted(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "class", {"ada/sieve.py": RIGHT, "sieve.py": RIGHT, "grades.csv": b""})
    run = grade_primes(folder, "--layout", "folders", "--out", tmp_path / "out")
    assert run.code == 2
    assert "skipped, because it is not clear whose it is: sieve.py (1 in all)" in run.err
    assert "skipped: grades.csv" in run.out


def test_submission_never_replaces_the_result_of_another(tmp_path: Path) -> None:
    alice, out = write_tree(tmp_path / "class/alice", {"sieve.py": RIGHT}), tmp_path / "out"
    assert grade_primes(alice, "--out", out).code == 0
    eve = write_tree(tmp_path / "eve", {"alice/sieve.py": WRONG, "bob/sieve.py": RIGHT})
    assert grade_primes(eve, "--out", out).code == 2, "two folders of one submission are not a class"
    run = grade_primes(eve / "alice", "--out", out)
    assert run.code == 2
    assert f"has a result of another submission, {alice}, with this name; choose another DIR, or use --force" in run.err
    assert read(out / "alice/result.json").score == FULL
    moved = alice.rename(tmp_path / "alice")
    assert grade_primes(moved, "--out", out).code == 0, "the same files from another place replace nothing"
    assert grade_primes(eve / "alice", "--out", out, "--force").code == 0
    replaced = read(out / "alice/result.json")
    assert replaced.origin == str(eve / "alice")
    assert replaced.score < FULL


def test_misnamed_file_is_asked_about_everywhere(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "lee", {"Sieve.py": RIGHT, "factorise.py": b"", "old.7z": b""})
    out = tmp_path / "out"
    run = grade_primes(folder, "--out", out)
    question = "sieve.py is missing; there is Sieve.py: is it this one?"
    assert question in run.out
    assert "old.7z: a .7z archive can't be read; hand in a .zip" in run.out
    stored = read(out / "lee/result.json")
    told = "there is Sieve.py: is it meant to be sieve.py?"
    assert all(told in test.message for test in stored.katas[0].tests)
    report = ("--course", PRIMES, "report", out, "--feedback", tmp_path / "pages")
    assert call_grader(*report).code == 0
    assert question in (out / "report.html").read_text("utf-8")
    assert told in (tmp_path / "pages/lee/feedback.html").read_text("utf-8")
    export = ("--course", PRIMES, "export", out, "--format", "gradescope", "--to", tmp_path / "scope")
    assert call_grader(*export).code == 0
    assert told in json.loads((tmp_path / "scope").read_text("utf-8"))["tests"][0]["output"]
    (folder / "Sieve.py").rename(folder / "sieve.py")
    assert grade_primes(folder, "--out", out).code == 0
    assert read(out / "lee/result.json").score == FULL
