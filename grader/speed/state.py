"""What a device says of itself, through NVML: whether anybody else uses it, and whether it slows itself down.

The package (nvidia-ml-py) needs no GPU to be installed; without a driver, reading raises `StateUnknown`.
"""

import importlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

RENUMBERED = (580, 82)  # the driver that gave fields above 250 other numbers; nvidia-ml-py knows one numbering alone
NEGLIGIBLE = 10_000_000  # nanoseconds: drivers count a few on a cool device, too


@dataclass(frozen=True)
class Slowdown:
    """Why a device runs below its clocks."""

    words: str
    counters: tuple[int, int]  # the field that counts its nanoseconds, in drivers before RENUMBERED and from it on
    reason: str  # the bit of this moment's reasons, which stands in where nothing is counted


# A software power cap is none of them: large products run at it, on every device alike. Field 75 is
# NVML_FI_DEV_PERF_POLICY_THERMAL, the others are NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_…; fields are asked, since
# nvmlDeviceGetViolationStatus counts no slowdown by the hardware, and ends with CUDA 14.
SLOWDOWNS = (
    Slowdown("too hot (driver)", (75, 75), "nvmlClocksThrottleReasonSwThermalSlowdown"),
    Slowdown("too hot (hardware)", (252, 270), "nvmlClocksThrottleReasonHwThermalSlowdown"),
    Slowdown("power brake", (253, 271), "nvmlClocksThrottleReasonHwPowerBrakeSlowdown"),
)


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
    slowdowns: tuple[str, ...]  # why it runs below its clocks just now, of what it does not count
    processes: frozenset[int]  # ids of those that compute on it, as the driver numbers them
    slowed_ns: Mapping[str, int] = field(default_factory=dict)  # for how long it has ever done so, of what it counts


def read_state(index: int = 0, nvml: Any = None) -> DeviceState:
    """The state of torch's CUDA device `index`.

    `nvml` is the module to ask, pynvml unless given. The device is found by its UUID, since NVML and CUDA number
    devices differently where CUDA_VISIBLE_DEVICES is set. Raises StateUnknown.
    """
    if not torch.cuda.is_available():
        raise StateUnknown("torch sees no CUDA device")
    properties = torch.cuda.get_device_properties(index)
    with opened(nvml) as nvml:
        handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{properties.uuid}")
        driver = nvml.nvmlSystemGetDriverVersion()
        slowed_ns = counted(nvml, handle, driver)
        milliwatts = told(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        return DeviceState(
            name=properties.name,
            sm_count=properties.multi_processor_count,
            driver=driver,
            power_limit_w=None if milliwatts is None else milliwatts / 1000,
            sm_mhz=told(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            memory_mhz=told(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
            celsius=told(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            slowdowns=at_this_moment(nvml, handle, [slow for slow in SLOWDOWNS if slow.words not in slowed_ns]),
            processes=frozenset(process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)),
            slowed_ns=slowed_ns,
        )


def counted(nvml: Any, handle: Any, driver: str) -> dict[str, int]:
    """For how many nanoseconds the device has ever slowed itself down, by what its driver counts."""
    newer = tuple(map(int, re.findall(r"\d+", driver)[:2])) >= RENUMBERED
    values = told(nvml, nvml.nvmlDeviceGetFieldValues, handle, [slow.counters[newer] for slow in SLOWDOWNS])
    return {
        slow.words: value.value.ullVal
        for slow, value in zip(SLOWDOWNS, values or (), strict=values is not None)
        if value.nvmlReturn == nvml.NVML_SUCCESS and value.valueType == nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
    }


def at_this_moment(nvml: Any, handle: Any, asked: Collection[Slowdown]) -> tuple[str, ...]:
    """Which of these slow the device down just now. Raises StateUnknown where it does not tell that, either."""
    if not asked:
        return ()
    reasons = told(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
    if reasons is None:
        raise StateUnknown("this device does not tell whether it slows itself down")
    return tuple(slow.words for slow in asked if reasons & getattr(nvml, slow.reason))


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
    return f"another process uses the device: wait for it, or end it (process {', '.join(map(str, others))})"


def slowed(before: DeviceState, after: DeviceState) -> str | None:
    """Why what was timed between two moments tells nothing: the device slowed itself down. None if it did not."""
    grown = {words: now - before.slowed_ns.get(words, now) for words, now in after.slowed_ns.items()}
    reasons = dict.fromkeys(
        [*(words for words, by in grown.items() if by > NEGLIGIBLE), *before.slowdowns, *after.slowdowns]
    )
    if not reasons:
        return None
    heat = max((state.celsius for state in (before, after) if state.celsius is not None), default=None)
    return f"the device slowed itself down: {', '.join(reasons)}" + ("" if heat is None else f", at {heat} °C")
