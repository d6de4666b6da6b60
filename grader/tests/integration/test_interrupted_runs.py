"""Interrupted, killed and failed runs keep the results so far, and a second run grades the rest of the class."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.results.result import read
from grader.tests import ROOT
from grader.tests.conftest import call_grader, grade, run, run_python
from grader.tests.support.platforms import parse_gradescope
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
NAMES = ("ada", "ben", "cleo", "dan", "eve")  # after two, at least a round of a second remains


def stop(number: int, moment: Callable[[int], object], *call: object, course: Path = PRIMES) -> str:
    """Run `grader …`, send a signal to it at the given moment, and return its error output."""
    command = [sys.executable, "-m", "grader", "--course", *map(str, (course, *call))]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not moment(process.pid):
        assert process.poll() is None, "the run ended before it could be stopped"
        time.sleep(0.05)
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


def assert_resumes(submissions: list[Path], out: Path, *options: str) -> None:
    """Grade again. Assert that stored results are kept and that the gradebook has every submission."""
    before = {name: (out / name / "result.json").stat().st_mtime_ns for name in list_results(out)}
    assert 1 <= len(before) < len(submissions)
    again = grade(*submissions, "--out", out, *OPTIONS, *options, course=PRIMES)
    assert again.code == 0, again.err
    assert {name: (out / name / "result.json").stat().st_mtime_ns for name in before} == before
    assert f"{len(before)} of {len(submissions)} were already graded" in again.out
    rows = csv.DictReader((out / "gradebook.csv").read_text().splitlines())
    graded = {path.name: ("5.5", "wrong") if path.name == "ben" else ("50.0", "done") for path in submissions}
    assert {row["submission"]: (row["score"], row["sieve_status"]) for row in rows} == graded
    assert list(out.rglob("*.tmp")) == []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.sample, id="default"),
        pytest.param(("--isolation", "none"), marks=pytest.mark.timing, id="none"),
    ],
)
def test_killed_run_can_be_resumed(options: tuple[str, ...], tmp_path: Path) -> None:
    paths, out = write_slow_class(tmp_path / "class", SLOW, *NAMES[:3]), tmp_path / "out"
    stop(signal.SIGKILL, lambda _: list_results(out), "grade", *paths, "--out", out, *OPTIONS, *options)
    assert_resumes(paths, out, *options)


def test_interrupted_run_can_be_resumed(tmp_path: Path) -> None:
    paths, out = write_slow_class(tmp_path / "class", SLOW, *NAMES), tmp_path / "out"
    call = ("grade", *paths, "--out", out, *OPTIONS)
    assert stop(signal.SIGINT, lambda _: len(list_results(out)) >= 2, *call) == STOPPED
    rows = csv.DictReader((out / "gradebook.csv").read_text().splitlines())
    assert [row["submission"] for row in rows] == list_results(out)
    assert_resumes(paths, out)


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_ctrl_c_stops_run_during_startup(tmp_path: Path, seconds: float) -> None:
    paths = write_submissions(tmp_path / "class", LINEAR + SLOW, *NAMES)
    call = ("grade", *paths, "--out", tmp_path / "out", "--kata", "linear", *SHORT)
    assert stop(signal.SIGINT, wait_for_start(seconds), *call, course=ROOT) == STOPPED


def test_ctrl_c_stops_grader_during_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = tmp_path / "begun"
    (tmp_path / "typer.py").write_text(f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert stop(signal.SIGINT, lambda _: begun.exists(), "grade", "--out", tmp_path / "out") == "grader: stopped\n"


def select_finished(path: Path) -> list[dict[str, Any]]:
    """Return the tests in a file for Gradescope that have been run. There are none before it is written."""
    tests = parse_gradescope(path.read_bytes())["tests"] if path.exists() else []
    return [test for test in tests if test["extra_data"]["outcome"] != "not_graded"]


def test_killed_grader_keeps_points_earned_so_far(tmp_path: Path) -> None:
    """The command that the Gradescope package runs writes its file after every test."""
    path, out = tmp_path / "results.json", tmp_path / "out"
    (slow,) = write_submissions(tmp_path / "class", SIEVE + 4 * SLOW, "ada", kata="sieve")
    call = ("gradescope", slow, path, "--out", out, "--kata", "sieve", "--seed", 0)
    stop(signal.SIGKILL, lambda _: select_finished(path), *call)
    report, done = parse_gradescope(path.read_bytes()), select_finished(path)
    assert 1 <= len(done) < len(report["tests"]) == 5
    assert report["score"] == sum(test["max_score"] for test in done) > 0
    assert report["output"].startswith("Grading stopped before all tests had run.")
    assert list_results(out) == []


def test_rerun_rewrites_the_gradescope_file(tmp_path: Path) -> None:
    path, submission = tmp_path / "results.json", PRIMES / "submissions/complete"
    options = ("--out", tmp_path / "out", "--seed", 0, "--kata", "sieve", "--examples", 5)
    call = ("--course", PRIMES, "gradescope", submission, path, *options)
    assert run("grader", *map(str, call)).code == 0
    first = parse_gradescope(path.read_bytes())
    assert (first["score"], first["output"]) == (50, "")
    path.unlink()
    again = call_grader(*call).out
    assert ("were already graded" in again, "grader report" in again) == (True, False), "the directory is temporary"
    assert parse_gradescope(path.read_bytes()) == first


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
