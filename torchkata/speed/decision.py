"""From timed blocks to a verdict: one pure function, `judge`, for the grader and for `pytest -m gpu`.

A student's block is compared with the baseline's blocks just before and just after it. What slows the machine slows
all three; where it slows one baseline more than the other, their difference says by how much the comparison may be
off. So every sample is a range of ratios, and doubt, wherever it comes from, is decided for the student.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, TypeAlias

import torch

from torchkata.course import Tier, Tiers, Workload

from .datasheets import Device
from .sizes import Kind

TIERS: tuple[Tier, ...] = ("full", "passing")

EARNING: tuple[Kind, ...] = ("cuda",)  # on any other kind of device a run is a rehearsal, without points
COVERAGE = 0.95  # of the interval of six or more, at least; [x₂, x₉] of ten covers 0.979, [x₁, x₅] of five 0.938
FEWEST = 5  # samples that a verdict rests on
REACHABLE = Tiers(passing=0.75, full=0.9)  # of the baseline's rate: no MFU asks for more, whatever a device promises
RESTLESS = "blocks were timed undisturbed"  # says why, where the machine alone is to blame
RAW = 2  # samples taken for each one wanted, before the machine counts as too restless
OPENING_BLOCKS = 3  # of the baseline, before the first sample
FAR, FAR_SAMPLES = 0.8, 7  # so many samples, all of them below this share of what passes, need no more


@dataclass(frozen=True)
class Sample:
    """One block of a student's, in work units a second, between two of the baseline's. Raises ValueError."""

    rate: float
    before: float
    after: float
    error: float = 0.0  # relative, of what the block computed; NaN and infinity are wrong, too

    def __post_init__(self) -> None:
        positive(self.before, "before")
        positive(self.after, "after")
        if not 0 <= self.rate < math.inf:
            raise ValueError(f"rate is {self.rate}; it must be finite and not negative")

    @property
    def ratio(self) -> float:
        """Of the faster baseline: at least this is the student's."""
        return self.rate / max(self.before, self.after)

    @property
    def ratio_at_most(self) -> float:
        """Of the slower baseline: the student's block may have been slowed as much."""
        return self.rate / min(self.before, self.after)


@dataclass(frozen=True)
class Rules:
    """What a kind of device allows. Raises ValueError where a student at half a threshold could pass."""

    spread: float  # by which two neighbouring baselines may differ
    drift: float  # by which the baseline may fall below its opening rate
    batch: int = 10  # samples whose interval decides
    last: int = 20  # samples that end all doubt
    looks: tuple[int, ...] = tuple(range(FEWEST, 21))  # after so many it may end
    attempts: int = 3

    def __post_init__(self) -> None:
        if not (0 <= self.spread < 1 and 0 <= self.drift < 1 and (1 - self.spread) * (1 - self.drift) > 0.5):
            raise ValueError(f"spread {self.spread} and drift {self.drift} could double a ratio")


RULES = {"cuda": Rules(spread=0.05, drift=0.05), "cpu": Rules(spread=0.2, drift=0.3)}


@dataclass(frozen=True)
class More:
    """Take this many samples more and ask again, with all of them."""

    samples: int


@dataclass(frozen=True)
class Retry:
    """Forget these samples and begin anew: the machine was not fit."""

    reason: str


@dataclass(frozen=True)
class Final:
    """How a workload ended. Ratios are of the baseline's rate."""

    outcome: Literal["passed", "failed", "inconclusive"]
    tier: Tier | None = None  # the highest that was reached
    median: float | None = None
    interval: tuple[float, float] | None = None  # covers the true median in at least 95 % of all runs, see COVERAGE
    mfu: float | None = None  # what the median is of the peak, at the baseline's full rate
    used: int = 0  # samples that the median is of
    note: str = ""  # why it did not pass, for the student


Verdict: TypeAlias = More | Retry | Final


def judge(
    samples: Sequence[Sample],
    *,
    opening: float,
    tolerance: float,
    thresholds: Tiers,
    rules: Rules,
    peak: float | None = None,
    trouble: str = "",
    attempt: int = 1,
) -> Verdict:
    """What the samples of one attempt come to; their order does not matter. Raises ValueError for senseless arguments.

    `opening` is the baseline's rate before the student's code was loaded, `tolerance` the largest error that is right.
    `thresholds` are ratios of the baseline's rate or, with `peak` in work units a second, MFU. `trouble` is what the
    device's state says against the attempt (see `state`). A wrong result fails whatever else there is.
    """
    positive(opening, "opening")
    if not 0 <= tolerance < math.inf:
        raise ValueError(f"tolerance is {tolerance}; it must be finite and not negative")
    if wrong := [sample.error for sample in samples if not sample.error <= tolerance]:
        worst = max(math.inf if math.isnan(error) else error for error in wrong)
        return Final(
            "failed", note=f"the result is wrong: its relative error is {worst:.1e}, more than {tolerance:.1e}"
        )
    if trouble:
        return again(trouble, attempt, rules)

    fit = [sample for sample in samples if not disturbed(sample, opening, rules)]
    if len(fit) >= rules.looks[0]:
        ceiling = max([opening, *(max(sample.before, sample.after) for sample in samples)])
        final = decided(fit, as_ratios(thresholds, peak, ceiling), rules, mfu=peak and ceiling / peak)
        if final:
            return final
    if len(samples) >= RAW * (rules.batch if len(fit) < rules.batch else rules.last):
        return again(f"only {len(fit)} of {len(samples)} {RESTLESS}", attempt, rules)
    return More(next(look for look in rules.looks if look > len(fit)) - len(fit))


def compare_rates(
    student: Callable[[], tuple[float, float]],
    baseline: Callable[[], float],
    opening_rates: Sequence[float],
    *,
    tolerance: Callable[[], float],
    thresholds: Tiers,
    rules: Rules,
    peak: float | None = None,
    trouble: Callable[[], str] = str,
    attempt: int = 1,
) -> tuple[Final | Retry, float]:
    """Take turns with the baseline until `judge` has enough. Return its verdict and the baseline's highest rate.

    `student` does one block and returns its rate and its relative error, `baseline` does one and returns its rate.
    """
    rates, samples = [*opening_rates], list[Sample]()
    verdict: Verdict = More(rules.looks[0])
    wrong = student()[1]  # what a first block makes ready is not counted; whether it is right is
    while isinstance(verdict, More):
        for _ in range(verdict.samples):
            rate, error = student()
            rates.append(baseline())
            wrong = max(wrong, error)
            samples.append(Sample(rate, rates[-2], rates[-1], wrong))
            if not wrong <= tolerance():
                break
        verdict = judge(
            samples,
            opening=median(opening_rates),
            tolerance=tolerance(),
            thresholds=thresholds,
            rules=rules,
            peak=peak,
            trouble=trouble(),
            attempt=attempt,
        )
    return verdict, max(rates)


def block_length(once: float, block_seconds: float, least_seconds: float, most_calls: int) -> tuple[int, int]:
    """Return how many calls fill a block and how often it is repeated, for a call that takes `once` seconds."""
    calls = max(1, min(round(block_seconds / once), most_calls))
    return calls, max(1, math.ceil(least_seconds / (calls * once)))


def thresholds_on(
    device: Device | None, kind: Kind, workload: Workload, dtype: torch.dtype
) -> tuple[Tiers, float | None]:
    """Return shares of the baseline's rate and None; or of the peak, and the peak, where the device has these."""
    if device is not None and device.mfu and workload.mfu is not None:
        return workload.mfu, peak_on(device, dtype)
    return workload.ratio[kind], None


def peak_on(device: Device | None, dtype: torch.dtype) -> float | None:
    """Return the FLOP/s that the datasheet promises, for float32 in TF32; None if it says nothing."""
    return None if device is None else device.peak(dtype, tf32=True)


def by_thresholds(ratio: float, thresholds: Tiers, *, used: int = 1, note: str = "") -> Final:
    """Return the verdict on a share that is no rate; `note` says why it is below the highest tier."""
    tier = next((tier for tier in TIERS if ratio >= getattr(thresholds, tier)), None)
    outcome: Literal["passed", "failed"] = "passed" if tier else "failed"
    return Final(outcome, tier, median=ratio, used=used, note="" if tier == "full" else note)


def disturbed(sample: Sample, opening: float, rules: Rules) -> bool:
    """Whether a sample counts for nothing: its baselines disagree, or both are slow. The student's rate has no say."""
    slower, faster = sorted((sample.before, sample.after))
    return slower < (1 - rules.spread) * faster or faster < (1 - rules.drift) * opening


def as_ratios(thresholds: Tiers, peak: float | None, ceiling: float) -> Tiers:
    """The thresholds as ratios of the baseline's rate. `ceiling` is the highest rate that it showed.

    A threshold in MFU is min(threshold, REACHABLE · C) with C = ceiling / peak; dividing by C makes it a ratio, and
    free of whatever slows the machine for a while.
    """
    if peak is None:
        return thresholds
    scale = positive(peak, "peak") / ceiling
    return Tiers(min(thresholds.passing * scale, REACHABLE.passing), min(thresholds.full * scale, REACHABLE.full))


def decided(fit: Sequence[Sample], needed: Tiers, rules: Rules, *, mfu: float | None) -> Final | None:
    """The highest tier reached, or None while one that may be reached is open; `mfu` is that of a ratio of 1.

    A tier is missed where the whole interval of ten samples, in doubt of twenty, lies below it, and so reached once
    six are not below it: that of twenty can't lie below any more. A look that says early what ten or twenty must come
    to adds no error. Two looks go further. Five samples, all there are, that reach a tier: whoever gets it by these
    alone would have had fifteen below it next, which happens to one student in 76,000 at most. Seven samples that all
    lie far below passing: by a sign test ten and twenty fail at most 2.7 % of those who reach a threshold; seven add
    0.3 %, and that only where noise slows half of a student's blocks, and no baseline, to less than FAR.
    """
    ratios = sorted(sample.ratio for sample in fit)
    at_most = sorted(sample.ratio_at_most for sample in fit)
    low, high = median_interval(len(fit))
    middle = median(ratios)
    missed = Final(
        "failed",
        median=middle,
        interval=(ratios[low], at_most[high]),
        mfu=mfu and middle * mfu,
        used=len(fit),
        note=f"{middle:.2f} of the rate of plain torch beside it; {needed.passing:.2f} passes",
    )
    if len(fit) >= FAR_SAMPLES and at_most[-1] < FAR * needed.passing:
        return missed
    spared = median_interval(rules.batch if len(fit) <= rules.batch else rules.last)[1]
    enough = rules.last - median_interval(rules.last)[1]
    for tier in TIERS:
        below = bisect_left(at_most, getattr(needed, tier))
        if len(fit) - below >= min(enough, len(fit)):
            return replace(missed, outcome="passed", tier=tier, note="")
        if below <= spared:
            return None
    return missed


def median_interval(count: int) -> tuple[int, int]:
    """Indices, from 0, of two of `count` sorted values that enclose the true median with probability COVERAGE or more.

    The number of values below the median is binomial, so [xⱼ, x₍ₙ₊₁₋ⱼ₎] misses it with probability
    2 · P(Binomial(n, ½) < j), exactly. The extremes of FEWEST cover a little less. Raises ValueError for fewer.
    """
    if count < FEWEST:
        raise ValueError(f"{count} values have no interval; {FEWEST} are needed")
    missed, rank = 0, 0
    while 2 * (missed + math.comb(count, rank)) <= (1 - COVERAGE) * 2**count:
        missed += math.comb(count, rank)
        rank += 1
    rank = max(rank, 1)
    return rank - 1, count - rank


def again(reason: str, attempt: int, rules: Rules) -> Retry | Final:
    """Another attempt, or the end of them; the machine's fault costs nothing."""
    if attempt < rules.attempts:
        return Retry(reason)
    return Final("inconclusive", note=f"{reason}; this is not your fault, and costs nothing")


def points_on(kind: Kind, workload: Workload) -> Tiers:
    """What can be earned on this kind of device: nothing where a run is a rehearsal."""
    return workload.points if kind in EARNING else Tiers(0.0, 0.0)


def score_of(tier: Tier | None, points: Tiers) -> float:
    """The points that a tier earns."""
    return getattr(points, tier) if tier else 0.0


def positive(value: float, name: str) -> float:
    """The value. Raises ValueError unless it is finite and above 0."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {value}; it must be finite and positive")
    return value
