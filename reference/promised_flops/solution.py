"""What a device promises, and how much of it was reached."""

import torch

HALF = (torch.bfloat16, torch.float16)
FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)


def figures(half: float, single: float, eight: float | None = None) -> dict[torch.dtype, float]:
    """Dense TFLOP/s by dtype, as FLOP/s."""
    promised = dict.fromkeys(HALF, half * 1e12) | {torch.float32: single * 1e12}
    return promised if eight is None else promised | dict.fromkeys(FLOAT8, eight * 1e12)


PROMISED = {
    "Tesla T4": {torch.float16: 65e12, torch.float32: 8.1e12},
    "NVIDIA A100-SXM4-80GB": figures(312, 19.5),
    "NVIDIA L40S": figures(362, 91.6, 733),
    "NVIDIA H100 80GB HBM3": figures(989.4, 67, 1979),
    "NVIDIA H100 PCIe": figures(756, 51, 1513),
    "NVIDIA H200": figures(989.4, 67, 1979),
    "NVIDIA B200": figures(2250, 75, 4500),
}


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    """The dense figure of the datasheet."""
    if device_name not in PROMISED:
        raise ValueError(f"no figures for a device named {device_name!r}")
    if dtype not in PROMISED[device_name]:
        raise ValueError(f"no figure for {dtype} on {device_name}")
    return PROMISED[device_name][dtype]


def mfu(flops: float, seconds: float, promised: float) -> float:
    """FLOP/s reached, over FLOP/s promised."""
    return flops / seconds / promised
