"""Probes of roofline; a dtype comes as its name."""

from typing import Any

import torch

from torchkata import typed


def typed_work(operation: str, sizes: list[int], dtype: str) -> str:
    """The call for the work of an operation."""
    return f"{operation}_work({', '.join(map(str, sizes))}, torch.{dtype})"


@typed(typed_work)
def work(assignment: Any, operation: str, sizes: list[int], dtype: str) -> Any:
    """FLOPs and bytes: `operation` is relu, gelu, dot, matrix_vector or matrix_matrix."""
    return getattr(assignment.roofline, f"{operation}_work")(*sizes, getattr(torch, dtype))


@typed(typed_work)
def gives_a_tuple(assignment: Any, operation: str, sizes: list[int], dtype: str) -> bool:
    """Whether FLOPs and bytes come as a tuple."""
    return isinstance(work(assignment, operation, sizes, dtype), tuple)


@typed("arithmetic_intensity(flops, bytes_moved)\naccelerator_intensity(flop_per_sec, bytes_per_sec)")
def intensities(assignment: Any, flops: int, bytes_moved: int, flop_per_sec: float, bytes_per_sec: float) -> object:
    """Of an operation and of a device."""
    return {
        "arithmetic_intensity": assignment.roofline.arithmetic_intensity(flops, bytes_moved),
        "accelerator_intensity": assignment.roofline.accelerator_intensity(flop_per_sec, bytes_per_sec),
    }


@typed("attainable_mfu(intensity, accelerator)")
def attainable(assignment: Any, intensity: float, accelerator: float) -> object:
    """The largest MFU."""
    return assignment.roofline.attainable_mfu(intensity, accelerator)


@typed(
    lambda operation, sizes, dtype: "\n".join(
        [
            f"intensity = arithmetic_intensity(*{typed_work(operation, sizes, dtype)})",
            "bound(intensity, accelerator_intensity(flop_per_sec, bytes_per_sec))",
        ]
    )
)
def predicted(
    assignment: Any, operation: str, sizes: list[int], dtype: str, flop_per_sec: float, bytes_per_sec: float
) -> object:
    """What bounds this operation on such a device, by the way from its work to both intensities."""
    kata = assignment.roofline
    intensity = kata.arithmetic_intensity(*work(assignment, operation, sizes, dtype))
    return kata.bound(intensity, kata.accelerator_intensity(flop_per_sec, bytes_per_sec))
