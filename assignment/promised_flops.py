"""The promised FLOP/s of a device, and model FLOPs utilization (MFU)."""

import torch


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    """Return the dense FLOP/s that the device's datasheet promises for matrix multiplications in this dtype.

    `device_name` is a name in the form returned by `torch.cuda.get_device_name()`. Do not query the current machine.
    Instead, copy this table, in TFLOP/s (1e12 FLOP/s), into your code:

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
    - These values are for dense matrices. Datasheets also list values "with sparsity" (two of every four consecutive
      elements are zero), which are twice as high.
    - The float32 values are not for TF32, which is faster.
    - Raise a ValueError for an unknown device name, and for a dtype that is not in the table, such as float64.
    - Compare whole names: "NVIDIA H100 NVL" and "NVIDIA H100 80GB HBM3 MIG 1g.10gb" are other devices.

    Example:
        promised_flop_per_sec("NVIDIA H100 80GB HBM3", torch.bfloat16)     # 9.894e14
        promised_flop_per_sec("NVIDIA A100-SXM4-80GB", torch.float32)      # 1.95e13
        promised_flop_per_sec("NVIDIA H100", torch.bfloat16)               # ValueError

    Not specified (either is fine): whether your code supports further devices, by their exact names.
    """
    raise NotImplementedError


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Return the MFU, that is, the fraction of the promised FLOP/s that was achieved.

    Do not clip the MFU at 1: a higher value means that one of the inputs is wrong. An MFU of 0.5 is good for a training
    step.

    Example:
        mfu(flops=8.8e12, seconds=0.016, promised=989.4e12)     # 0.556
    """
    raise NotImplementedError
