"""Grading verifies the isolation level and stops if it is unavailable, as in a container without namespaces."""

import json
import os
import sys
from pathlib import Path

import pytest

from grader.sandbox import launch, syscalls
from grader.sandbox.mounts import IsolationError
from grader.sandbox.runner import WorkerRunner
from grader.tests.conftest import Run, run, run_program
from grader.tests.support.sandbox_workers import AS_OTHER_USER
from grader.tests.support.submissions import OPTIONS, PRIMES
from torchkata.course import course

COMPLETE = PRIMES / "submissions/complete"


def grade_without_namespaces(*arguments: object) -> Run:
    """Run `grader grade` without permission to create namespaces, as in a container without CAP_SYS_ADMIN."""
    shut = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--"]
    if os.getuid() == 0:
        shut = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"]
    return run_program(*shut, sys.executable, "-m", "grader", "--course", PRIMES, "grade", *arguments)


@pytest.mark.usefixtures("needs_bwrap")
def test_grading_without_namespaces_warns_and_limits_resources(tmp_path: Path) -> None:
    done = grade_without_namespaces(COMPLETE, "--out", tmp_path, *OPTIONS)
    assert done.code == 0, done.err
    assert "bubblewrap does not work here" in done.err
    assert "by resource limits only: it can" in done.err.replace("\n", " ")
    stored = json.loads((tmp_path / "complete/result.json").read_text())
    assert (stored["isolation"], stored["score"]) == ("none", 50.0)
    assert "read " in stored["environment"]["workers can"]


@pytest.mark.usefixtures("needs_bwrap")
def test_isolation_bwrap_fails_in_a_container_without_namespaces(tmp_path: Path) -> None:
    done = grade_without_namespaces(COMPLETE, "--out", tmp_path, "--isolation", "bwrap", *OPTIONS)
    assert done.code == 3
    assert done.err.startswith("grader: isolation bwrap does not work here: ")
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "complete").exists()


def raise_filter_error(**_: object) -> bytes:
    """Raise the error that occurs on a machine without libseccomp."""
    raise syscalls.FilterError("libseccomp is not installed")


@pytest.mark.sample
def test_isolation_bwrap_fails_without_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(IsolationError, match="bubblewrap is not installed"):
        launch.launch("bwrap", course().limits)


@pytest.mark.usefixtures("needs_bwrap")
def test_isolation_bwrap_fails_without_libseccomp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syscalls, "build_filter", raise_filter_error)
    with pytest.raises(IsolationError, match="libseccomp"):
        launch.launch("bwrap", course().limits)


def test_self_test_detects_worker_without_libseccomp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syscalls, "build_filter", raise_filter_error)
    sandbox = launch.launch("none", course().limits)
    sandbox.wait_until_ready()
    runner = WorkerRunner(sandbox.clone(), course().limits)
    assert {"start a process", "communicate through a socket"} <= set(runner.find_violations([]))
    runner.control.close()
    sandbox.close()


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize("before", [[], AS_OTHER_USER], ids=["this user", "an ordinary user"])
def test_workers_share_no_namespaces_devices_or_threads(before: list[str]) -> None:
    module = "grader.tests.support.two_workers"
    done = run_program(*before, sys.executable, "-m", module) if before else run(module)
    assert done.code == 0, done.err
    devices = ["full", "null", "random", "urandom", "zero"]
    assert json.loads(done.out) == {"threads": [57, 57], "shared": [], "devices": devices, "violations": []}
