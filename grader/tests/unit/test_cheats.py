"""Tests of reading the corpus of cheats on speed and judging trials."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.prove_gpu.place import DANGEROUS
from grader.proof.cheat_run import judge_cheat, judge_slow, prove_times
from grader.proof.cheats import Cheat, load_cheats, load_slow
from grader.proof.proof import Trial, format_markdown
from grader.results.result import PerformanceResult
from grader.tests import ROOT
from torchkata.course import course
from torchkata.speed.decision import RESTLESS

KATAS = list(course().katas.values())
ENTRY = """
[hides]
aim = "is fast in secret"
slow = "linear/three_times"
code = "HOSTILE = 1"
control = "HONEST = 1"
"""
FAILED = PerformanceResult("linear_forward", "failed", ratio=0.3)
PASSED = PerformanceResult("linear_forward", "passed", ratio=0.9, tier="full")
SOME = msgspec.structs.replace(PASSED, tier="passing", ratio=0.65, thresholds=(0.6, 0.75))
RESTLESS_ROW = PerformanceResult("linear_forward", "inconclusive", message=f"only 3 of 20 {RESTLESS}")
DOUBTFUL = msgspec.structs.replace(PASSED, tier="passing", ratio=0.55, thresholds=(0.6, 0.75))
LOST = PerformanceResult("linear_forward", "inconclusive", message="the timing process died")


@pytest.fixture(scope="module")
def corpus() -> list[Cheat]:
    return list(load_cheats(KATAS))


def test_cheat_and_control_extend_different_solutions(tmp_path: Path) -> None:
    (tmp_path / "tricks.toml").write_text(ENTRY)
    (cheat,) = load_cheats(KATAS, tmp_path)
    hostile, control = (files["linear.py"].decode() for files in (cheat.make_files(), cheat.make_control()))
    slow, right = cheat.slow.make_files()["linear.py"].decode(), course().solutions()["linear.py"].decode()
    assert (cheat.title, cheat.slow.workload.name) == ("tricks/hides", "linear_forward")
    assert hostile == f"{slow}\n\nHOSTILE = 1"
    assert control == f"{right}\n\nHONEST = 1"
    assert slow.startswith(right)


def test_cheats_cover_every_workload(corpus: list[Cheat]) -> None:
    assert {cheat.slow.workload.name for cheat in corpus} == set(course().workloads)
    assert {slow.workload.name for slow in load_slow(KATAS).values()} == set(course().workloads)


def test_known_cheats_refer_to_existing_entries(corpus: list[Cheat]) -> None:
    text = (ROOT / "docs/evidence/known-cheats.md").read_text("utf-8")
    named = {*re.findall(r"`(\w+/\w+)`", text), *DANGEROUS}
    assert len(named) > len(DANGEROUS)
    assert named <= {cheat.title for cheat in corpus}


def judge_trial(cheat: Cheat, **rows: Any) -> Trial:
    """Return the trial of a cheat in which everything succeeded except for the given rows."""
    return judge_cheat(cheat, "bwrap", **{"slow": FAILED, "row": FAILED, "control": PASSED} | rows)


@pytest.mark.parametrize(
    ("rows", "failed", "inconclusive"),
    [
        ({}, [], 0),
        ({"row": PASSED}, ["cheat {} at bwrap: gained 5 points"], 0),
        ({"row": SOME, "slow": PASSED}, [], 0),
        ({"row": SOME}, ["cheat {} at bwrap: gained 3 points"], 0),
        ({"row": LOST}, ["cheat {} at bwrap: made the result inconclusive: the timing process died"], 0),
        ({"row": msgspec.structs.replace(FAILED, seconds=1e4)}, ["cheat {} at bwrap: took 10000 seconds"], 0),
        ({"control": FAILED}, ["control of {} at bwrap: outcome failed: "], 0),
        ({"control": LOST}, ["control of {} at bwrap: outcome inconclusive: the timing process died"], 0),
        ({"row": RESTLESS_ROW}, [], 1),
        ({"row": RESTLESS_ROW, "control": RESTLESS_ROW}, [], 2),
        ({"slow": RESTLESS_ROW}, [], 1),
        ({"row": DOUBTFUL}, [], 1),
        ({"control": DOUBTFUL}, [], 0),
    ],
)
def test_cheat_trial_fails_if_cheat_succeeds(
    corpus: list[Cheat], rows: dict[str, Any], failed: list[str], inconclusive: int
) -> None:
    proof = prove_times([judge_trial(corpus[0], **rows)])
    assert proof.failed == [line.format(corpus[0].title) for line in failed]
    assert (proof.claims, proof.inconclusive) == (2, inconclusive)


def test_cheat_may_earn_only_declared_points(corpus: list[Cheat]) -> None:
    def changed(**changes: str) -> Trial:
        return judge_trial(replace(corpus[0], entry=msgspec.structs.replace(corpus[0].entry, **changes)), row=PASSED)

    proof = prove_times([changed(open="nobody"), changed(earns="works"), judge_trial(corpus[0])])
    assert proof.failed == []
    assert proof.notes == [f"OPEN  {corpus[0].title} at bwrap: gained 5 points (nobody)"]
    assert "| clocks | bwrap | 3 | 5 | the clock 1 | 1 | 1 | 3/3 |  |" in format_markdown(proof.tables)


@pytest.mark.parametrize(
    ("row", "stopped_by"),
    [
        (FAILED, "the clock"),
        (msgspec.structs.replace(FAILED, ratio=None), "the check"),
        (msgspec.structs.replace(FAILED, outcome="crashed"), "no valid answer"),
        (PASSED, ""),
    ],
)
def test_cheat_result_reports_which_check_stopped_it(
    corpus: list[Cheat], row: PerformanceResult, stopped_by: str
) -> None:
    assert judge_trial(corpus[0], row=row).stopped_by == stopped_by


def test_certify_reports_slow_solution_that_passes() -> None:
    slow = next(iter(load_slow(KATAS).values()))
    proof = prove_times([judge_slow(slow, "none", row) for row in (FAILED, RESTLESS_ROW, PASSED)])
    assert proof.failed == [f"slow {slow.title} at none: outcome passed, expected failed"]
    assert (proof.claims, proof.inconclusive) == (3, 1)
    row = f"| {slow.title} | linear_forward | none | 0.30 | 0 of {slow.workload.points.full:g} |"
    assert row in format_markdown(proof.tables)
