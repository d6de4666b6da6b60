"""Generates timing samples of a student whose true ratio is known, on a machine whose speed in each block is known."""

import itertools
from typing import Any

from torchkata.course import Tiers
from torchkata.speed.decision import RULES, Final, Sample, Verdict, as_ratios, judge

FULL_RATE = 800e12  # rate of the baseline on an undisturbed machine
PEAK = 989.4e12
TOLERANCE = 3e-3
THRESHOLDS = Tiers(passing=0.6, full=0.75)
MFU = Tiers(passing=0.5, full=0.6)
CUDA = RULES["cuda"]


def make_samples(ratio: float, baselines: list[float], own: list[float]) -> list[Sample]:
    """Return a student's samples. `baselines` and `own` give the machine's speed in each block (1: undisturbed)."""
    return [
        Sample(rate=ratio * FULL_RATE * mine, before=FULL_RATE * before, after=FULL_RATE * after)
        for mine, (before, after) in zip(own, itertools.pairwise(baselines), strict=True)
    ]


def make_steady_samples(ratio: float, count: int = 10) -> list[Sample]:
    return make_samples(ratio, [1.0] * (count + 1), [1.0] * count)


def judge_samples(samples: list[Sample], **given: Any) -> Verdict:
    usual: dict[str, Any] = {"opening": FULL_RATE, "tolerance": TOLERANCE, "thresholds": THRESHOLDS, "rules": CUDA}
    return judge(samples, **(usual | given))


def get_rank(verdict: Verdict) -> int:
    """Return 0 if the workload failed, 1 for the passing tier, and 2 for the full tier."""
    assert isinstance(verdict, Final)
    return ("failed", "passing", "full").index(verdict.tier or verdict.outcome)


def compute_true_rank(ratio: float, thresholds: Tiers, peak: float | None) -> int:
    """Return the rank that a student with this ratio reaches on an undisturbed machine."""
    needed = as_ratios(thresholds, peak, FULL_RATE)
    return (ratio >= needed.passing) + (ratio >= needed.full)


def is_not_worse(verdict: Verdict, expected: int) -> bool:
    """Return whether a verdict does not cost a student with this true rank any points."""
    return not isinstance(verdict, Final) or verdict.outcome == "inconclusive" or get_rank(verdict) >= expected
