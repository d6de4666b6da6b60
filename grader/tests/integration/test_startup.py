"""Tests of the startup of `grader grade`: the progress it displays, and a sandbox that is started in advance."""

import os
import sys
from pathlib import Path

import pytest

from grader.pipeline.startup import Startup
from grader.sandbox.launch import launch
from grader.sandbox.mounts import IsolationError
from grader.tests import ROOT
from grader.tests.support.pseudo_terminal import Terminal
from grader.tests.support.submissions import PRIMES
from torchkata.course import course

FEW = ("--kata", "factorise", "--examples", "1")
COMPLETE = PRIMES / "submissions/complete"


def grade_on_terminal(tmp_path: Path, *options: str) -> str:
    """Run `grader grade` in a terminal and return everything that it prints."""
    parts = ("--course", PRIMES, "grade", COMPLETE, "--out", tmp_path, *FEW, *options)
    command = [sys.executable, "-m", "grader", *map(str, parts)]
    with Terminal(command, ROOT, {**os.environ, "TERM": "xterm"}) as terminal:
        assert terminal.wait() == 0
        return terminal.all


def test_grade_shows_and_clears_startup_steps(tmp_path: Path) -> None:
    printed = grade_on_terminal(tmp_path)
    steps = [
        "importing pytest and the course's libraries",
        "collecting the tests",
        "waiting for imports in the sandbox",
    ]
    assert [printed.find(step) for step in steps] == sorted(printed.find(step) for step in steps)
    assert all(step in printed for step in steps)
    after_the_last = printed[printed.rindex("starting: ") :]
    assert "…\r\x1b[2K" in after_the_last


@pytest.mark.usefixtures("needs_bwrap")
def test_sandbox_can_be_closed_during_startup() -> None:
    for _ in range(10):
        launch("bwrap", course().limits).close()


def test_sandbox_started_early_is_used_once() -> None:
    start = Startup()
    start.launch_ahead("none", [], 5)
    first = start.get_sandbox("none", [], 5)
    assert start.get_sandbox("none", [], 5) is not first
    start.close()
    assert [sandbox.process.returncode for sandbox in start.sandboxes] == [-9, -9]
    assert not any(sandbox.runtime.exists() for sandbox in start.sandboxes)


@pytest.mark.usefixtures("needs_bwrap")
def test_failed_early_sandbox_start_raises_on_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.launch.build_bwrap_command", lambda *_: ["/nowhere/bwrap"])
    start = Startup()
    start.launch_ahead("bwrap", [], 5)
    with pytest.raises(IsolationError, match="/nowhere/bwrap: No such file"):
        start.get_sandbox("bwrap", [], 5)


def test_cpu_limit_of_process_grows_with_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[float] = []
    monkeypatch.setattr(
        "grader.pipeline.startup.launch", lambda _, limits, **_katas: launched.append(limits.kata_seconds)
    )
    for examples in (5, 100, 1000):
        Startup().get_sandbox("none", [], examples)
    assert launched == [20.0, 20.0, 200.0]
