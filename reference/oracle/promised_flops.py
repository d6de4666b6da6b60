"""From a row of a datasheet to FLOP/s, and the share of them that was reached."""

from collections.abc import Mapping


def promised_flop_per_sec(tflops: Mapping[str, float], column: str) -> float | None:
    """The dense figure of one precision (bf16, fp16, tf32, fp32, fp8), out of TFLOP/s; None if there is none."""
    return tflops[column] * 1e12 if column in tflops else None


def mfu(flops: float, seconds: float, promised: float) -> float:
    """FLOP/s over FLOP/s."""
    return flops / seconds / promised
