"""Plots the speed of a class: the share that each submission reached, the thresholds, and a roofline of the medians."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import median

from grader.output.page.student import Student
from grader.output.speed_score import SpeedScore, speed_score
from grader.results.result import PerformanceResult
from torchkata.course import Workload, course

GOLDEN = 0.618  # spreads the dots vertically: the fractional parts of its multiples are evenly distributed
WIDTH = 1000.0  # width of a strip in SVG units
HEIGHT = 100.0


@dataclass(frozen=True)
class Strip:
    """A plot of a workload's speed on a device, with a dot per submission (as SVG paths) and the two thresholds."""

    workload: Workload
    device: str
    of: str
    dots: dict[str, str]  # keyed by points earned: all, some, none
    passing: float
    full: float
    median: float
    count: int
    unmeasured: int  # number of wrong results, crashes and machine faults
    longest: float  # share at the right edge
    rehearsed: bool

    def place(self, share: float) -> float:
        """Return the x coordinate that corresponds to a share."""
        return WIDTH * share / self.longest


def make_strips(students: Sequence[Student]) -> list[Strip]:
    """Return a strip for each workload and device, in course order."""
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
                found.append(make_strip(workload, device, measured, len(results) - len(measured)))
    return found


def make_strip(
    workload: Workload, device: str, measured: Sequence[tuple[PerformanceResult, SpeedScore]], unmeasured: int
) -> Strip:
    """Return a strip that shows the median thresholds, since thresholds relative to a peak vary with the baseline."""
    full = median(score.thresholds.full for _, score in measured)
    longest = max(1.0, full, *(score.share for _, score in measured))
    dots = {"all": "", "some": "", "none": ""}
    for number, (result, score) in enumerate(measured):
        x, y = WIDTH * score.share / longest, HEIGHT * (0.2 + 0.6 * (number * GOLDEN % 1))
        dots[result.reached] += f"M{x:.0f} {y:.0f}h0"
    return Strip(
        workload=workload,
        device=device,
        of=measured[0][1].of,
        dots=dots,
        passing=median(score.thresholds.passing for _, score in measured),
        full=full,
        median=median(score.share for _, score in measured),
        count=len(measured),
        unmeasured=unmeasured,
        longest=longest,
        rehearsed=any(result.rehearsed for result, _ in measured),
    )


def draw_rooflines(students: Sequence[Student]) -> Iterator[str]:
    """Yield a roofline (SVG) for each device, with the median of the class for each workload."""
    by_device: dict[tuple[str, str], list[list[PerformanceResult]]] = {}
    for one in students:
        if one.result.performance:
            by_device.setdefault((one.device, one.result.device), []).append(one.result.performance)
    if not by_device:
        return
    from grader.output.roofline import Point, draw_roofline, list_points, measured_roof  # matplotlib is slow to import

    for (device, kind), timed in sorted(by_device.items(), key=itemgetter(0)):
        points = [point for results in timed for point in list_points(results, kind)]
        middle = [
            Point(name, intensity, median(point.rate for point in points if point.workload == name))
            for name, intensity in {point.workload: point.intensity for point in points}.items()
        ]
        if middle:
            peaks = [rate for results in timed if (rate := measured_roof(results, "compute"))]
            bandwidths = [rate for results in timed if (rate := measured_roof(results, "bandwidth"))]
            peak, bandwidth = (median(rates) if rates else None for rates in (peaks, bandwidths))
            yield draw_roofline(middle, peak, bandwidth, device)
