"""Parses its table from text, and looks dtypes up by name."""

import torch

TABLE = """
NVIDIA A100-SXM4-80GB; bfloat16 312; float16 312; float32 19.5
NVIDIA H100 80GB HBM3; bfloat16 989.5; float16 989.5; float32 67.5; float8_e4m3fn 1979; float8_e5m2 1979
NVIDIA B200; bfloat16 2250; float16 2250; float32 75; float8_e4m3fn 4500; float8_e5m2 4500
"""
FIGURES = {}
for line in TABLE.strip().splitlines():
    name, *cells = line.split("; ")
    for cell in cells:
        column, figure = cell.split()
        FIGURES[name, f"torch.{column}"] = float(figure) * 1e12


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    figure = FIGURES.get((device_name, str(dtype)))
    if figure is None:
        raise ValueError(device_name, dtype)
    return figure


def mfu(flops: float, seconds: float, promised: float) -> float:
    flop_per_sec = flops / seconds
    return flop_per_sec / promised


def bfloat16_speedup(device_name: str, mfu_float32: float, mfu_bfloat16: float) -> float:
    fast, slow = (promised_flop_per_sec(device_name, dtype) for dtype in (torch.bfloat16, torch.float32))
    return (fast * mfu_bfloat16) / (slow * mfu_float32)
