"""Selects the GPU for speed grading through the driver's NVML library, without initializing CUDA.

A process that forks must not initialize CUDA (see `grader/sandbox/inside/forks.py`), so torch's `is_available` and
`device_count` cannot be used here.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from grader.sandbox.launch import Gpu
from grader.speed.state import StateUnknown, open_nvml, query

MPS = "CUDA_MPS_PIPE_DIRECTORY"
VISIBLE = "CUDA_VISIBLE_DEVICES"
TAKEN = "another grader on this machine is timing on this device: wait, or set CUDA_VISIBLE_DEVICES to another one"
SPLIT = "the device is split into MIG instances, but speed needs the whole device: run nvidia-smi -mig 0"


def choose_gpu(nvml: Any = None) -> Gpu | str:
    """Return the GPU that CUDA would use first, or a message with the problem and a remedy."""
    if torch.version.hip is not None:
        return f"this torch ({torch.__version__}) is built for ROCm: install one built for CUDA (pytorch.org)"
    if torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built without CUDA: install one built for CUDA (pytorch.org)"
    if os.environ.get(MPS):
        return f"{MPS} is set, and MPS lets processes use a device at the same time: stop MPS and unset it"
    if os.environ.get(VISIBLE, "").startswith("MIG-"):
        return SPLIT
    try:
        with open_nvml(nvml) as nvml:
            return find_unsuitable_mode(nvml, handle := find_first_visible(nvml)) or Gpu(
                nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetMinorNumber(handle)
            )
    except StateUnknown as error:
        return f"no GPU found: {error}"


@contextmanager
def reserve(device: Gpu | None) -> Iterator[str]:
    """Reserve a device within this context, because only one grader may use a device for timing.

    Yield "" or the reason why the device is not free. The name of a socket serves as the lock, because the kernel frees
    it no matter how the process ends.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
        taken = ""
        if device is not None:
            try:
                lock.bind(f"\0torchkata-{device.uuid}")
            except OSError:
                taken = TAKEN
        yield taken


def find_first_visible(nvml: Any) -> Any:
    """Return the NVML handle of the device that CUDA would use. Raises StateUnknown if CUDA can't see any device."""
    visible = os.environ.get(VISIBLE)
    if visible == "" or nvml.nvmlDeviceGetCount() == 0:
        raise StateUnknown("there is no device, or CUDA_VISIBLE_DEVICES hides all devices")
    first = (visible or "0").partition(",")[0].strip()
    if first.isdecimal():
        return nvml.nvmlDeviceGetHandleByIndex(int(first))
    return nvml.nvmlDeviceGetHandleByUUID(first)


def find_unsuitable_mode(nvml: Any, handle: Any) -> str:
    """Return a message with a remedy if a mode of the device prevents two processes from using it, otherwise ""."""
    if nvml.nvmlDeviceGetComputeMode(handle) != nvml.NVML_COMPUTEMODE_DEFAULT:
        return "the device allows one process at a time, but two processes are needed: run nvidia-smi -c DEFAULT"
    mode = query(nvml, nvml.nvmlDeviceGetMigMode, handle)
    if mode is not None and mode[0]:
        return SPLIT
    return ""
