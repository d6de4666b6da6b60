"""Probes for promised_flops that receive dtypes by name."""

from typing import Any

import torch

from torchkata import typed

from .attempts import describe_error, refusal


@typed(lambda device_name, dtype: f"promised_flop_per_sec({device_name!r}, torch.{dtype})")
def promised(assignment: Any, device_name: str, dtype: str) -> object:
    """Call `promised_flop_per_sec`."""
    return assignment.promised_flops.promised_flop_per_sec(device_name, getattr(torch, dtype))


@typed(lambda device_name, dtype: f"promised_flop_per_sec({device_name!r}, torch.{dtype})")
def call_without_value(assignment: Any, device_name: str, dtype: str) -> dict[str, object]:
    """Return the outcome of a call whose device or dtype is not in the table. A call with valid values must succeed."""
    promised_flop_per_sec = assignment.promised_flops.promised_flop_per_sec
    promised_flop_per_sec("NVIDIA B200", torch.float32)
    returned: list[object] = []
    caught: list[Exception] = []
    raised = refusal(lambda: returned.append(promised_flop_per_sec(device_name, getattr(torch, dtype))), caught)
    errors = [describe_error(error, assignment.promised_flops) for error in caught]
    return {"raised": raised, "returned": returned, "errors": errors}


@typed(lambda name, mfu_float32, mfu_bfloat16: f"bfloat16_speedup({name!r}, {mfu_float32!r}, {mfu_bfloat16!r})")
def speedup(assignment: Any, name: str, mfu_float32: float, mfu_bfloat16: float) -> object:
    """Call `bfloat16_speedup`."""
    return assignment.promised_flops.bfloat16_speedup(name, mfu_float32, mfu_bfloat16)
