"""What a device says of itself, through NVML: whether anybody else uses it, and whether it slows itself down.

The package (nvidia-ml-py) needs no GPU to be installed; without a driver, reading raises `StateUnknown`.
"""

import importlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

# The bits of nvmlDeviceGetCurrentClocksThrottleReasons that spoil a timing. A software power cap is none of them:
# large products run at it, on every device alike.
SLOWDOWNS = {
    "nvmlClocksThrottleReasonHwSlowdown": "hardware slowdown",
    "nvmlClocksThrottleReasonHwThermalSlowdown": "too hot (hardware)",
    "nvmlClocksThrottleReasonSwThermalSlowdown": "too hot (driver)",
    "nvmlClocksThrottleReasonHwPowerBrakeSlowdown": "power brake",
}


class StateUnknown(Exception):
    """The device's state can't be read; the message says why, in one line."""


@dataclass(frozen=True)
class DeviceState:
    """A device at one moment. None is what this device or driver does not tell."""

    name: str
    sm_count: int
    driver: str
    power_limit_w: float | None
    sm_mhz: int | None
    memory_mhz: int | None
    celsius: int | None
    slowdowns: tuple[str, ...]  # why it runs below its clocks just now, in the words of SLOWDOWNS
    processes: frozenset[int]  # ids of those that compute on it, as the driver numbers them


def read_state(index: int = 0, nvml: Any = None) -> DeviceState:
    """The state of torch's CUDA device `index`; in its slowdowns it shows what the device does at this moment.

    `nvml` is the module to ask, pynvml unless given. The device is found by its UUID, since NVML and CUDA number
    devices differently where CUDA_VISIBLE_DEVICES is set. Raises StateUnknown.
    """
    if not torch.cuda.is_available():
        raise StateUnknown("torch sees no CUDA device")
    properties = torch.cuda.get_device_properties(index)
    with opened(nvml) as nvml:
        handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{properties.uuid}")
        reasons = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
        milliwatts = told(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        return DeviceState(
            name=properties.name,
            sm_count=properties.multi_processor_count,
            driver=nvml.nvmlSystemGetDriverVersion(),
            power_limit_w=None if milliwatts is None else milliwatts / 1000,
            sm_mhz=told(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            memory_mhz=told(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
            celsius=told(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            slowdowns=tuple(words for bit, words in SLOWDOWNS.items() if reasons & getattr(nvml, bit)),
            processes=frozenset(process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)),
        )


@contextmanager
def opened(nvml: Any = None) -> Iterator[Any]:
    """NVML, initialised. Raises StateUnknown for whatever NVML raises, here or within the block."""
    try:
        nvml = nvml or importlib.import_module("pynvml")
    except ImportError as error:
        raise StateUnknown("nvidia-ml-py is not installed") from error
    try:
        nvml.nvmlInit()
        try:
            yield nvml
        finally:
            nvml.nvmlShutdown()
    except nvml.NVMLError as error:
        raise StateUnknown(f"NVML: {error}") from error


def told(nvml: Any, question: Callable[..., Any], *args: Any) -> Any:
    """The answer, or None where a device does not support the question."""
    try:
        return question(*args)
    except nvml.NVMLError_NotSupported:
        return None


def unfit(state: DeviceState, own: Collection[int]) -> str | None:
    """Why nothing can be timed on this device now: processes that are not our `own` compute on it. None if none do.

    In a container the driver may number processes as the host does, and then ours can't be known by their ids: ask
    before any of ours uses the device, with none of our own.
    """
    others = sorted(state.processes - set(own))
    if not others:
        return None
    return f"another process uses the device (process {', '.join(map(str, others))})"


def slowed(before: DeviceState, after: DeviceState) -> str | None:
    """Why what was timed between two moments tells nothing: the device slowed itself down. None if it did not."""
    reasons = dict.fromkeys([*before.slowdowns, *after.slowdowns])
    if not reasons:
        return None
    heat = max((state.celsius for state in (before, after) if state.celsius is not None), default=None)
    return f"the device slowed itself down: {', '.join(reasons)}" + ("" if heat is None else f", at {heat} °C")
