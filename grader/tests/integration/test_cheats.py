"""Slow solutions fail their workloads, and cheats that only pretend to be fast earn no points.

These tests time code on the CPU and need an otherwise idle machine. `make speed` runs all of them. To run one of them:
`pytest grader/tests/integration/test_cheats.py -k answers_early`
"""

import contextlib
from collections.abc import Iterator, Mapping

import pytest

from grader.base.files import in_use
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Sandbox, launch
from grader.sandbox.mounts import IsolationError
from grader.speed import timing_device
from grader.tests.support.cheats import (
    Cheat,
    Slow,
    find_problems,
    is_inconclusive,
    is_noisy,
    load_cheats,
    load_slow,
    measure,
    replace_kata,
)
from torchkata.course import course

pytestmark = pytest.mark.timing

MAX_INCONCLUSIVE = 0.25  # of all measurements, because the machine was too noisy
SAMPLE = ("forged/answers_early", "elsewhere/wakes_itself", "ends/its_first_thread_ends", "ends/exits")
SLOW, CHEATS = load_slow(), load_cheats()
ROWS: dict[tuple[str, str], PerformanceResult] = {}  # results of slow solutions, by isolation level and title
CONCLUSIVE: list[bool] = []  # for each measurement, whether it was conclusive


@pytest.fixture(scope="module", params=["bwrap", pytest.param("none", marks=pytest.mark.speed)])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Start a sandbox for timed workers at an isolation level."""
    if missing := timing_device.find_missing("cpu"):
        pytest.skip(missing)
    try:
        sandbox = launch(request.param, timing_device.get_limits(), timing_device.plan_workers())
        sandbox.wait_until_ready()
    except IsolationError as error:
        pytest.skip(str(error))
    with contextlib.closing(sandbox), in_use(sandbox.runtime):
        yield sandbox


def time_slow(slow: Slow, sandbox: Sandbox) -> PerformanceResult:
    """Return the result of a slow solution, which is timed only once. Skip the test if it is inconclusive."""
    key = sandbox.isolation, slow.title
    if key not in ROWS:
        ROWS[key] = time_files(slow.make_files(), slow, sandbox)
    if is_inconclusive(ROWS[key]):
        pytest.skip("the machine is too noisy to time the slow solution")
    return ROWS[key]


def time_files(files: Mapping[str, bytes], slow: Slow, sandbox: Sandbox) -> PerformanceResult:
    """Time a submission and record whether the result is conclusive."""
    row = measure(files, slow.workload, sandbox)
    CONCLUSIVE.append(not is_inconclusive(row))
    return row


@pytest.mark.parametrize("slow", [pytest.param(slow, id=title) for title, slow in SLOW.items()])
def test_slow_solution_fails_its_workload(slow: Slow, sandbox: Sandbox) -> None:
    assert time_slow(slow, sandbox).outcome == "failed"


SAMPLED = [pytest.param(one, id=one.title, marks=[] if one.title in SAMPLE else [pytest.mark.speed]) for one in CHEATS]


@pytest.mark.parametrize("cheat", SAMPLED)
def test_cheat_earns_no_points(cheat: Cheat, sandbox: Sandbox) -> None:
    slow = SLOW[cheat.slow]
    base = time_slow(slow, sandbox)
    row = time_files(slow.make_files(cheat.cheat), slow, sandbox)
    assert find_problems(cheat, base, row) == []
    solution = course().solutions()[f"{slow.kata}.py"].decode()
    control = time_files(replace_kata(slow.kata, f"{solution}\n\n{cheat.control}"), slow, sandbox)
    if is_inconclusive(row) or is_noisy(control):
        pytest.skip("the machine is too noisy")
    assert control.outcome == "passed", control.message


def test_few_measurements_are_inconclusive() -> None:
    assert CONCLUSIVE.count(False) <= MAX_INCONCLUSIVE * len(CONCLUSIVE)
