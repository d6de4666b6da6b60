"""The speed of a class: every share beside the thresholds, and under the roofline of each device the median."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from grader.output.page.student import Student
from grader.output.speed_score import SpeedScore, speed_score
from grader.results.result import PerformanceResult
from torchkata.course import Workload, course

GOLDEN = 0.618  # multiples of it, without their whole part, lie apart from each other
WIDE = 1000.0  # units of a strip's drawing
TALL = 100.0


@dataclass(frozen=True)
class Strip:
    """One workload on one device: a dot for each submission, as an SVG's paths by what was earned; two thresholds."""

    workload: Workload
    device: str
    of: str
    dots: dict[str, str]  # all, some, none
    passing: float
    full: float
    median: float
    count: int
    unmeasured: int  # wrong, crashed, or the machine's fault
    longest: float  # share at the right end
    rehearsed: bool

    def place(self, share: float) -> float:
        """How far to the right a share is drawn."""
        return WIDE * share / self.longest


def strips(students: Sequence[Student]) -> list[Strip]:
    """A strip for each workload and device, in the course's order."""
    devices = sorted({one.device for one in students if one.timed})
    found = []
    for workload in course().workloads.values():
        for device in devices:
            results = [
                timed
                for one in students
                if one.device == device
                for timed in one.timed
                if timed.workload == workload.name and timed.outcome != "not_graded"
            ]
            shown = [(timed, share) for timed in results if (share := speed_score(timed)) is not None]
            if shown:
                found.append(strip(workload, device, shown, len(results) - len(shown)))
    return found


def strip(
    workload: Workload, device: str, shown: Sequence[tuple[PerformanceResult, SpeedScore]], unmeasured: int
) -> Strip:
    """The drawing of one row; thresholds in shares of a peak vary a little with the baseline, so their median."""
    full = median(score.thresholds.full for _, score in shown)
    longest = max(1.0, full, *(score.share for _, score in shown))
    dots = {"all": "", "some": "", "none": ""}
    for number, (result, score) in enumerate(shown):
        x, y = WIDE * score.share / longest, TALL * (0.2 + 0.6 * (number * GOLDEN % 1))
        dots[result.reached] += f"M{x:.0f} {y:.0f}h0"
    return Strip(
        workload=workload,
        device=device,
        of=shown[0][1].of,
        dots=dots,
        passing=median(score.thresholds.passing for _, score in shown),
        full=full,
        median=median(score.share for _, score in shown),
        count=len(shown),
        unmeasured=unmeasured,
        longest=longest,
        rehearsed=any(result.rehearsed for result, _ in shown),
    )


def roofs(students: Sequence[Student]) -> Iterator[str]:
    """A roofline for each device, as an SVG: the median of the class for each workload that has a place there."""
    devices = sorted({(one.device, one.kind) for one in students if one.timed})
    if not devices:
        return
    from grader.output.pictures.roofline import Point, roofline
    from grader.output.speed_pictures import points_of, roof_of  # matplotlib is slow to import

    for device, kind in devices:
        timed = [one.timed for one in students if (one.device, one.kind) == (device, kind) and one.timed]
        points = [point for results in timed for point in points_of(results, kind)]
        middle = [
            Point(name, intensity, median(one.rate for one in points if one.workload == name))
            for name, intensity in {one.workload: one.intensity for one in points}.items()
        ]
        if middle:
            peaks = [rate for results in timed if (rate := roof_of(results, "compute"))]
            bandwidths = [rate for results in timed if (rate := roof_of(results, "bandwidth"))]
            yield roofline(middle, median(peaks) if peaks else None, median(bandwidths) if bandwidths else None, device)
