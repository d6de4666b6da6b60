"""What a workload was judged by: the share that it reached, its interval, and the two thresholds."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

from grader.results.result import PerformanceResult
from torchkata.course import Tiers

Measure: TypeAlias = Literal["peak", "yardstick"]


@dataclass(frozen=True)
class Judged:
    """As shares of the yardstick's rate; or of the datasheet's peak (MFU) where that is known. 1 is all of it."""

    of: Measure
    share: float
    interval: tuple[float, float]
    tiers: Tiers


def judged(result: PerformanceResult) -> Judged | None:
    """What decided; None where nothing was measured or the result was wrong."""
    if result.ratio is None or result.asked is None:
        return None
    low, high = result.interval or (result.ratio, result.ratio)
    of: Measure = "yardstick"
    scale = 1.0
    if result.mfu is not None and result.ratio > 0 and isfinite(result.mfu / result.ratio):
        of, scale = "peak", result.mfu / result.ratio
    passing, full = (scale * tier for tier in result.asked)
    return Judged(of, scale * result.ratio, (scale * low, scale * high), Tiers(passing, full))
