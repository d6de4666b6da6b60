"""Computes the speed score of a workload: the share of the reference speed that it reached, and two thresholds."""

from dataclasses import dataclass
from sys import float_info
from typing import Literal, TypeAlias

from grader.results.result import PerformanceResult
from torchkata.course import Tiers
from torchkata.i18n import translate_for_class as _

Measure: TypeAlias = Literal["peak", "baseline"]


@dataclass(frozen=True)
class SpeedScore:
    """The speed as a fraction of the datasheet's peak (MFU) if known, otherwise of the baseline's rate."""

    of: Measure
    share: float
    thresholds: Tiers

    @property
    def whole(self) -> str:
        """The name of what the share refers to, in the language of the class."""
        return _("peak" if self.of == "peak" else "baseline")


def speed_score(result: PerformanceResult) -> SpeedScore | None:
    """Return the score of a workload, or None if it was not measured or the result was wrong."""
    if result.ratio is None or result.thresholds is None:
        return None
    of: Measure = "baseline"
    scale = 1.0
    if (
        result.mfu is not None and result.ratio > float_info.epsilon
    ):  # for smaller ratios, the division would not be meaningful
        of, scale = "peak", result.mfu / result.ratio
    passing, full = (scale * tier for tier in result.thresholds)
    return SpeedScore(of, scale * result.ratio, Tiers(passing, full))
