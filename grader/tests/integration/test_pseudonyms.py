"""If a class is graded under pseudonyms, no file or output contains a student's name."""

import csv
import json
from pathlib import Path

import pytest

from grader.tests.conftest import call_grader, grade
from grader.tests.support.submissions import PRIMES, write_submissions

CLASS = "id,name,email\nlovelace,Ada Lovelace,ada@school.example\nzhang3,张三,zs@y.example\nempty,Ben,b@x.example\n"
REAL = ("lovelace", "zhang3", "张三", "school.example", "secret-folder", "Augusta")
OPTIONS = ("--kata", "sieve", "--examples", 2, "--isolation", "none")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder of a graded class and everything that was printed."""
    folder = tmp_path_factory.mktemp("term")
    download = folder / "secret-folder"
    write_submissions(download, "x = 1  # Augusta King\n", "lovelace", kata="sieve")
    write_submissions(download, "raise ValueError(__file__)\n", "zhang3", kata="sieve")
    (download / "empty-zhang3").mkdir()
    (folder / "class").mkdir()
    (folder / "class/class.csv").write_text(CLASS, encoding="utf-8")
    run = grade(
        *sorted(download.iterdir()),
        "--out",
        folder / "results",
        "--pseudonyms",
        get_key(folder),
        *OPTIONS,
        course=PRIMES,
    )
    page = call_grader("--course", PRIMES, "report", folder / "results")
    assert (run.code, page.code) == (2, 0), (run.err, page.err)
    return folder, run.out + run.err + page.out + page.err


def get_key(folder: Path) -> Path:
    return folder / "class/pseudonyms.json"


def test_results_contain_no_real_name(graded: tuple[Path, str]) -> None:
    folder, told = graded
    said = {
        path: path.read_bytes().decode(errors="replace") for path in (folder / "results").rglob("*") if path.is_file()
    }
    assert any(path.name == "report.html" for path in said)
    for name in REAL:
        assert name not in told
        assert not [path for path, text in said.items() if name in text or name in str(path.relative_to(folder))]
    assert "contains no kata" in told


def test_key_file_restores_real_names(graded: tuple[Path, str]) -> None:
    folder, _ = graded
    pseudonyms = json.loads(get_key(folder).read_bytes())
    assert sorted(pseudonyms.values()) == ["empty-zhang3", "lovelace", "zhang3"]
    assert get_key(folder).stat().st_mode & 0o077 == 0
    done = call_grader("marks", folder / "results", folder / "class")
    assert "empty-zhang3: does not count, because zhang3 counts for zhang3" in done.err
    rows = list(csv.DictReader((folder / "class/marks.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["id"], row["submission"]) for row in rows] == [
        ("lovelace", "lovelace"),
        ("zhang3", "zhang3"),
        ("empty", ""),
    ]


def test_second_run_reuses_pseudonyms(graded: tuple[Path, str]) -> None:
    folder, _ = graded
    before = get_key(folder).read_bytes()
    call = (folder / "secret-folder/lovelace", "--out", folder / "results", "--pseudonyms", get_key(folder), *OPTIONS)
    assert "1 of 1 were already graded" in grade(*call, course=PRIMES).out
    assert get_key(folder).read_bytes() == before
