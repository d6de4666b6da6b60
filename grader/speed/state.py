"""Reads the state of a GPU through NVML: which processes use it, and whether it is throttled.

The package (nvidia-ml-py) can be installed on machines without a GPU. Without a driver, reading the state raises
`StateUnknown`.
"""

import importlib
import platform
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import torch

from torchkata.i18n import _, translate
from torchkata.inside.text import Text

RENUMBERED = (580, 82)  # driver version that renumbered the fields above 250; nvidia-ml-py supports only one numbering
NEGLIGIBLE = 10_000_000  # nanoseconds that are ignored, because drivers count a few even on a cool device


@dataclass(frozen=True)
class Slowdown:
    """A reason why a device runs below its normal clock rate."""

    words: Text
    counters: tuple[int, int]  # fields that count the nanoseconds for this reason, before and after RENUMBERED
    reason: str  # bit in the mask of current reasons, used if there is no counter


# The software power cap is not listed, because large matmuls reach it on every device. Field 75 is
# NVML_FI_DEV_PERF_POLICY_THERMAL, the others are NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_…. Fields are used because
# nvmlDeviceGetViolationStatus does not count hardware slowdowns and will be removed in CUDA 14.
SLOWDOWNS = (
    Slowdown(Text("too hot (driver)"), (75, 75), "nvmlClocksThrottleReasonSwThermalSlowdown"),
    Slowdown(Text("too hot (hardware)"), (252, 270), "nvmlClocksThrottleReasonHwThermalSlowdown"),
    Slowdown(Text("power brake"), (253, 271), "nvmlClocksThrottleReasonHwPowerBrakeSlowdown"),
)


class StateUnknown(Exception):
    """Raised if the state of the device can't be read. The message gives the reason on one line."""


@dataclass(frozen=True)
class DeviceState:
    """A snapshot of the state of a device. None means that a value is not reported by the device or driver."""

    driver: str
    sm_mhz: int | None
    memory_mhz: int | None
    celsius: int | None
    slowdowns: tuple[str, ...]  # current reasons that have no counter
    processes: frozenset[int]  # ids of compute processes, as numbered by the driver
    slowed_ns: Mapping[str, int] = field(default_factory=dict)  # total durations of the reasons that have a counter


def read_state(nvml: Any = None) -> DeviceState:
    """Read the state of torch's first CUDA device, using the module `nvml` (default: pynvml).

    The device is identified by its UUID, because NVML and CUDA number devices differently if CUDA_VISIBLE_DEVICES is
    set. Raises StateUnknown if the state can't be read.
    """
    if not torch.cuda.is_available():
        raise StateUnknown("torch sees no CUDA device")
    with open_nvml(nvml) as nvml:
        handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(0).uuid}")
        driver = nvml.nvmlSystemGetDriverVersion()
        slowed_ns = read_slowdown_counters(nvml, handle, driver)
        uncounted = [slow for slow in SLOWDOWNS if str(slow.words) not in slowed_ns]
        return DeviceState(
            driver=driver,
            sm_mhz=query(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            memory_mhz=query(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
            celsius=query(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            slowdowns=read_current_slowdowns(nvml, handle, uncounted),
            processes=frozenset(process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)),
            slowed_ns=slowed_ns,
        )


def read_facts(nvml: Any = None) -> dict[str, str]:
    """Return facts about torch's first CUDA device on which measured speed depends.

    Without the power limit, for example, the MFU of two devices of the same model can't be compared. Raises
    StateUnknown if the state can't be read.
    """
    state = read_state(nvml)
    with open_nvml(nvml) as nvml:
        uuid = f"GPU-{torch.cuda.get_device_properties(0).uuid}"
        handle = nvml.nvmlDeviceGetHandleByUUID(uuid)
        milliwatts = query(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        ecc = query(nvml, nvml.nvmlDeviceGetEccMode, handle)
        lost = (nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC)
        errors = query(nvml, nvml.nvmlDeviceGetTotalEccErrors, handle, *lost)
    facts = {
        "driver": state.driver,
        "device_uuid": uuid,
        "device_power_limit_w": None if milliwatts is None else milliwatts // 1000,
        "device_sm_mhz": state.sm_mhz,
        "device_memory_mhz": state.memory_mhz,
        "device_celsius": state.celsius,
        "device_ecc": None if ecc is None else ("on" if ecc[0] else "off"),
        "device_ecc_errors": errors,
        "device_node": platform.node(),
        "device_torch": torch.__version__,
        "device_cuda": torch.version.cuda,
        "device_cublas": find_cublas(),
    }
    return {name: str(value) for name, value in facts.items() if value is not None}


def find_cublas() -> str | None:
    """Return the version of the package with cuBLAS, or None if cuBLAS is not installed as a package."""
    for name in (f"nvidia-cublas-cu{(torch.version.cuda or '').partition('.')[0]}", "nvidia-cublas"):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return None


def read_slowdown_counters(nvml: Any, handle: Any, driver: str) -> dict[str, int]:
    """Return the total nanoseconds of slowdown for each reason that the driver counts."""
    newer = tuple(map(int, re.findall(r"\d+", driver)[:2])) >= RENUMBERED
    values = query(nvml, nvml.nvmlDeviceGetFieldValues, handle, [slow.counters[newer] for slow in SLOWDOWNS])
    return {
        str(slow.words): value.value.ullVal
        for slow, value in zip(SLOWDOWNS, values or (), strict=values is not None)
        if value.nvmlReturn == nvml.NVML_SUCCESS and value.valueType == nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
    }


def read_current_slowdowns(nvml: Any, handle: Any, asked: Collection[Slowdown]) -> tuple[str, ...]:
    """Return which of the given reasons currently apply. Raises StateUnknown if the device does not report them."""
    if not asked:
        return ()
    reasons = query(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
    if reasons is None:
        raise StateUnknown("this device does not report whether it slows itself down")
    return tuple(str(slow.words) for slow in asked if reasons & getattr(nvml, slow.reason))


@contextmanager
def open_nvml(nvml: Any = None) -> Iterator[Any]:
    """Initialize NVML. Errors from NVML, including those raised in the context, are converted to StateUnknown."""
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


def query(nvml: Any, question: Callable[..., Any], *args: Any) -> Any:
    """Query a value from NVML. Return None if the device does not support the query."""
    try:
        return question(*args)
    except nvml.NVMLError_NotSupported:
        return None


def describe_other_users(state: DeviceState, own: Collection[int]) -> str | None:
    """Return a message if the device is used by processes other than our `own`, otherwise None.

    Inside a container, the driver may report the process ids of the host, so our own processes cannot be recognized.
    Call this function before any of our processes uses the device.
    """
    others = sorted(state.processes - set(own))
    if not others:
        return None
    processes = ", ".join(map(str, others))
    return _("another process uses the device: wait for it, or end it (process {processes})", processes=processes)


def describe_slowdown(before: DeviceState, after: DeviceState) -> str | None:
    """Return a message if the device was throttled between two snapshots of its state, otherwise None."""
    grown = {words: now - before.slowed_ns.get(words, now) for words, now in after.slowed_ns.items()}
    reasons = dict.fromkeys(
        [*(words for words, by in grown.items() if by > NEGLIGIBLE), *before.slowdowns, *after.slowdowns]
    )
    if not reasons:
        return None
    heat = max((state.celsius for state in (before, after) if state.celsius is not None), default=None)
    listed = [translate(slow.words) for slow in SLOWDOWNS if str(slow.words) in reasons]
    heated = [] if heat is None else [f"{heat} °C"]
    return _("the device slowed itself down: {reasons}", reasons=", ".join([*listed, *heated]))
