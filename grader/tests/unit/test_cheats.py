"""Tests of reading the cheats on speed and of judging their results."""

import re

import msgspec
import pytest

from benchmarks.prove_gpu.place import DANGEROUS
from grader.results.result import PerformanceResult
from grader.tests import ROOT
from grader.tests.support.cheats import (
    RESTLESS,
    Cheat,
    find_gain,
    find_problems,
    is_inconclusive,
    is_noisy,
    load_cheats,
    load_slow,
)
from torchkata.course import course

SLOW, CHEATS = load_slow(), load_cheats()
STOPPED = Cheat("tricks/hides", "is fast in secret", "linear/three_times", "stopped", "HOSTILE = 1", "HONEST = 1")
FAILED = PerformanceResult("linear_forward", "failed", ratio=0.3)
PASSED = PerformanceResult("linear_forward", "passed", ratio=0.9, tier="full")
SOME = msgspec.structs.replace(PASSED, tier="passing", ratio=0.65, thresholds=(0.6, 0.75))
RESTLESS_ROW = PerformanceResult("linear_forward", "inconclusive", message=f"only 3 of 20 {RESTLESS}")
DOUBTFUL = msgspec.structs.replace(PASSED, tier="passing", ratio=0.55, thresholds=(0.6, 0.75))
LOST = PerformanceResult("linear_forward", "inconclusive", message="the timing process died")


def test_cheat_extends_slow_solution() -> None:
    slow, solution = SLOW["linear/three_times"], course().solutions()["linear.py"]
    assert slow.workload.name == "linear_forward"
    assert slow.make_files("HOSTILE = 1")["linear.py"] == slow.source.encode() + b"\n\nHOSTILE = 1"
    assert slow.source.encode().startswith(solution)
    assert {cheat.slow for cheat in CHEATS} == SLOW.keys()


def test_cheats_cover_every_workload() -> None:
    assert len({cheat.title for cheat in CHEATS}) == len(CHEATS) >= 60
    assert {SLOW[cheat.slow].workload.name for cheat in CHEATS} == set(course().workloads)


def test_known_cheats_refer_to_existing_entries() -> None:
    text = (ROOT / "docs/evidence/known-cheats.md").read_text("utf-8")
    named = {*re.findall(r"`(\w+/\w+)`", text), *DANGEROUS}
    assert len(named) > len(DANGEROUS)
    assert named <= {cheat.title for cheat in CHEATS}


@pytest.mark.parametrize(
    ("slow", "row", "problems"),
    [
        (FAILED, FAILED, []),
        (FAILED, PASSED, ["gained 5 points"]),
        (PASSED, SOME, []),
        (FAILED, SOME, ["gained 3 points"]),
        (FAILED, LOST, ["made the result inconclusive: the timing process died"]),
        (FAILED, msgspec.structs.replace(FAILED, seconds=1e4), ["took 10000 seconds"]),
        (FAILED, RESTLESS_ROW, []),
        (FAILED, DOUBTFUL, []),
    ],
)
def test_success_of_a_cheat_is_detected(slow: PerformanceResult, row: PerformanceResult, problems: list[str]) -> None:
    assert find_problems(STOPPED, slow, row) == problems


def test_legitimate_cheat_may_earn_points() -> None:
    legitimate = msgspec.structs.replace(STOPPED, expected="legitimate: it does the work")
    assert (find_problems(legitimate, FAILED, PASSED), find_gain(legitimate, FAILED, PASSED)) == ([], 0.0)


@pytest.mark.parametrize(
    ("row", "inconclusive", "noisy"), [(RESTLESS_ROW, True, True), (DOUBTFUL, True, False), (LOST, False, False)]
)
def test_noise_and_doubt_are_inconclusive(row: PerformanceResult, inconclusive: bool, noisy: bool) -> None:
    assert (is_inconclusive(row), is_noisy(row)) == (inconclusive, noisy)
