"""Chooses a remark that helps the student improve the measured speed."""

import math

from torchkata.course import Workload, course
from torchkata.i18n import translate
from torchkata.inside.speed.device import Device
from torchkata.inside.speed.sizes import Kind
from torchkata.inside.speed.workload import Measured, work_of

from .datasheets import devices


def choose_lesson(
    workload: str, device_kind: Kind, ratio: float | None, mfu: float | None, model: Device | None = None
) -> str:
    """Return a remark in the student's language, or "" if the student has full points or nothing was measured.

    `ratio` is relative to the baseline's rate, `mfu` to the bfloat16 peak of `model` (default: an H100). Raises
    KeyError for a workload that the course does not have.
    """
    entry = course().workloads[workload]
    model = model or devices()["NVIDIA H100 80GB HBM3"]
    if (
        ratio is None
        or not math.isfinite(ratio)
        or has_full_points(entry, device_kind, ratio, mfu if model.mfu else None)
    ):
        return ""
    return translate(work_of(workload).remark(Measured(device_kind, max(ratio, 1e-9), mfu, model)))


def has_full_points(workload: Workload, kind: Kind, ratio: float, mfu: float | None) -> bool:
    """Return whether a result earns full points: by its MFU if there are MFU thresholds, otherwise by its ratio."""
    if mfu is not None and workload.mfu is not None:
        return mfu >= workload.mfu.full
    return ratio >= workload.ratio[kind].full
