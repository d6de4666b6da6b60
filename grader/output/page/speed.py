"""Summarizes the speed of a class: for each workload, the medians, the thresholds, and how many points were earned."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from grader.output.page.student import SubmissionSummary
from grader.output.speed_score import SpeedScore, speed_score
from grader.results.result import PerformanceResult
from torchkata.course import Tiers, Workload, course


@dataclass(frozen=True)
class SpeedSummary:
    """The speed of a class in a workload on a device."""

    workload: Workload
    device: str
    median: SpeedScore  # the median share, with the median thresholds, since MFU thresholds vary with the baseline
    ratio: float  # median ratio to the baseline
    earned: dict[str, int]  # number of submissions by points earned: all, some, none
    unmeasured: int  # number of wrong results, crashes and machine faults
    rehearsed: bool


def summarize_speed(students: Sequence[SubmissionSummary]) -> list[SpeedSummary]:
    """Return a summary for each workload and device, in course order."""
    devices = sorted({one.device for one in students if one.result.performance})
    found = []
    for workload in course().workloads.values():
        for device in devices:
            results = [
                timed
                for one in students
                if one.device == device
                for timed in one.result.performance
                if timed.workload == workload.name and timed.outcome != "not_graded"
            ]
            measured = [(timed, score) for timed in results if (score := speed_score(timed)) is not None]
            if measured:
                found.append(summarize_workload(workload, device, measured, len(results) - len(measured)))
    return found


def summarize_workload(
    workload: Workload, device: str, measured: Sequence[tuple[PerformanceResult, SpeedScore]], unmeasured: int
) -> SpeedSummary:
    """Return the summary of the measured submissions."""
    scores = [score for _, score in measured]
    passing, full = (median(getattr(score.thresholds, tier) for score in scores) for tier in ("passing", "full"))
    counts = Counter(result.reached for result, _ in measured)
    return SpeedSummary(
        workload=workload,
        device=device,
        median=SpeedScore(scores[0].of, median(score.share for score in scores), Tiers(passing, full)),
        ratio=median(result.ratio or 0.0 for result, _ in measured),
        earned={reached: counts[reached] for reached in ("all", "some", "none")},
        unmeasured=unmeasured,
        rehearsed=any(result.rehearsed for result, _ in measured),
    )
