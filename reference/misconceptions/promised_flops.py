"""Mistakes in reading a datasheet."""

from collections.abc import Mapping

from reference.misconceptions import instead_of
from reference.oracle import promised_flops as oracle

TENSOR_CORES = ("bf16", "fp16", "tf32", "fp8")


@instead_of(oracle.promised_flop_per_sec, "the figure is the one with sparsity, twice the dense one")
def with_sparsity(tflops: Mapping[str, float], column: str) -> float | None:
    """As printed large on the datasheet; plain float32 has no such figure."""
    factor = 2 if column in TENSOR_CORES else 1
    return factor * tflops[column] * 1e12 if column in tflops else None


@instead_of(oracle.promised_flop_per_sec, "the figure is in TFLOP/s, not in FLOP/s")
def in_tera(tflops: Mapping[str, float], column: str) -> float | None:
    """Without 1e12."""
    return tflops.get(column)


@instead_of(oracle.promised_flop_per_sec, "float32 has the figure of TF32")
def tf32(tflops: Mapping[str, float], column: str) -> float | None:
    """As if the operands were rounded."""
    column = "tf32" if column == "fp32" and "tf32" in tflops else column
    return tflops[column] * 1e12 if column in tflops else None


@instead_of(oracle.promised_flop_per_sec, "every dtype has the figure of the 16-bit ones")
def sixteen_bit(tflops: Mapping[str, float], column: str) -> float | None:
    """The dtype is not looked at."""
    return tflops["fp16"] * 1e12


@instead_of(oracle.mfu, "it is upside down: promised over reached")
def upside_down(flops: float, seconds: float, promised: float) -> float:
    """How many times slower."""
    return promised * seconds / flops


@instead_of(oracle.mfu, "what is more than 1 is cut off")
def cut_off(flops: float, seconds: float, promised: float) -> float:
    """Hides a wrong figure."""
    return min(1.0, flops / seconds / promised)


@instead_of(oracle.mfu, "the seconds multiply where they should divide")
def times_seconds(flops: float, seconds: float, promised: float) -> float:
    """FLOPs times seconds are no speed."""
    return flops * seconds / promised
