"""Probes of roofline; a dtype comes as its name."""

from typing import Any

import torch


def work(assignment: Any, operation: str, sizes: list[int], dtype: str) -> Any:
    """FLOPs and bytes: `operation` is relu, gelu, dot, matrix_vector or matrix_matrix."""
    return getattr(assignment.roofline, f"{operation}_work")(*sizes, getattr(torch, dtype))


def gives_a_tuple(assignment: Any, operation: str, sizes: list[int], dtype: str) -> bool:
    """Whether FLOPs and bytes come as a tuple."""
    return isinstance(work(assignment, operation, sizes, dtype), tuple)


def intensities(assignment: Any, flops: int, bytes_moved: int, flop_per_sec: float, bytes_per_sec: float) -> object:
    """Of an operation and of a device."""
    return {
        "arithmetic_intensity": assignment.roofline.arithmetic_intensity(flops, bytes_moved),
        "accelerator_intensity": assignment.roofline.accelerator_intensity(flop_per_sec, bytes_per_sec),
    }


def attainable(assignment: Any, intensity: float, accelerator: float) -> object:
    """The largest MFU."""
    return assignment.roofline.attainable_mfu(intensity, accelerator)


def predicted(
    assignment: Any, operation: str, sizes: list[int], dtype: str, flop_per_sec: float, bytes_per_sec: float
) -> object:
    """What bounds this operation on such a device, by the way from its work to both intensities."""
    kata = assignment.roofline
    intensity = kata.arithmetic_intensity(*work(assignment, operation, sizes, dtype))
    return kata.bound(intensity, kata.accelerator_intensity(flop_per_sec, bytes_per_sec))
