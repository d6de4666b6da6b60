"""Compute: what a device promises, and how much of it was reached."""

import torch


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    """The FLOP/s that a device's maker promises for matrix multiplications in this dtype.

    `device_name` is what `torch.cuda.get_device_name()` reports, to the letter; write the table into your code, do not
    ask the machine you are on. These are the figures to know, in TFLOP/s (1e12 FLOP/s), of the makers' datasheets:

        device                   bfloat16   float16   float32   float8
        Tesla T4                        –        65       8.1        –
        NVIDIA A100-SXM4-80GB         312       312      19.5        –
        NVIDIA L40S                   362       362      91.6      733
        NVIDIA H100 80GB HBM3       989.4     989.4        67     1979
        NVIDIA H100 PCIe              756       756        51     1513
        NVIDIA H200                 989.4     989.4        67     1979
        NVIDIA B200                  2250      2250        75     4500

    float8 is both torch.float8_e4m3fn and torch.float8_e5m2. Makers round: a figure counts to a hundredth, so that
    1979e12 / 2 and 67.5e12 will do for the H100.

    - Datasheets print figures "with sparsity", for matrices in which two of every four consecutive elements are zero
      (2:4 sparsity): twice the dense ones above. Yours are dense.
    - float32 is plain float32. TF32, which rounds the operands, is faster, and another figure.
    - Raise a ValueError for a name that is not there and for a dtype without a figure (– in the table, or no column,
      such as float64). An "NVIDIA H100 NVL" is another device than both H100s above, and so is a part of one, "NVIDIA
      H100 80GB HBM3 MIG 1g.10gb": compare whole names.

    Example:
        promised_flop_per_sec("NVIDIA H100 80GB HBM3", torch.bfloat16)     # 9.894e14
        promised_flop_per_sec("NVIDIA A100-SXM4-80GB", torch.float32)      # 1.95e13
        promised_flop_per_sec("NVIDIA H100", torch.bfloat16)               # ValueError

    Left to you: further devices under their own exact names.
    """
    raise NotImplementedError


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Model FLOPs utilization (MFU): the FLOP/s that were reached, as a share of those promised.

    The seconds count whatever they were spent on, communication and overhead included. More than 1 is not cut off: it
    tells that a figure is wrong. 0.5 and more is good for a whole training step.

    Example:
        mfu(flops=8.8e12, seconds=0.016, promised=989.4e12)     # 0.556
    """
    raise NotImplementedError
