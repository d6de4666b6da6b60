"""Bad calls of `grader`: one line that says what is wrong, exit code 2, nothing written."""

import csv
import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grader.results.result import read
from grader.tests import ROOT
from grader.tests.conftest import Run, ask, grade
from grader.tests.handed_in import OPTIONS, PRIMES

COMPLETE = ROOT / "examples/submissions/complete"
PLAIN = PRIMES / "submissions/complete"


def refused(done: Run, *words: str) -> None:
    """One line with these words, and exit code 2."""
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1, done.err
    for word in words:
        assert word in done.err


def test_grade_refuses_a_submission_path_that_does_not_exist(tmp_path: Path) -> None:
    refused(ask("grade", tmp_path / "nobody", COMPLETE, "--out", tmp_path / "out"), "nobody", "no such file")
    assert not (tmp_path / "out").exists()


def test_grade_refuses_a_submission_without_a_kata(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused(ask("grade", tmp_path / "empty", "--out", tmp_path / "out"), "empty", "no kata in it")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../linear.py", "/linear.py", "a/../../linear.py", "..\\linear.py", "C:linear.py"])
def test_grade_refuses_a_zip_with_a_path_outside_of_itself(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "ada.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("same_storage.py", "")
        file.writestr(name, "")
    refused(ask("grade", archive, "--out", tmp_path / "out"), "ada.zip", "points elsewhere")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"x" * 2000])
def test_grade_refuses_a_broken_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ada.zip").write_bytes(content)
    refused(ask("grade", tmp_path / "ada.zip", "--out", tmp_path / "out"), "ada.zip")
    assert not (tmp_path / "out").exists()


def test_grade_refuses_an_unknown_kata_and_names_a_near_one_or_all(tmp_path: Path) -> None:
    refused(ask("grade", COMPLETE, "--out", tmp_path / "out", "--kata", "lineal"), "'lineal'", "mean linear?")
    refused(ask("grade", COMPLETE, "--out", tmp_path / "out", "--kata", "zzz"), "'zzz'", "same_storage, linear")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["certify", "release", "package gradescope"])
def test_the_installed_grader_command_works_from_any_directory(tmp_path: Path, command: str) -> None:
    arguments = [*command.split(), *(["out"] if command != "certify" else []), "--kata", "lineal"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    script = Path(sys.executable).with_name("grader")
    command_line = [str(script), "--course", str(ROOT), *arguments]
    done = subprocess.run(command_line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    refused(Run(done.returncode, done.stdout, done.stderr), "'lineal'")


def test_grade_refuses_a_probe_that_workers_cannot_import(tmp_path: Path) -> None:
    course = shutil.copytree(ROOT / "examples/courses/vectors", tmp_path / "vectors")
    probe = course / "tests/probes/normalise.py"
    probe.write_text(f"from tests.strategies import rows\n{probe.read_text()}")
    options = ("--out", tmp_path / "out", "--examples", "5", "--isolation", "none")
    done = grade(course / "submissions/complete", *options, course=course)
    refused(done, f"{probe}: a worker, which has nothing else of tests/, can't import it", "tests.strategies")


def test_grade_refuses_an_output_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    refused(ask("grade", COMPLETE, "--out", tmp_path / "out"), "--out", "can't write there")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere; an --out that is a file is tested above")
def test_grade_refuses_an_output_directory_that_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o500)
    refused(ask("grade", COMPLETE, "--out", tmp_path / "out"), "--out", "can't write there")


def test_grade_refuses_two_submissions_of_the_same_name(tmp_path: Path) -> None:
    other = tmp_path / "complete"
    other.mkdir()
    (other / "linear.py").write_text("")
    refused(ask("grade", COMPLETE, other, "--out", tmp_path / "out"), "two submissions are called complete")


def test_an_unreadable_submission_does_not_keep_the_others_from_being_graded(tmp_path: Path) -> None:
    (tmp_path / "bob.zip").write_bytes(b"no zip")
    done = grade(PLAIN, tmp_path / "bob.zip", "--out", tmp_path / "out", *OPTIONS, course=PRIMES)
    refused(done, "bob.zip")
    assert (tmp_path / "out/complete/result.json").exists()
    assert read(tmp_path / "out/bob/result.json").unreadable == "neither a directory nor a .zip, .tar or .tar.gz"
    rows = {row["submission"]: row for row in csv.DictReader((tmp_path / "out/gradebook.csv").read_text().splitlines())}
    assert (rows["bob"]["score"], rows["bob"]["sieve_status"]) == ("0.0", "not_graded")
    assert rows["bob"]["unreadable"] == "neither a directory nor a .zip, .tar or .tar.gz"
    assert rows["complete"]["unreadable"] == ""


def test_grade_refuses_numbers_out_of_range(tmp_path: Path) -> None:
    for option in ("--jobs", "--examples"):
        done = ask("grade", COMPLETE, "--out", tmp_path / "out", option, 0)
        assert (done.code, (tmp_path / "out").exists()) == (2, False)


def test_a_zip_bomb_is_refused_without_being_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ada.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("linear.py", io.BytesIO(bytes(50 * 2**20)).getvalue())
    refused(ask("grade", tmp_path / "ada.zip", "--out", tmp_path / "out"), "larger than 1 MiB")


def test_grading_without_a_sandbox_prints_a_warning(tmp_path: Path) -> None:
    done = grade(PLAIN, "--out", tmp_path, "--isolation", "none", *OPTIONS, course=PRIMES)
    assert done.code == 0
    assert "warning" in done.err
    assert "isolation: none" in done.out


def test_isolation_bwrap_fails_where_bubblewrap_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = grade(PLAIN, "--out", tmp_path / "out", "--isolation", "bwrap", *OPTIONS, course=PRIMES)
    assert done.code == 3
    assert "bubblewrap is not installed" in done.err
    assert not (tmp_path / "out/complete").exists()
    fallen_back = grade(PLAIN, "--out", tmp_path / "out", *OPTIONS, course=PRIMES)
    assert fallen_back.code == 0
    assert "isolation: none" in fallen_back.out


def test_grade_help_names_every_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")  # a narrow terminal cuts a long option
    out = ask("grade", "--help").out
    for option in (
        "--out",
        "--jobs",
        "--seed",
        "--examples",
        "--isolation",
        "--kata",
        "--force",
        "--quiet",
        "--gradescope",
    ):
        assert option in out
