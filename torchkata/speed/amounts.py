"""How much work a workload's call is, for a student and for the baseline, from shapes alone."""

from dataclasses import dataclass

import torch

from .accounting import adagrad_step_bytes, cruncher_step_flops, linear_flops, sgd_step_bytes, training_peak_bytes
from .layout import fields
from .sizes import Size

UNITS = {
    "linear_forward": "FLOP",
    "cruncher_step": "FLOP",
    "train_throughput": "FLOP",
    "sgd_step": "B",
    "adagrad_step": "B",
    "get_batch_throughput": "tokens",
}


@dataclass(frozen=True)
class Amount:
    """Of one call, in the workload's unit."""

    student: float
    baseline: float


def amount(workload: str, size: Size) -> Amount:
    """Of a workload that is measured as a rate. Raises ValueError for any other."""
    dtype: torch.dtype = getattr(torch, size.dtype)
    match workload:
        case "linear_forward":
            return same(linear_flops(size.batch, size.width, size.outputs))
        case "cruncher_step" | "train_throughput":
            return same(cruncher_step_flops(size.batch, size.width, size.layers))
        case "sgd_step":
            return same(sgd_step_bytes(size.parameters, dtype))
        case "adagrad_step":  # its baseline is SGD's
            return Amount(adagrad_step_bytes(size.parameters, dtype), sgd_step_bytes(size.parameters, dtype))
        case "get_batch_throughput":
            return same(size.batch * size.sequence)
    raise ValueError(f"{workload} is no rate")


def same(work: float) -> Amount:
    """For both."""
    return Amount(work, work)


def own_peak_bytes(size: Size) -> int:
    """The most bytes that a training run must hold beside its batches, which are given to it."""
    dtype: torch.dtype = getattr(torch, size.dtype)
    given = fields("peak_memory", size, 1)
    whole = training_peak_bytes(size.batch, size.width, size.layers, dtype)
    return whole - given["x"].bytes - given["target"].bytes
