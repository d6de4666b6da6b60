"""Decides the verdict on timed blocks: the pure function `judge`, which is used by the grader and `pytest -m gpu`.

Each block of the student's code is compared with the baseline blocks that run immediately before and after it. If the
machine slows down, all three blocks become slower. If one of the baseline blocks is affected more than the other, their
difference bounds the error of the comparison. Each sample is therefore a range of ratios, and the student gets the
benefit of the doubt.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, TypeAlias

import torch

from torchkata.course import Tier, Tiers, Workload
from torchkata.inside.speed.device import Device
from torchkata.inside.speed.sizes import Kind
from torchkata.inside.speed.workload import Rate
from torchkata.inside.text import Message, Text

TIERS: tuple[Tier, ...] = ("full", "passing")

EARNING: tuple[Kind, ...] = ("cuda",)  # runs on other kinds of devices are rehearsals and earn no points
COVERAGE = 0.95  # coverage for six or more samples; [x₂, x₉] of ten covers 0.979, [x₁, x₅] of five only 0.938
FEWEST = 5  # minimum number of samples for a verdict
REACHABLE = Tiers(passing=0.75, full=0.9)  # upper limits of MFU thresholds, relative to the baseline
MAX_SAMPLES_RATIO = 2  # the machine is considered too noisy after this many times the needed samples
IMPOSSIBLE = 1.2  # no work is this many times as fast as the datasheet says; boosted clocks reach 1.16
FAR, FAR_SAMPLES = 0.8, 7  # stop early if this many samples are all below this fraction of the passing threshold


@dataclass(frozen=True)
class Sample:
    """The rates of a student block and of the baseline blocks before and after it, in work units per second.

    Raises ValueError if a rate is negative or not finite, or if the rate of a baseline is zero.
    """

    rate: float
    before: float
    after: float
    error: float = 0.0  # relative error of the result; NaN and infinity are treated as wrong

    def __post_init__(self) -> None:
        check_positive(self.before, "before")
        check_positive(self.after, "after")
        if not 0 <= self.rate < math.inf:
            raise ValueError(f"rate is {self.rate}; it must be finite and not negative")

    @property
    def ratio(self) -> float:
        """The student's rate divided by that of the faster baseline block, a lower bound of the true ratio."""
        return self.rate / max(self.before, self.after)

    @property
    def ratio_at_most(self) -> float:
        """The student's rate divided by that of the slower baseline block, an upper bound of the true ratio."""
        return self.rate / min(self.before, self.after)


@dataclass(frozen=True)
class TimingRules:
    """Noise limits for a kind of device. Raises ValueError if code at half a threshold's speed could pass."""

    spread: float  # allowed relative difference between neighboring baseline blocks
    drift: float  # allowed relative drop below the opening rate of the baseline
    batch: int = 10  # number of samples after which the interval decides
    last: int = 20  # number of samples after which the student gets the benefit of the doubt
    looks: tuple[int, ...] = tuple(range(FEWEST, 21))  # sample counts at which a verdict is attempted
    attempts: int = 3

    def __post_init__(self) -> None:
        if not (0 <= self.spread < 1 and 0 <= self.drift < 1 and (1 - self.spread) * (1 - self.drift) > 0.5):
            raise ValueError(
                f"spread {self.spread} and drift {self.drift} are too large: a ratio could be wrong by a factor of 2"
            )


RULES = {"cuda": TimingRules(spread=0.05, drift=0.05), "cpu": TimingRules(spread=0.2, drift=0.3)}


@dataclass(frozen=True)
class More:
    """A request for more samples. The caller then calls `judge` again with all samples."""

    samples: int


@dataclass(frozen=True)
class Retry:
    """A request to discard the samples and start over, because the machine was too noisy."""

    reason: Message


@dataclass(frozen=True)
class Final:
    """The final verdict on a workload. Ratios are relative to the baseline's rate."""

    outcome: Literal["passed", "failed", "inconclusive"]
    tier: Tier | None = None  # the highest tier that was reached
    median: float | None = None
    interval: tuple[float, float] | None = None  # contains the true median with a probability of at least COVERAGE
    used: int = 0  # number of samples
    note: Message = ""  # the reason for not passing, for the student


Verdict: TypeAlias = More | Retry | Final


def judge(
    samples: Sequence[Sample],
    *,
    opening: float,
    tolerance: float,
    thresholds: Tiers,
    rules: TimingRules,
    peak: float | None = None,
    bound: float | None = None,
    trouble: str = "",
    attempt: int = 1,
) -> Verdict:
    """Return the verdict on the samples of an attempt. Their order does not matter. A single wrong result is a failure.

    Args:
        opening: The rate of the baseline before the student's code was loaded.
        tolerance: The largest relative error of a correct result.
        thresholds: Ratios to the baseline's rate, or MFU if `peak` is given.
        peak: The device's peak rate in work units per second.
        bound: The device's highest rate, if it is known. Code that stays faster in all attempts is wrong.
        trouble: A reason not to trust this attempt, found in the state of the device.

    Raises:
        ValueError: If a rate or tolerance is negative or not finite.
    """
    check_positive(opening, "opening")
    if not 0 <= tolerance < math.inf:
        raise ValueError(f"tolerance is {tolerance}; it must be finite and not negative")
    if wrong := [sample.error for sample in samples if not sample.error <= tolerance]:
        worst = max(math.inf if math.isnan(error) else error for error in wrong)
        figures = {"error": f"{worst:.2g}", "tolerance": f"{tolerance:.2g}"}
        return Final(
            "failed",
            note=Text(
                "the result is wrong: its relative error is {error}, and rounding explains only {tolerance}", **figures
            ),
        )
    if trouble:
        return retry_or_end(trouble, attempt, rules)

    fit = [sample for sample in samples if not is_disturbed(sample, opening, rules)]
    if len(fit) >= rules.looks[0]:
        ceiling = max([opening, *(max(sample.before, sample.after) for sample in samples)])
        rate = median(sample.rate for sample in fit)
        if bound is not None and rate > IMPOSSIBLE * max(bound, ceiling):
            wrong_rate = Final("failed", note=blame_rate(rate / bound))
            return wrong_rate if attempt >= rules.attempts else Retry("an impossible rate")
        final = decide(fit, as_ratios(thresholds, peak, ceiling), rules)
        if final:
            return final
    if len(samples) >= MAX_SAMPLES_RATIO * (rules.batch if len(fit) < rules.batch else rules.last):
        reason = Text("only {fit} of {all} blocks were timed without disturbance", fit=len(fit), all=len(samples))
        return retry_or_end(reason, attempt, rules)
    return More(next(look for look in rules.looks if look > len(fit)) - len(fit))


def blame_rate(ratio: float) -> Text:
    """Return a note about a rate that is this many times the datasheet's."""
    return Text(
        "part of the work was not done while the clock ran: {ratio} times the datasheet's peak is impossible",
        ratio=f"{ratio:.2f}",
    )


def bound_on(device: Device | None, work: Rate, dtype: torch.dtype) -> float | None:
    """Return the datasheet's highest rate for a workload, or None if it is unknown or correct code can exceed it."""
    if device is None or work.has_shortcut:
        return None
    return {"FLOP": peak_on(device, dtype), "B": device.bandwidth}.get(work.unit)


def thresholds_on(
    device: Device | None, kind: Kind, workload: Workload, dtype: torch.dtype
) -> tuple[Tiers, float | None]:
    """Return the thresholds. Also return the peak if they are MFU values, or None if they are ratios."""
    if device is not None and device.mfu and workload.mfu is not None:
        return workload.mfu, peak_on(device, dtype)
    return workload.ratio[kind], None


def peak_on(device: Device | None, dtype: torch.dtype) -> float | None:
    """Return the datasheet's peak FLOP/s in this dtype (for float32 not in TF32, which is wrong), or None."""
    return None if device is None else device.peak(dtype)


def is_disturbed(sample: Sample, opening: float, rules: TimingRules) -> bool:
    """Return whether to ignore a sample because its two baseline rates differ too much or are both too low.

    The student's rate is not considered, so that students cannot influence which samples are used.
    """
    slower, faster = sorted((sample.before, sample.after))
    return slower < (1 - rules.spread) * faster or faster < (1 - rules.drift) * opening


def as_ratios(thresholds: Tiers, peak: float | None, ceiling: float) -> Tiers:
    """Convert the thresholds to ratios of the baseline's rate. `ceiling` is the highest measured rate of the baseline.

    A threshold in MFU is min(threshold, REACHABLE · C), where C = ceiling / peak. It is divided by C to obtain a ratio,
    which does not change if the machine is temporarily slow.
    """
    if peak is None:
        return thresholds
    scale = check_positive(peak, "peak") / ceiling
    return Tiers(min(thresholds.passing * scale, REACHABLE.passing), min(thresholds.full * scale, REACHABLE.full))


def decide(fit: Sequence[Sample], needed: Tiers, rules: TimingRules) -> Final | None:
    """Return the verdict, or None if a higher tier can still be reached.

    A tier is missed if the whole interval of ten samples is below it (or of twenty samples, if ten do not decide). So a
    tier is reached as soon as six samples are not below it, because the interval of twenty samples can then no longer
    be below it. Stopping early adds no error once the outcome of all samples is certain. Two rules stop even earlier:

    - Five of five samples reach a tier. This is wrong only if the next fifteen would all be below it, which happens to
      at most one student in 76,000.
    - Seven samples are all far below passing. By a sign test, ten and twenty samples fail at most 2.7% of students
      who reach a threshold. Seven samples add 0.3%, and only if noise slows half of a student's blocks to less than
      FAR but slows no baseline block.
    """
    ratios = sorted(sample.ratio for sample in fit)
    at_most = sorted(sample.ratio_at_most for sample in fit)
    low, high = median_interval(len(fit))
    middle = median(ratios)
    figures = {"ratio": f"{middle:.2f}", "needed": f"{needed.passing:.2f}"}
    missed = Final(
        "failed",
        median=middle,
        interval=(ratios[low], at_most[high]),
        used=len(fit),
        note=Text("{ratio} of plain torch's speed; {needed} is needed to pass", **figures),
    )
    if len(fit) >= FAR_SAMPLES and at_most[-1] < FAR * needed.passing:
        return missed
    allowed = median_interval(rules.batch if len(fit) <= rules.batch else rules.last)[1]
    enough = rules.last - median_interval(rules.last)[1]
    for tier in TIERS:
        below = bisect_left(at_most, getattr(needed, tier))
        if len(fit) - below >= min(enough, len(fit)):
            return replace(missed, outcome="passed", tier=tier, note="")
        if below <= allowed:
            return None
    return missed


def median_interval(count: int) -> tuple[int, int]:
    """Return two indices into `count` sorted values: with probability COVERAGE, these values enclose the true median.

    The number of values below the median is binomial, so [xⱼ, x₍ₙ₊₁₋ⱼ₎] misses it with a probability of exactly
    2 · P(Binomial(n, ½) < j). The extremes of FEWEST values cover slightly less. Raises ValueError for fewer values.
    """
    if count < FEWEST:
        raise ValueError(f"an interval needs at least {FEWEST} values, not {count}")
    missed, rank = 0, 0
    while 2 * (missed + math.comb(count, rank)) <= (1 - COVERAGE) * 2**count:
        missed += math.comb(count, rank)
        rank += 1
    rank = max(rank, 1)
    return rank - 1, count - rank


def retry_or_end(reason: Message, attempt: int, rules: TimingRules) -> Retry | Final:
    """Return a Retry or, after the last attempt, an inconclusive verdict, which costs no points."""
    if attempt < rules.attempts:
        return Retry(reason)
    return Final("inconclusive", note=blame_machine(reason))


def blame_machine(reason: object) -> Text:
    """Return a note about a fault of the machine, which costs no points."""
    return Text("{reason}; this is a problem of the grading machine, and you lose no points", reason=reason)


def points_on(kind: Kind, workload: Workload) -> Tiers:
    """Return the points that can be earned on this kind of device, or zeros if the run is a rehearsal."""
    return workload.points if kind in EARNING else Tiers(0.0, 0.0)


def score_of(tier: Tier | None, points: Tiers) -> float:
    """Return the points for a tier."""
    return getattr(points, tier) if tier else 0.0


def check_positive(value: float, name: str) -> float:
    """Return the value. Raises ValueError if it is not positive and finite."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {value}; it must be finite and positive")
    return value
