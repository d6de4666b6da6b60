"""What a workload was judged by: the share that it reached, its interval, and the two thresholds."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from grader.result import PerformanceResult
from kata.catalog import Tiers, Workload
from kata.explain import Outcome

Measure: TypeAlias = Literal["peak", "yardstick"]


@dataclass(frozen=True)
class Judged:
    """The share of the datasheet's peak (MFU), or of the yardstick's rate, whichever decided; 1 is all of it."""

    of: Measure
    share: float
    interval: tuple[float, float]
    tiers: Tiers

    def says(self, outcome: Outcome) -> bool:
        """Whether the share is what this outcome came from; else the result was wrong, or the run ended early."""
        return outcome == "passed" or (outcome == "failed" and self.too_slow)

    @property
    def too_slow(self) -> bool:
        """Whether nothing in the interval reaches the lower threshold."""
        return self.interval[1] < self.tiers.passing


def judged(result: PerformanceResult, workload: Workload, kind: str) -> Judged | None:
    """What decided on a device of this kind (`cpu`, `cuda`); None where nothing was measured or asked.

    The interval holds the median of what was judged, and so says which of the two it was.
    """
    low, high = interval = result.interval or (0.0, 0.0)
    if result.mfu is not None and workload.mfu is not None and low <= result.mfu <= high:
        return Judged("peak", result.mfu, interval, workload.mfu)
    if result.ratio is None or kind not in workload.ratio:
        return None
    return Judged("yardstick", result.ratio, result.interval or (result.ratio, result.ratio), workload.ratio[kind])
