"""What a measured figure teaches: one short remark, chosen by how far it is from what is possible."""

import math

from torchkata.course import Workload, course
from torchkata.i18n.notes import translate

from .datasheets import Device, devices
from .sizes import Kind
from .workload import Measured, work_of


def lesson(
    workload: str, device_kind: Kind, ratio: float | None, mfu: float | None, model: Device | None = None
) -> str:
    """One remark that a student can act on, or '' where all points were reached or nothing was measured.

    `ratio` is of the baseline's rate and `mfu` of the peak for bfloat16 on `model`, a device of the table, an H100
    unless given. Raises KeyError for a workload that the course does not have.
    """
    entry = course().workloads[workload]
    model = model or devices()["NVIDIA H100 80GB HBM3"]
    if ratio is None or not math.isfinite(ratio) or reached_all(entry, device_kind, ratio, mfu if model.mfu else None):
        return ""
    return translate(work_of(workload).remark(Measured(device_kind, max(ratio, 1e-9), mfu, model)))


def reached_all(workload: Workload, kind: Kind, ratio: float, mfu: float | None) -> bool:
    """Whether the highest tier was reached, by MFU where that counts, else by the ratio."""
    if mfu is not None and workload.mfu is not None:
        return mfu >= workload.mfu.full
    return ratio >= workload.ratio[kind].full
