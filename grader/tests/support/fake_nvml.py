"""A fake of pynvml, the Python bindings of NVIDIA's management library."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml

UUID = "8f0e51ba-5f0c-4c1e-93a4-7a6d1f4c2b19"
CLOCKS = {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 3201}
DRIVER = "570.124.06"
OLD_COUNTERS = {75: 7, 252: 8, 253: 9}  # nanoseconds by field number; the numbers depend on the driver
NEW_COUNTERS = {75: 7, 270: 8, 271: 9}
NO_MIG = {"nvmlDeviceGetMigMode": pynvml.NVML_ERROR_NOT_SUPPORTED}
LOOKUP_ERRORS = {IndexError: pynvml.NVML_ERROR_INVALID_ARGUMENT, KeyError: pynvml.NVML_ERROR_NOT_FOUND}


@dataclass
class FakeNvml:
    """A fake with the constants, errors and structures of pynvml. All devices report the same values."""

    driver: str = DRIVER
    counters: dict[int, int] = field(default_factory=OLD_COUNTERS.copy)  # by field number
    features: dict[int, int] = field(default_factory=dict)  # values of other fields, by field number
    reasons: int = 0
    pids: list[int] = field(default_factory=list)
    fails: dict[str, int] = field(default_factory=NO_MIG.copy)  # NVML error codes by function name
    sessions: int = 0
    devices: int = 1
    compute_mode: int = pynvml.NVML_COMPUTEMODE_DEFAULT
    mig: int = 0
    virtual: int = pynvml.NVML_GPU_VIRTUALIZATION_MODE_NONE
    near: int = 2**64 - 1  # bits of the cores near each device, in each word
    names: Sequence[str] = ()
    forbidden: Sequence[int] = ()  # devices that this process may not use

    def __getattr__(self, name: str) -> Any:
        real = getattr(pynvml, name)
        if not inspect.isfunction(real):
            return real
        uuids = {f"GPU-{UUID}": 0, **{f"GPU-{index}": index for index in range(self.devices)}}
        answers: dict[str, Callable[..., Any]] = {
            "nvmlInit": lambda: setattr(self, "sessions", self.sessions + 1),
            "nvmlShutdown": lambda: setattr(self, "sessions", self.sessions - 1),
            "nvmlSystemGetDriverVersion": lambda: self.driver,
            "nvmlDeviceGetHandleByUUID": lambda uuid: uuids[uuid],
            "nvmlDeviceGetCount": lambda: self.devices,
            "nvmlDeviceGetHandleByIndex": self.get_handle,
            "nvmlDeviceGetName": lambda handle: self.names[handle] if self.names else "NVIDIA H200",
            "nvmlDeviceGetVirtualizationMode": lambda _: self.virtual,
            "nvmlDeviceGetEnforcedPowerLimit": lambda _: 700_000,
            "nvmlDeviceGetCpuAffinity": lambda _, words: [self.near] * words,
            "nvmlDeviceGetEccMode": lambda _: [1, 1],
            "nvmlDeviceGetTotalEccErrors": lambda *_: 0,
            "nvmlDeviceGetComputeMode": lambda _: self.compute_mode,
            "nvmlDeviceGetMigMode": lambda _: [self.mig, self.mig],
            "nvmlDeviceGetUUID": lambda handle: f"GPU-{handle}",
            "nvmlDeviceGetMinorNumber": lambda handle: 7 - handle,
            "nvmlDeviceGetFieldValues": lambda _, numbers: self.read_fields(numbers),
            "nvmlDeviceGetCurrentClocksThrottleReasons": lambda _: self.reasons,
            "nvmlDeviceGetClockInfo": lambda _, clock: CLOCKS[clock],
            "nvmlDeviceGetTemperature": lambda _, sensor: {pynvml.NVML_TEMPERATURE_GPU: 34}[sensor],
            "nvmlDeviceGetComputeRunningProcesses": lambda _: [SimpleNamespace(pid=pid) for pid in self.pids],
        }

        def answer(*args: Any) -> Any:
            inspect.signature(real).bind(*args)
            if name in self.fails:
                raise pynvml.NVMLError(self.fails[name])
            reply = answers[name]
            try:
                return reply(*args)
            except LookupError as error:
                raise pynvml.NVMLError(LOOKUP_ERRORS[type(error)]) from None

        return answer

    def get_handle(self, index: int) -> int:
        """Return the handle of a device."""
        if index in self.forbidden:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)
        return range(self.devices)[index]

    def read_fields(self, numbers: Sequence[int]) -> Any:
        """Return a number or an error for each field."""
        found = (pynvml.c_nvmlFieldValue_t * len(numbers))()
        for each, number in zip(found, numbers, strict=True):
            each.fieldId = number
            if number in self.counters:
                each.valueType, each.value.ullVal = pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, self.counters[number]
            elif number in self.features:
                each.valueType, each.value.uiVal = pynvml.NVML_VALUE_TYPE_UNSIGNED_INT, self.features[number]
            else:
                each.nvmlReturn = pynvml.NVML_ERROR_NOT_SUPPORTED
        return found
