"""Uses `match`, supports an additional device, and raises a subclass of ValueError."""

import torch
from torch import bfloat16, float8_e4m3fn, float8_e5m2, float16, float32


class NoFigureError(ValueError):
    """Raised if the datasheet has no value."""


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    columns = {bfloat16: 0, float16: 1, float32: 2, float8_e4m3fn: 3, float8_e5m2: 3}
    match device_name:
        case "NVIDIA A100-SXM4-80GB" | "NVIDIA A100-SXM4-40GB":
            row = [312, 312, 19.5, None]
        case "NVIDIA H100 80GB HBM3" | "NVIDIA H200":
            row = [989.4, 989.4, 67, 1979]
        case "NVIDIA B200":
            row = [2250, 2250, 75, 4500]
        case _:
            raise NoFigureError(device_name)
    figure = row[columns[dtype]] if dtype in columns else None
    if figure is None:
        raise NoFigureError(dtype)
    return float(figure) * 1e12


def mfu(flops: float, seconds: float, promised: float) -> float:
    return flops / (seconds * promised)


def bfloat16_speedup(device_name: str, mfu_float32: float, mfu_bfloat16: float) -> float:
    ratio = promised_flop_per_sec(device_name, bfloat16) / promised_flop_per_sec(device_name, float32)
    return ratio * mfu_bfloat16 / mfu_float32
