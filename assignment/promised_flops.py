"""Promised FLOP/s of a device, and model FLOPs utilization (MFU)."""

import torch


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    """Return the dense FLOP/s that the device's datasheet promises for matrix multiplications in this dtype.

    `torch.cuda.get_device_name()` returns the `device_name`. Copy this table, in TFLOP/s (1e12 FLOP/s), into your
    code; do not query the current machine:

        device                   bfloat16   float16   float32   float8
        Tesla T4                        –        65       8.1        –
        NVIDIA A100-SXM4-80GB         312       312      19.5        –
        NVIDIA L40S                   362       362      91.6      733
        NVIDIA H100 80GB HBM3       989.4     989.4        67     1979
        NVIDIA H100 PCIe              756       756        51     1513
        NVIDIA H200                 989.4     989.4        67     1979
        NVIDIA B200                  2250      2250        75     4500

    Details:
    - float8 stands for both torch.float8_e4m3fn and torch.float8_e5m2.
    - Values within 1 % of the table's are accepted.
    - These figures are dense. Datasheets also print figures "with sparsity" (two of every four consecutive elements are
      zero), which are twice as high.
    - float32 is not TF32, which is faster.
    - Raise a ValueError for an unknown name, and for a dtype without a figure in the table, such as float64.
    - Compare whole names: "NVIDIA H100 NVL" and "NVIDIA H100 80GB HBM3 MIG 1g.10gb" are other devices.

    Example:
        promised_flop_per_sec("NVIDIA H100 80GB HBM3", torch.bfloat16)     # 9.894e14
        promised_flop_per_sec("NVIDIA A100-SXM4-80GB", torch.float32)      # 1.95e13
        promised_flop_per_sec("NVIDIA H100", torch.bfloat16)               # ValueError

    Not specified (either is fine): further devices with their exact names.
    """
    raise NotImplementedError


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Return the MFU: the fraction of the promised FLOP/s that was reached.

    Do not clip at 1: an MFU above 1 means that one of the inputs is wrong. 0.5 is good for a training step.

    Example:
        mfu(flops=8.8e12, seconds=0.016, promised=989.4e12)     # 0.556
    """
    raise NotImplementedError
