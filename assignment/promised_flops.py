"""The promised FLOP/s of a device, and model FLOPs utilization (MFU)."""

import torch


def promised_flop_per_sec(device_name: str, dtype: torch.dtype) -> float:
    """Return the dense FLOP/s that the device's datasheet promises for matrix multiplications in this dtype.

    The datasheets list, in TFLOP/s (1e12 FLOP/s):

                          NVIDIA A100-SXM4-80GB   NVIDIA H100 80GB HBM3   NVIDIA B200
        FP32                               19.5                      67            75
        TF32 *                              312                     989          2250
        BFLOAT16, FP16 *                    624                    1979          4500
        FP8 *                                 –                    3958          9000

        * with sparsity: in each matrix, two of every four consecutive elements are zero. Dense matrices, which have
          no such zeros, are multiplied at half this rate.

    `device_name` is a name that `torch.cuda.get_device_name()` can return, as in the table. Do not query the current
    machine.

    Details:
    - TF32 is not float32: it rounds the operands. FP8 stands for both torch.float8_e4m3fn and torch.float8_e5m2.
    - Raise a ValueError for an unknown device name, and for a dtype that has no value in the table for this device,
      such as float64.
    - Compare whole names: "NVIDIA H100 NVL" and "NVIDIA H100 80GB HBM3 MIG 1g.10gb" are different devices.

    Example:
        promised_flop_per_sec("NVIDIA A100-SXM4-80GB", torch.float32)      # 1.95e13
        promised_flop_per_sec("NVIDIA H100", torch.bfloat16)               # ValueError

    Not specified (any choice is fine): whether your code supports further devices, by their exact names.
    """
    raise NotImplementedError


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Return the MFU, that is, the fraction of the promised FLOP/s that was achieved.

    `flops` is what the model needs: communication and overhead are not counted, so time spent on them lowers the MFU.
    Do not clip the MFU at 1: a higher value means that one of the inputs is wrong. An MFU of 0.5 is good for a training
    step.

    Example:
        mfu(flops=8.8e12, seconds=0.016, promised=989.5e12)     # 0.556
    """
    raise NotImplementedError


def bfloat16_speedup(device_name: str, mfu_float32: float, mfu_bfloat16: float) -> float:
    """Return the speedup of a training step in bfloat16 relative to float32 on this device.

    The step performs the same FLOPs in both dtypes. The MFU in each dtype is relative to the FLOP/s that the datasheet
    promises for this dtype. Is a step with a lower MFU always slower?

    Example:
        bfloat16_speedup("NVIDIA A100-SXM4-80GB", mfu_float32=0.5, mfu_bfloat16=0.5)     # 16
    """
    raise NotImplementedError
