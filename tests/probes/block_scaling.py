"""Probes for block_scaling. They return values as float32, because tests compare numbers in any format."""

from typing import Any

import torch
from torch import Tensor

from torchkata import typed

SHOW_DTYPE = "values, scales = quantize(x, block, bits)\nvalues.dtype"


def plain(values: Any) -> Any:
    """Return values as float32, without the sign of zeros, or anything else as it is."""
    return values.float() + 0.0 if isinstance(values, Tensor) else values


@typed(
    lambda power=0: (
        f"values, scales = quantize(x{f' * 2.0**{power}' if power else ''}, block, bits)\nvalues.float(), scales"
    )
)
def quantize(assignment: Any, x: Tensor, block: int, bits: int, power: int = 0) -> dict[str, object]:
    """Return the values and the scales of x * 2**power, and the dtype of the values."""
    values, scales = assignment.block_scaling.quantize(x * 2.0**power, block, bits)
    return {"values": plain(values), "scales": scales, "dtype": str(getattr(values, "dtype", None))}


@typed(
    lambda bits: "\n".join(
        [*(["values = values.to(torch.float8_e4m3fn)"] if bits == 8 else []), "dequantize(values, scales)"]
    )
)
def dequantize(assignment: Any, values: Tensor, scales: Tensor, bits: int) -> object:
    """Call `dequantize` with values in the dtype of the format."""
    stored = values.to(torch.float8_e4m3fn) if bits == 8 else values
    return plain(assignment.block_scaling.dequantize(stored, scales))
