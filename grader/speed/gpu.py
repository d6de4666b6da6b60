"""Selects the GPU for speed grading through the driver's NVML library, without initializing CUDA.

A process that forks must not initialize CUDA (see `grader/sandbox/inside/forks.py`), so torch's `is_available` and
`device_count` cannot be used here.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from grader.sandbox.mounts import Gpu
from grader.speed.state import StateUnknown, open_nvml, query

MPS = "CUDA_MPS_PIPE_DIRECTORY"
VISIBLE = "CUDA_VISIBLE_DEVICES"
TAKEN = "another grader on this machine is timing on this device: wait, or set CUDA_VISIBLE_DEVICES to another one"
ORDER = "CUDA_DEVICE_ORDER"
WSL = Path("/dev/dxg")
NO_FILES = "this is WSL, which has no device files for a sandbox: grade on Linux itself (students: `pytest -m gpu`)"
VIRTUAL = "the device is a virtual GPU, whose speed depends on its other users: grade on a whole device"
WORD_BITS = 64
ASK_SECONDS = 120.0
SPLIT = "the device is split into MIG instances, but speed needs the whole device: run nvidia-smi -mig 0"


def ask_cuda() -> str:
    """Return the UUID of the device that CUDA uses first, found in another process, or "" if that fails."""
    code = "import torch; print(f'GPU-{torch.cuda.get_device_properties(0).uuid}')"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=ASK_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.strip()


def choose_gpu(nvml: Any = None, ask: Callable[[], str] = ask_cuda) -> Gpu | str:
    """Return the GPU that CUDA would use first, or a message with the problem and a remedy."""
    if torch.version.hip is not None:
        return f"this torch ({torch.__version__}) is built for ROCm: install one built for CUDA (pytorch.org)"
    if torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built without CUDA: install one built for CUDA (pytorch.org)"
    if os.environ.get(MPS):
        return f"{MPS} is set, and MPS lets processes use a device at the same time: stop MPS and unset it"
    if os.environ.get(VISIBLE, "").startswith("MIG-"):
        return SPLIT
    if WSL.exists():
        return NO_FILES
    try:
        with open_nvml(nvml) as nvml:
            handle = find_first_visible(nvml, ask)
            minor = query(nvml, nvml.nvmlDeviceGetMinorNumber, handle)
            if minor is None:
                return NO_FILES
            near = find_near_cores(nvml, handle)
            return find_unsuitable_mode(nvml, handle) or Gpu(nvml.nvmlDeviceGetUUID(handle), minor, near)
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


def find_first_visible(nvml: Any, ask: Callable[[], str]) -> Any:
    """Return the NVML handle of the device that CUDA would use. Raises StateUnknown if CUDA can't see any device.

    NVML numbers devices by their place on the bus. By default, CUDA numbers different devices by speed, so it is asked.
    """
    visible, handles = os.environ.get(VISIBLE), [*list_permitted(nvml)]
    if visible == "" or not handles:
        raise StateUnknown("there is no device, or CUDA_VISIBLE_DEVICES hides all devices")
    first = (visible or "0").partition(",")[0].strip()
    differ = len({nvml.nvmlDeviceGetName(handle) for handle in handles}) > 1
    if first.isdecimal() and differ and os.environ.get(ORDER) != "PCI_BUS_ID":
        first = ask() or f"unknown: set {ORDER}=PCI_BUS_ID"
    if first.isdecimal():
        found = handles[int(first) :][:1]
    else:  # CUDA accepts the beginning of a UUID, too
        found = [handle for handle in handles if nvml.nvmlDeviceGetUUID(handle).startswith(first)]
    if len(found) != 1:
        raise StateUnknown(f"{VISIBLE} names {'several devices' if found else 'no device that is here'} ({first})")
    return found[0]


def list_permitted(nvml: Any) -> Iterator[Any]:
    """Yield the handles of the devices that this process may use. In a container, others may be listed as well."""
    for index in range(nvml.nvmlDeviceGetCount()):
        with suppress(nvml.NVMLError_NoPermission):
            yield nvml.nvmlDeviceGetHandleByIndex(index)


def find_near_cores(nvml: Any, handle: Any) -> frozenset[int]:
    """Return the cores near a device on which this process may run. Both workers use them, which makes times fair."""
    own = os.sched_getaffinity(0)
    words = query(nvml, nvml.nvmlDeviceGetCpuAffinity, handle, max(own) // WORD_BITS + 1) or ()
    return frozenset(core for core in own if words and words[core // WORD_BITS] >> core % WORD_BITS & 1)


def find_unsuitable_mode(nvml: Any, handle: Any) -> str:
    """Return a message with a remedy if a mode of the device prevents two processes from using it, otherwise ""."""
    if query(nvml, nvml.nvmlDeviceGetVirtualizationMode, handle) == nvml.NVML_GPU_VIRTUALIZATION_MODE_VGPU:
        return VIRTUAL
    if query(nvml, nvml.nvmlDeviceGetComputeMode, handle) not in (None, nvml.NVML_COMPUTEMODE_DEFAULT):
        return "the device allows one process at a time, but two processes are needed: run nvidia-smi -c DEFAULT"
    mode = query(nvml, nvml.nvmlDeviceGetMigMode, handle)
    if mode is not None and mode[0]:
        return SPLIT
    return ""
