"""Chooses the one GPU that speed is graded on, and says what makes it unfit; asks the driver (NVML) and starts no CUDA.

Whatever forks must not start CUDA (`grader/sandbox/forks.py`), so neither torch's `is_available` nor its device count
can be asked here.
"""

import os
from typing import Any

import torch

from grader.sandbox.launch import Gpu
from grader.speed.state import StateUnknown, opened, told

MPS = "CUDA_MPS_PIPE_DIRECTORY"
VISIBLE = "CUDA_VISIBLE_DEVICES"
SPLIT = "the device is split into instances (MIG), which are no whole device: nvidia-smi -mig 0"


def chosen(nvml: Any = None) -> Gpu | str:
    """The first device of CUDA_VISIBLE_DEVICES, else the driver's first; or why none can be used, and the remedy."""
    if torch.version.hip is not None:
        return f"this torch ({torch.__version__}) is built for ROCm: install one that is built for CUDA (pytorch.org)"
    if torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built without CUDA: install one that is built for it (pytorch.org)"
    if os.environ.get(MPS):
        return f"{MPS} is set: two processes under MPS share a device at the same time; stop MPS, and unset it"
    if os.environ.get(VISIBLE, "").startswith("MIG-"):
        return SPLIT
    try:
        with opened(nvml) as nvml:
            return unfit(nvml, handle := first_visible(nvml)) or Gpu(
                as_text(nvml.nvmlDeviceGetUUID(handle)), nvml.nvmlDeviceGetMinorNumber(handle)
            )
    except StateUnknown as error:
        return f"no GPU can be asked: {error}"


def first_visible(nvml: Any) -> Any:
    """The device that CUDA would take, as NVML knows it. Raises StateUnknown."""
    visible = os.environ.get(VISIBLE)
    if visible == "" or nvml.nvmlDeviceGetCount() == 0:
        raise StateUnknown("there is none, or CUDA_VISIBLE_DEVICES hides all")
    first = (visible or "0").partition(",")[0].strip()
    if first.isdecimal():
        return nvml.nvmlDeviceGetHandleByIndex(int(first))
    return nvml.nvmlDeviceGetHandleByUUID(first)


def unfit(nvml: Any, handle: Any) -> str:
    """What about a device's modes rules out timing two processes on it, and the remedy; "" for nothing."""
    if nvml.nvmlDeviceGetComputeMode(handle) != nvml.NVML_COMPUTEMODE_DEFAULT:
        return "the device lets one process compute at a time, and two are needed: nvidia-smi -c DEFAULT"
    mode = told(nvml, nvml.nvmlDeviceGetMigMode, handle)
    if mode is not None and mode[0]:
        return SPLIT
    return ""


def as_text(text: str | bytes) -> str:
    """Older versions of NVML's package answer in bytes."""
    return text.decode() if isinstance(text, bytes) else text
