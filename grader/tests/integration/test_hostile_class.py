"""Hostile submissions do not affect the results of honest ones, and every submission gets a row."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.pipeline.layouts import find_submissions
from grader.results.result import read
from grader.tests.conftest import Run, call_grader, get_environment, run_program
from grader.tests.support.hostile_class import make_hostile_class
from grader.tests.support.submissions import NAMES, PRIMES, SIEVE, write_submissions

HONEST = NAMES[:3]
ENTRIES, SEED = 220, 40
MOST_BYTES = 6000  # per submission, for everything that is written or printed
UNDIAGNOSED = SIEVE.replace("range(n)", "range(4, n)")  # the search for known mistakes has a time limit
OPTIONS = ("--kata", "sieve", "--examples", 2, "--isolation", "none", "--seed", 0)
FORMATS = ("github", "junit", "gradescope", "sources")


def grade_in_ascii(*arguments: object) -> Run:
    """Run `grader grade` on a terminal that can't show all characters."""
    command = (sys.executable, "-m", "grader", "--course", PRIMES, "grade", *arguments, *OPTIONS)
    return run_program(*command, environment={**get_environment(), "PYTHONIOENCODING": "ascii"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with honest and hostile submissions, and the results of grading only the honest ones."""
    folder = tmp_path_factory.mktemp("hostile")
    paths = write_submissions(folder / "class", SIEVE, *HONEST, kata="sieve")
    (paths[1] / "sieve.py").write_text(UNDIAGNOSED)
    assert grade_in_ascii(*paths, "--out", folder / "alone").code == 0
    make_hostile_class(folder / "class", SEED, ENTRIES)
    yield folder
    subprocess.run(["chmod", "-R", "u+rwX", folder], check=False)  # to remove folders without permissions


@pytest.fixture(scope="module")
def graded(folder: Path) -> tuple[Path, Run]:
    """Return the results of the class and the printed output."""
    out = folder / "graded"
    return out, grade_in_ascii(folder / "class", "--layout", "canvas", "--out", out, "--json")


def summarize(out: Path, submission: str) -> list[tuple[object, ...]]:
    """Return the parts of a result that the student sees, except for times."""
    result = read(out / submission / "result.json")
    tests = [
        (kata.kata, test.name, test.outcome, test.score, test.message) for kata in result.katas for test in kata.tests
    ]
    return [(result.score, result.max_score, result.unreadable), *tests]


def assert_harmless(text: str) -> None:
    """Assert that the text contains no traceback or control characters."""
    assert "Traceback" not in text, text[-3000:]
    assert all(c.isprintable() or c in "\n\t" for c in text)


def test_hostile_submissions_do_not_change_honest_results(folder: Path, graded: tuple[Path, Run]) -> None:
    out, run = graded
    assert run.code == 2, run.err[-3000:]
    for name in HONEST:
        assert summarize(out, name) == summarize(folder / "alone", name)


def test_every_hostile_submission_has_a_gradebook_row(folder: Path, graded: tuple[Path, Run]) -> None:
    out, _ = graded
    found = find_submissions([folder / "class"], "canvas")
    with (out / "gradebook.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found.submissions) + len(found.loose) > 200
    assert len({row["submission"] for row in rows}) == len(rows)
    graded_rows = [row for row in rows if not row["unreadable"]]
    assert {*HONEST} <= {row["submission"] for row in graded_rows}
    assert len(graded_rows) < len(rows) / 2


def test_outputs_for_hostile_class_are_harmless_and_bounded(graded: tuple[Path, Run]) -> None:
    out, run = graded
    assert_harmless(run.out + run.err)
    assert len(json.loads(run.out)["problems"]) > ENTRIES / 2
    size = len(run.out + run.err) + sum(path.stat().st_size for path in out.rglob("*") if path.name != "hand_in.json")
    assert size < ENTRIES * MOST_BYTES


def test_hostile_class_does_not_break_other_commands(folder: Path, graded: tuple[Path, Run], tmp_path: Path) -> None:
    out, _ = graded
    (tmp_path / "people").mkdir()
    (tmp_path / "people/class.csv").write_text("id\n" + "\n".join(HONEST))
    before, texts = set(tmp_path.iterdir()), []
    for command in (
        ("report", out, "--out", tmp_path / "pages"),
        ("marks", out, tmp_path / "people"),
        ("diff", folder / "alone", out),
        ("anonymize", folder / "class", "--layout", "canvas", *("--out", tmp_path / "copy", "--key", tmp_path / "key")),
        *(("export", out, "--format", name, "--out", tmp_path / name) for name in FORMATS),
    ):
        run = call_grader("--course", PRIMES, *command)
        assert run.code in (0, 2), (command, run.err[-3000:])
        assert_harmless(run.out + run.err)
        texts.append(run.out + run.err)
    assert set(tmp_path.iterdir()) > before
    assert all(re.fullmatch(r"student-[0-9a-f]{10}", path.name) for path in (tmp_path / "copy").iterdir())
    marks = {
        row["id"]: row["final"] for row in csv.DictReader((tmp_path / "people/marks.csv").read_text().splitlines())
    }
    assert [float(marks[name]) for name in HONEST] == [
        read(folder / "alone" / name / "result.json").score for name in HONEST
    ]
    assert len("".join(texts)) < ENTRIES * MOST_BYTES
