"""Probes for roofline that receive dtypes by name."""

from typing import Any

import torch

from torchkata import typed


def format_work(operation: str, sizes: list[int], dtype: str) -> str:
    """Return the source code of the call."""
    return f"{operation}_work({', '.join(map(str, sizes))}, torch.{dtype})"


@typed(format_work)
def work(assignment: Any, operation: str, sizes: list[int], dtype: str) -> Any:
    """Call the student's work function for relu, gelu, dot, matrix_vector or matrix_matrix."""
    return getattr(assignment.roofline, f"{operation}_work")(*sizes, getattr(torch, dtype))


@typed(format_work)
def gives_a_tuple(assignment: Any, operation: str, sizes: list[int], dtype: str) -> bool:
    """Return True if the work function returns a tuple."""
    return isinstance(work(assignment, operation, sizes, dtype), tuple)


@typed("arithmetic_intensity(flops, bytes_moved)\naccelerator_intensity(flop_per_sec, bytes_per_sec)")
def intensities(assignment: Any, flops: int, bytes_moved: int, flop_per_sec: float, bytes_per_sec: float) -> object:
    """Call `arithmetic_intensity` and `accelerator_intensity`."""
    return {
        "arithmetic_intensity": assignment.roofline.arithmetic_intensity(flops, bytes_moved),
        "accelerator_intensity": assignment.roofline.accelerator_intensity(flop_per_sec, bytes_per_sec),
    }


@typed(
    lambda operation, sizes, dtype: "\n".join(
        [
            f"intensity = arithmetic_intensity(*{format_work(operation, sizes, dtype)})",
            "bound(intensity, accelerator_intensity(flop_per_sec, bytes_per_sec))",
        ]
    )
)
def predict_bound(
    assignment: Any, operation: str, sizes: list[int], dtype: str, flop_per_sec: float, bytes_per_sec: float
) -> object:
    """Call `bound` with the intensities of the given operation and device. Return the intensities, too."""
    kata = assignment.roofline
    intensity = kata.arithmetic_intensity(*work(assignment, operation, sizes, dtype))
    accelerator = kata.accelerator_intensity(flop_per_sec, bytes_per_sec)
    return {"bound": kata.bound(intensity, accelerator), "intensity": intensity, "accelerator": accelerator}
