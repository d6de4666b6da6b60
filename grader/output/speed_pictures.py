"""The pictures of one submission's speed, `speed.svg` and `roofline.svg`, from its stored result."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.output.pictures.bars import bars
from grader.output.pictures.intensity import intensity
from grader.output.pictures.roofline import Point, roofline
from grader.output.speed_score import speed_score
from grader.results.result import PerformanceResult, read, write_whole
from torchkata.course import course
from torchkata.speed.sizes import SIZES


def draw(folder: Path) -> None:
    """Write both beside `result.json`; a roofline only where it has points. Raises ResultError, OSError."""
    result = read(folder / "result.json")
    timed = [one for one in result.performance if one.workload in course().workloads]
    device = result.environment.get("device", result.device)
    write_whole(folder / "speed.svg", bars(timed, device).encode())
    if points := list(points_of(timed, result.device)):
        peak, bandwidth = baseline(timed, "linear_forward"), baseline(timed, "sgd_step")
        write_whole(folder / "roofline.svg", roofline(points, peak, bandwidth, device).encode())


def points_of(timed: Sequence[PerformanceResult], kind: str) -> Iterator[Point]:
    """The workloads that have a place under the roofline, and whose result was right."""
    sizes = next((sizes for name, sizes in SIZES.items() if name == kind), {})
    for one in timed:
        flops = intensity(one.workload, sizes[one.workload]) if one.workload in sizes else None
        if speed_score(one) is not None and flops is not None and one.rate:
            yield Point(one.workload, flops, one.rate * (flops if one.unit == "B" else 1.0))


def baseline(timed: Sequence[PerformanceResult], workload: str) -> float | None:
    """The rate of the grader's own code beside a workload: what the device gave in that very run."""
    rates = (one.rate / one.ratio for one in timed if one.workload == workload and one.rate and one.ratio)
    return next(rates, None)
