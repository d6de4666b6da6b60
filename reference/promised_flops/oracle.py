"""Oracle for promised_flops that takes the table of datasheets as an argument."""

from collections.abc import Mapping
from typing import TypeAlias

Table: TypeAlias = Mapping[str, Mapping[str, float]]  # device → column (bf16, fp16, tf32, fp32, fp8) → dense TFLOP/s
Answer: TypeAlias = float | str | None  # FLOP/s, the name of an exception, or None for a mistaken answer


def promised_flop_per_sec(name: str, column: str, table: Table) -> Answer:
    """Return the dense FLOP/s of the device whose name matches exactly, or "ValueError"."""
    return table[name][column] * 1e12 if column in table.get(name, {}) else "ValueError"


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide the achieved FLOP/s by the promised FLOP/s."""
    return flops / seconds / promised


def speedup(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table) -> float:
    """Divide the achieved FLOP/s in bfloat16 by those in float32."""
    row = table[name]
    return mfu_bfloat16 * row["bf16"] / (mfu_float32 * row["fp32"])
