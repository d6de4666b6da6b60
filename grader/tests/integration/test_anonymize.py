"""A class is copied under new names without other files, and `grader marks` finds the people."""

import csv
import json
import re
import zipfile
from pathlib import Path

import pytest

from grader.tests.conftest import Run, call_grader
from grader.tests.support.submissions import PRIMES, commit_all, write_submissions
from grader.tests.unit.test_report_command import store

CLASS = "id,name,email\nlovelace,Ada Lovelace,ada@school.example\nzhang3,张三,zs@y.example\nempty,Ben,b@x.example\n"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """Copy three submissions, one of which can't be read. Return the folder with the copies, and what was printed."""
    folder = tmp_path_factory.mktemp("term")
    download = folder / "secret-folder"
    (ada,) = write_submissions(download, "x = 1  # Augusta King\n", "lovelace", kata="sieve")
    commit_all(ada)
    with zipfile.ZipFile(download / "zhang3.zip", "w") as archive:
        archive.writestr("张三/sieve.py", "raise ValueError(__file__)\n")
        archive.writestr("张三/notes.txt", "zhang3")
    (download / "empty-zhang3").mkdir()
    (folder / "class").mkdir()
    (folder / "class/class.csv").write_text(CLASS, encoding="utf-8")
    return folder, anonymize(folder, folder / "anonymous")


def anonymize(folder: Path, out: Path) -> Run:
    return copy_class(folder / "secret-folder", out, get_key(folder))


def copy_class(given: Path, out: Path, key: Path) -> Run:
    return call_grader("--course", PRIMES, "anonymize", given, "--out", out, "--key", key)


def get_key(folder: Path) -> Path:
    return folder / "class/pseudonyms.json"


@pytest.mark.sample
def test_only_graded_files_are_copied(copied: tuple[Path, Run]) -> None:
    folder, done = copied
    assert done.code == 2, "a submission that can't be read must be reported"
    assert len(done.err.splitlines()) == 1
    assert "not copied: " in done.err
    assert "empty-zhang3: contains no kata" in done.err
    names = {real: new for new, real in json.loads(get_key(folder).read_bytes()).items()}
    assert all(re.fullmatch(r"student-[0-9a-f]{10}", new) for new in names.values())
    assert {path.relative_to(folder / "anonymous").as_posix() for path in (folder / "anonymous").rglob("*.*")} == {
        f"{names['lovelace']}/sieve.py",
        f"{names['zhang3']}/sieve.py",
    }
    assert (folder / "anonymous" / names["lovelace"] / "sieve.py").read_text() == "x = 1  # Augusta King\n"
    assert get_key(folder).stat().st_mode & 0o077 == 0


def test_marks_restore_real_names(copied: tuple[Path, Run], tmp_path: Path) -> None:
    folder, _ = copied
    for name in json.loads(get_key(folder).read_bytes()):
        store(tmp_path / "results", name, "done", "passed")
    done = call_grader("marks", tmp_path / "results", folder / "class")
    assert (done.code, done.err) == (0, "")
    rows = csv.DictReader((folder / "class/marks.csv").read_text(encoding="utf-8").splitlines())
    found = [(row["id"], row["submission"]) for row in rows]
    assert found == [("lovelace", "lovelace"), ("zhang3", "zhang3"), ("empty", "")]


def test_second_copy_keeps_the_new_names(copied: tuple[Path, Run], tmp_path: Path) -> None:
    folder, _ = copied
    before = get_key(folder).read_bytes()
    assert anonymize(folder, tmp_path / "again").code == 2
    assert get_key(folder).read_bytes() == before
    assert {path.name for path in (tmp_path / "again").iterdir()} == {*json.loads(before)}


@pytest.mark.parametrize(
    ("out", "key", "words"),
    [
        ("full", "key.json", "full: is not empty; choose a new directory"),
        ("full/file", "key.json", "full/file: can't write there (Not a directory)"),
        ("class/new", "key.json", "class/new: must not be in "),
        ("new", "new/key.json", "new/key.json: must not be in "),
        ("new", "twice.json", "twice.json: ada has two new names, one and other; remove one"),
        ("new", "full/file", "full/file: not a pseudonym key"),
        ("new", "none/key.json", "none/key.json: can't write there"),
    ],
)
def test_unusable_place_is_refused_before_anything_is_written(out: str, key: str, words: str, tmp_path: Path) -> None:
    write_submissions(tmp_path / "class", "", "ada", "ben", kata="sieve")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("[]")
    (tmp_path / "twice.json").write_text('{"one": "ada", "other": "ada"}')
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    done = copy_class(*(tmp_path / name for name in ("class", out, key)))
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert words in done.err
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_class_without_readable_submission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "class/ada").mkdir(parents=True)
    done = copy_class(tmp_path / "class", tmp_path / "out", tmp_path / "key.json")
    assert (done.code, done.err.splitlines()[-1]) == (2, f"grader: {tmp_path}/class: contains no readable submission")
    assert {path.name for path in tmp_path.iterdir()} == {"class"}
