"""From a table of datasheets to FLOP/s, and the share of them that was reached."""

from collections.abc import Mapping
from typing import TypeAlias

Table: TypeAlias = Mapping[str, Mapping[str, float]]  # device → column (bf16, fp16, tf32, fp32, fp8) → dense TFLOP/s
Answer: TypeAlias = float | str | None  # FLOP/s; the name of the exception that is raised; nothing, as a mistake may


def promised_flop_per_sec(name: str, column: str, table: Table) -> Answer:
    """The dense figure of the device of exactly this name, in FLOP/s; a ValueError if there is none."""
    return table[name][column] * 1e12 if column in table.get(name, {}) else "ValueError"


def mfu(flops: float, seconds: float, promised: float) -> float:
    """FLOP/s over FLOP/s."""
    return flops / seconds / promised
