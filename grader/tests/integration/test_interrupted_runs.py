"""Interrupted, killed and failed runs keep the results so far, and a second run grades the rest of the class."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.results.result import read
from grader.tests import ROOT
from grader.tests.conftest import call_grader, grade, run_python
from grader.tests.support.processes import find_descendants, is_alive
from grader.tests.support.submissions import (
    LINEAR,
    OPTIONS,
    PRIMES,
    SHORT,
    SIEVE,
    SLOW,
    list_results,
    write_slow_class,
    write_submissions,
)

STOPPED = "grader: stopped; finished results are stored; run the same command again to continue\n"
NAMES = ("ada", "ben", "cleo", "dan", "eve", "fay", "gao")  # after three, two rounds of a second remain


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_slow_class(tmp_path_factory.mktemp("slow"), SLOW, *NAMES)


@pytest.fixture(scope="module")
def uninterrupted(submissions: list[Path], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the gradebook of an uninterrupted run."""
    out = tmp_path_factory.mktemp("uninterrupted")
    assert grade(*submissions, "--out", out, *OPTIONS, course=PRIMES).code == 0
    return (out / "gradebook.csv").read_bytes()


def stop(
    submissions: list[Path],
    out: Path,
    number: int,
    moment: Callable[[int], bool],
    *options: str,
    course: Path = PRIMES,
    kata: str = "sieve",
) -> str:
    """Run `grader grade`, send a signal to it at the given moment, and return its error output."""
    parts = ("--course", course, "grade", *submissions, "--out", out, "--kata", kata, *SHORT, *options)
    command = [sys.executable, "-m", "grader", *map(str, parts)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not moment(process.pid):
        assert process.poll() is None, "the run ended before it could be stopped"
        time.sleep(0.01)
    started = find_descendants(process.pid)
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    _, errors = process.communicate(timeout=600)
    until = time.monotonic() + 120
    while any(map(is_alive, started)) and time.monotonic() < until:
        time.sleep(0.02)
    assert [pid for pid in started if is_alive(pid)] == []
    assert process.returncode == (130 if number == signal.SIGINT else -number), errors
    return errors


def wait_for_start(seconds: float) -> Callable[[int], bool]:
    """Return a condition that becomes true this many seconds after a run has started its sandbox."""
    began: list[float] = []

    def moment(pid: int) -> bool:
        if len(find_descendants(pid)) > 1:
            began.append(time.monotonic())
        return bool(began) and began[-1] - began[0] >= seconds

    return moment


def assert_resumes(submissions: list[Path], out: Path, uninterrupted: bytes, *options: str) -> None:
    """Grade again. Assert that stored results are kept and the gradebook is that of an uninterrupted run."""
    before = {name: (out / name / "result.json").stat().st_mtime_ns for name in list_results(out)}
    again = grade(*submissions, "--out", out, *OPTIONS, *options, course=PRIMES)
    assert again.code == 0, again.err
    assert {name: (out / name / "result.json").stat().st_mtime_ns for name in before} == before
    assert (f"{len(before)} of {len(NAMES)} were already graded" in again.out) == bool(before)
    assert (out / "gradebook.csv").read_bytes() == uninterrupted
    assert list(out.rglob("*.tmp")) == []


@pytest.mark.sample
def test_killed_or_interrupted_run_can_be_resumed(
    submissions: list[Path], uninterrupted: bytes, tmp_path: Path
) -> None:
    stop(submissions, tmp_path, signal.SIGKILL, lambda _: len(list_results(tmp_path)) >= 1)
    errors = stop(submissions, tmp_path, signal.SIGINT, lambda _: len(list_results(tmp_path)) >= 3)
    assert errors == STOPPED
    rows = list(csv.DictReader((tmp_path / "gradebook.csv").read_text().splitlines()))
    assert [row["submission"] for row in rows] == list_results(tmp_path)
    assert 3 <= len(rows) < len(NAMES)
    assert_resumes(submissions, tmp_path, uninterrupted)


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_ctrl_c_stops_run_during_startup(tmp_path: Path, seconds: float) -> None:
    paths = write_submissions(tmp_path / "class", LINEAR + SLOW, *NAMES)
    assert stop(paths, tmp_path / "out", signal.SIGINT, wait_for_start(seconds), course=ROOT, kata="linear") == STOPPED


def test_ctrl_c_stops_grader_during_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = tmp_path / "begun"
    (tmp_path / "typer.py").write_text(f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert stop([], tmp_path / "out", signal.SIGINT, lambda _: begun.exists()) == "grader: stopped\n"


@pytest.mark.timing  # as the first test, with the other level of isolation
def test_killed_run_without_sandbox_can_be_resumed(
    submissions: list[Path], uninterrupted: bytes, tmp_path: Path
) -> None:
    stop(submissions, tmp_path, signal.SIGKILL, lambda _: bool(list_results(tmp_path)), "--isolation", "none")
    assert_resumes(submissions, tmp_path, uninterrupted, "--isolation", "none")


BROKEN = """
import os, pathlib, sys, time
from grader import cli
from grader.pipeline import grading, session
from torchkata.course import use

use(pathlib.Path(sys.argv[sys.argv.index("--course") + 1]))
grade, run = session.grade_submission, grading.run_test
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
third = list(grading.course().katas["sieve"].points)[2]

def break_down(order, *rest):
    name = order.submission.id
    once = out.parent / f"{name} was tried"

    def run_or_break(item):
        if item.name == third and not (name == "unlucky" and once.exists()):
            if name == "stuck":
                while not (out / "zoe/result.json").exists():
                    time.sleep(0.05)
                (out.parent / "not held up").touch()
                time.sleep(600)
            if name in ("killed", "unlucky"):
                once.touch()
                os.kill(os.getpid(), 9)
        return run(item)

    grading.run_test = run_or_break
    return grade(order, *rest)

session.grade_submission = break_down
limits = grading.course().limits
session.SLACK = 20.0 - 2 * limits.kata_seconds * limits.wall_factor
cli.main()
"""


def test_finished_results_survive_a_hung_or_dead_process(tmp_path: Path) -> None:
    paths = write_submissions(tmp_path / "class", SIEVE, "ada", "killed", "stuck", "unlucky", "zoe", kata="sieve")
    out = tmp_path / "out"
    command = [str(part) for part in ("--course", PRIMES, "grade", *paths, "--out", out, *OPTIONS)]
    done = run_python("-c", BROKEN, *command)
    assert done.code == 0, done.err
    assert list_results(out) == ["ada", "killed", "stuck", "unlucky", "zoe"]
    assert (tmp_path / "not held up").exists(), "zoe must be graded while another submission hangs"
    kata = {name: read(out / name / "result.json").katas[0] for name in list_results(out)}
    outcomes = {name: [test.outcome for test in graded.tests] for name, graded in kata.items()}
    whole = ["passed"] * len(outcomes["ada"])
    assert outcomes["ada"] == outcomes["zoe"] == outcomes["unlucky"] == whole
    assert outcomes["killed"] == outcomes["stuck"] == [*whole[:2], *["crashed"] * (len(whole) - 2)]
    assert "5 of 5 were already graded" in call_grader(*command).out


ROOM = """
from grader.base.processes import limit_memory
from grader.pipeline.session import MEMORY_MIB
limit_memory(MEMORY_MIB)
held = bytearray((MEMORY_MIB - 50) * 2**20)
try:
    bytearray(100 * 2**20)
except MemoryError:
    print("limited")
"""


def test_memory_of_grading_process_is_limited() -> None:
    assert run_python("-c", ROOM).out == "limited\n"
