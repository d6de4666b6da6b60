"""Promised FLOP/s and MFU."""

import torch

HALF = (torch.bfloat16, torch.float16)
FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)


def make_row(half: float, single: float, eight: float | None = None) -> dict[torch.dtype, float]:
    """Convert dense TFLOP/s to a dict that maps dtypes to FLOP/s."""
    promised = dict.fromkeys(HALF, half * 1e12) | {torch.float32: single * 1e12}
    return promised if eight is None else promised | dict.fromkeys(FLOAT8, eight * 1e12)


PROMISED = {
    "NVIDIA A100-SXM4-80GB": make_row(312, 19.5),
    "NVIDIA H100 80GB HBM3": make_row(989.4, 67, 1979),
    "NVIDIA B200": make_row(2250, 75, 4500),
}


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    """Look up the device's peak throughput for dense matrix multiplication."""
    if device_name not in PROMISED:
        raise ValueError(f"no values for a device named {device_name!r}")
    if dtype not in PROMISED[device_name]:
        raise ValueError(f"no value for {dtype} on {device_name}")
    return PROMISED[device_name][dtype]


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide the achieved FLOP/s by the promised FLOP/s."""
    return flops / seconds / promised


def bfloat16_speedup(device_name: str, mfu_float32: float, mfu_bfloat16: float) -> float:
    """Divide the FLOP/s that are achieved in bfloat16 by those in float32."""
    achieved = mfu_bfloat16 * promised_flop_per_sec(device_name, torch.bfloat16)
    return achieved / (mfu_float32 * promised_flop_per_sec(device_name, torch.float32))
