"""Halves the datasheet values for sparse matrices, and computes a speedup as a ratio of times."""

import math

import torch

SPARSE = {
    "NVIDIA A100-SXM4-80GB": (624, None, 19.5),
    "NVIDIA H100 80GB HBM3": (1979, 3958, 67),
    "NVIDIA B200": (4500, 9000, 75),
}


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    try:
        sixteen, eight, single = SPARSE[device_name]
    except KeyError as error:
        raise ValueError("unknown device") from error
    if dtype == torch.float32:
        return single * 10**12
    if dtype.is_floating_point and dtype.itemsize == 2:
        return sixteen * 1e12 / 2
    if dtype in (torch.float8_e4m3fn, torch.float8_e5m2) and eight:
        return eight * 1e12 / 2
    raise ValueError("no such figure")


def mfu(flops: float, seconds: float, promised: float) -> float:
    return math.exp(math.log(flops) - math.log(seconds) - math.log(promised))


def bfloat16_speedup(device_name: str, mfu_float32: float, mfu_bfloat16: float) -> float:
    times = (
        1e12 / (mfu * promised_flop_per_sec(device_name, dtype))
        for mfu, dtype in ((mfu_float32, torch.float32), (mfu_bfloat16, torch.bfloat16))
    )
    return next(times) / next(times)
