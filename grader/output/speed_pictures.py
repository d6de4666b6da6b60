"""The picture of one submission's speed, `roofline.svg`, from its stored result."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from grader.output.pictures.roofline import Point, roofline
from grader.output.speed_score import speed_score
from grader.results.result import PerformanceResult, read, write_whole
from torchkata.course import course

if TYPE_CHECKING:
    from torchkata.speed.workload import Rate, Roof


def draw(folder: Path) -> None:
    """Write it beside `result.json` if it has points. Raises ResultError, OSError."""
    result = read(folder / "result.json")
    timed = [one for one in result.performance if one.workload in course().workloads]
    if points := list(points_of(timed, result.device)):
        peak, bandwidth = roof_of(timed, "compute"), roof_of(timed, "bandwidth")
        device = result.environment.get("device", result.device)
        write_whole(folder / "roofline.svg", roofline(points, peak, bandwidth, device).encode())


def points_of(timed: Sequence[PerformanceResult], kind: str) -> Iterator[Point]:
    """The workloads that have a place under the roofline, and whose result was right."""
    for one, work in rates_of(timed):
        flops = next((work.intensity(size) for name, size in work.sizes.items() if name == kind), None)
        if speed_score(one) is not None and flops is not None and one.rate:
            yield Point(one.workload, flops, one.rate * (flops if one.unit == "B" else 1.0))


def roof_of(timed: Sequence[PerformanceResult], roof: "Roof") -> float | None:
    """The rate of the baseline that measures this roof: what the device gave in that very run."""
    rates = (one.rate / one.ratio for one, work in rates_of(timed) if work.roof == roof and one.rate and one.ratio)
    return next(rates, None)


def rates_of(timed: Sequence[PerformanceResult]) -> Iterator[tuple[PerformanceResult, "Rate"]]:
    """The workloads that are measured as a rate; none on a machine without torch, which only reads results."""
    if find_spec("torch") is None:
        return
    from torchkata.speed.workload import Rate, work_of

    for one in timed:
        if one.workload in course().workloads and isinstance(work := work_of(one.workload), Rate):
            yield one, work
