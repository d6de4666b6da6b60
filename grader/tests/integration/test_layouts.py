"""Tests of classes as platforms hand them over: every submission has a row, and none is taken for another."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.results.result import read
from grader.tests.conftest import Run, call_grader, grade
from grader.tests.support.class_of_thirty import CLASS
from grader.tests.support.submissions import PRIMES, SIEVE, WRONG_SIEVE
from grader.tests.unit.test_walk import pack_tar, pack_zip, write_tree

RIGHT, WRONG = SIEVE.encode(), WRONG_SIEVE.encode()
OPTIONS = ("--kata", "sieve", "--examples", 2, "--isolation", "none", "--seed", 0)
FULL = 50.0
CLASSES: dict[str, tuple[Mapping[str, bytes], Mapping[str, float | str]]] = {  # points, or why it is unreadable
    "folders": (
        {
            "ada/hw/hw/assignment/sieve.py": RIGHT,
            "ben/draft/sieve.py": WRONG,
            "ben/final/sieve.py": RIGHT,
            "cleo/sieve (1).py": RIGHT,
            "dan.tar.xz": pack_tar({"sieve.py": RIGHT}),
            "eve.rar": b"Rar!",
            "fay/alice/sieve.py": WRONG,
            "fay/bob/sieve.py": RIGHT,
        },
        {
            "ada": FULL,
            "ben": "sieve.py is in draft and final, and they differ: hand in one",
            "cleo": "contains no kata; there is sieve (1).py: is it sieve.py?",
            "dan": FULL,
            "eve": "contains no kata; eve.rar: a .rar archive can't be read; hand in a .zip",
            "fay": "sieve.py is in alice and bob, and they differ",
        },
    ),
    "canvas": (
        {
            "adalovelace_LATE_11_1_sieve-1.py": RIGHT,
            "benford_12_2_work.zip": pack_zip({"a\\sieve.py": RIGHT}),
            "cleo_13_3_essay.docx": b"",
            "dan_14_4_notes.txt": b"",
            "dan_14_5_work.zip": pack_zip({"sieve.py": RIGHT}),
        },
        {
            "adalovelace_11_files": FULL,
            "benford_12_2_work": FULL,
            "cleo_13_files": "contains no kata; it has essay.docx",
            "dan_14_files": FULL,
        },
    ),
    "moodle": (
        {
            "Ada L_31_assignsubmission_file/sieve.py": RIGHT,
            "Ben_32_assignsubmission_file_notes.ipynb": b"",
            "Ben_32_assignsubmission_file_sieve.py": RIGHT,
            "Cleo_33_assignsubmission_onlinetext/onlinetext.html": b"",
            "Ada L_31_assignsubmission_onlinetext/onlinetext.html": b"",
        },
        {
            "Ada L_31_assignsubmission_file": FULL,
            "Ben_32_assignsubmission_file": FULL,
            "Cleo_33_assignsubmission_onlinetext": "contains no kata; it has onlinetext.html",
        },
    ),
}


def grade_primes(*arguments: object) -> Run:
    return grade(*arguments, *OPTIONS, course=PRIMES)


@pytest.mark.parametrize("layout", CLASSES)
def test_every_submission_of_a_layout_has_a_row(layout: str, tmp_path: Path) -> None:
    files, expected = CLASSES[layout]
    folder, out = write_tree(tmp_path / "class", files), tmp_path / "out"
    run = grade_primes(folder, "--layout", layout, "--out", out)
    assert run.code == 2, run.err
    rows = {row["submission"]: row for row in csv.DictReader((out / "gradebook.csv").read_text("utf-8").splitlines())}
    assert rows.keys() == expected.keys()
    for name, outcome in expected.items():
        if isinstance(outcome, str):
            assert rows[name]["unreadable"].startswith(outcome)
            assert outcome in run.err
        else:
            assert (float(rows[name]["score"]), rows[name]["unreadable"]) == (outcome, "")
    late = {name for name in expected if read(out / name / "result.json").late_by_platform}
    beside = {
        "canvas": "cleo_13_3_essay.docx, dan_14_4_notes.txt",
        "moodle": "Ben_32_assignsubmission_file_notes.ipynb",
    }
    assert ("skipped: " in run.out, beside.get(layout, "") in run.out) == (layout in beside, True), run.out
    assert late == ({"adalovelace_11_files"} if layout == "canvas" else set())


def test_folder_like_a_class_is_refused_with_command(tmp_path: Path) -> None:
    for layout, files in {**CLASS, "folders": CLASSES["folders"][0]}.items():
        folder = write_tree(tmp_path / layout, files)
        run = grade_primes(folder, "--out", tmp_path / "out")
        assert run.code == 2
        assert f"; if this is a class, use: grader grade --layout {layout} DIR\n" in run.err
        assert not (tmp_path / "out").exists()
        inside = write_tree(tmp_path / f"class/{layout}", {f"ada/{name}": content for name, content in files.items()})
        run = grade_primes(inside, "--layout", "folders", "--out", tmp_path / "out")
        assert (run.code, "if this is a class" in run.err) == (2, False), "the instructor has named the layout"


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
    assert f"has a result of another submission, {alice}, with this name; for a resubmission, use --again" in run.err
    assert read(out / "alice/result.json").score == FULL
    moved = alice.rename(tmp_path / "alice")
    assert grade_primes(moved, "--out", out).code == 0, "the same files from another place replace nothing"
    assert grade_primes(eve / "alice", "--out", out, "--again").code == 0
    replaced = read(out / "alice/result.json")
    assert replaced.origin == str(eve / "alice")
    assert replaced.score < FULL


def test_class_downloaded_again_replaces_its_results(tmp_path: Path) -> None:
    names = {
        "folders": "ada/sieve.py",
        "canvas": "adalovelace_11_1_sieve.py",
        "moodle": "Ada L_31_assignsubmission_file/sieve.py",
    }
    for layout, name in names.items():
        graded, said, out = [], [], tmp_path / layout / "out"
        for week, source in (("week 1", WRONG), ("week 2", RIGHT)):
            folder = write_tree(tmp_path / layout / week, {name: source})
            run = grade_primes(folder, "--layout", layout, "--out", out)
            assert run.code == 0, run.err
            (path,) = out.glob("*/result.json")
            graded.append(read(path))
            said.append([line for line in run.err.splitlines() if "is now that of" in line])
        old, new = graded
        assert old.score < new.score == FULL
        assert said == [[], [f"warning: the result of {old.origin} is now that of {new.origin}"]]
        assert [read(path) for path in out.glob(".previous/*/*/result.json")] == [old]


def test_replaced_results_are_told_with_both_places(tmp_path: Path) -> None:
    old, new, out = tmp_path / "old", tmp_path / "new", tmp_path / "out"
    write_tree(old, {f"{name}/sieve.py": RIGHT for name in ("ada", "ben", "cleo")})
    assert grade_primes(old, "--layout", "folders", "--out", out).code == 0
    write_tree(new, {"ada.zip": pack_zip({"sieve.py": WRONG}), "ben/sieve.py": WRONG, "cleo/sieve.py": RIGHT})
    run = grade_primes(new, "--layout", "folders", "--out", out)
    assert f"the results of 2 submissions in {old} are now those of submissions in {new}: ada.zip, ben\n" in run.err


@pytest.mark.parametrize("there", [{}, {"sieve.py": (PRIMES / "assignment/sieve.py").read_bytes()}], ids=["", "stub"])
def test_misnamed_file_is_asked_about_everywhere(there: dict[str, bytes], tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "lee", {"Sieve.py": RIGHT, "factorise.py": b"", "old.7z": b"", **there})
    out = tmp_path / "out"
    run = grade_primes(folder, "--out", out)
    question = "sieve.py is missing or not started; there is Sieve.py: is it this one?"
    assert question in run.out
    assert "old.7z: a .7z archive can't be read; hand in a .zip" in run.out
    stored = read(out / "lee/result.json")
    told = "there is Sieve.py: is it meant to be sieve.py?"
    assert all(told in test.message for test in stored.katas[0].tests)
    report = ("--course", PRIMES, "report", out, "--out", tmp_path / "pages")
    assert call_grader(*report).code == 0
    assert question in (out / "report.html").read_text("utf-8")
    assert told in (tmp_path / "pages/lee/feedback.html").read_text("utf-8")
    export = ("--course", PRIMES, "export", out, "--format", "gradescope", "--out", tmp_path / "scope")
    assert call_grader(*export).code == 0
    assert told in json.loads((tmp_path / "scope").read_text("utf-8"))["tests"][0]["output"]
    (folder / "Sieve.py").replace(folder / "sieve.py")
    (folder / "old_sieve.py").write_bytes(WRONG)
    assert grade_primes(folder, "--out", out).code == 0
    assert read(out / "lee/result.json").score == FULL
    assert read(out / "lee/result.json").near_misses == {}, "the kata is started"
