"""Blocks of a student at a known ratio, on a machine of known speed, and what the verdict on them is worth."""

import itertools
from typing import Any

from torchkata.course import Tiers
from torchkata.speed.decision import RULES, Final, Sample, Verdict, as_ratios, judge

FULL_RATE = 800e12  # the baseline's on an undisturbed machine
PEAK = 989.4e12
TOLERANCE = 3e-3
THRESHOLDS = Tiers(passing=0.6, full=0.75)
MFU = Tiers(passing=0.5, full=0.6)
CUDA = RULES["cuda"]
RANK = {"failed": 0, "passing": 1, "full": 2}


def make_samples(ratio: float, baselines: list[float], own: list[float]) -> list[Sample]:
    """Blocks of a student at `ratio`; each number says how much of the full rate the machine has in one block."""
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
    assert isinstance(verdict, Final)
    return RANK[verdict.tier or verdict.outcome]


def compute_true_rank(ratio: float, thresholds: Tiers, peak: float | None) -> int:
    """What a student earns on a machine that nothing slows."""
    needed = as_ratios(thresholds, peak, FULL_RATE)
    return (ratio >= needed.passing) + (ratio >= needed.full)


def is_not_worse(verdict: Verdict, expected: int) -> bool:
    """Whether a verdict leaves a student what they truly reach."""
    return not isinstance(verdict, Final) or verdict.outcome == "inconclusive" or get_rank(verdict) >= expected
