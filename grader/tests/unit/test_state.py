"""A device's state is read through NVML, or it is said why not; a fake device answers as the real package does."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest
import torch

from grader.speed.state import SLOWDOWNS, DeviceState, StateUnknown, read_state, slowed, unfit

UUID = "8f0e51ba-5f0c-4c1e-93a4-7a6d1f4c2b19"
CLOCKS = {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 3201}

IDLE = DeviceState(
    name="NVIDIA H200",
    sm_count=132,
    driver="570.124.06",
    power_limit_w=700.0,
    sm_mhz=1980,
    memory_mhz=3201,
    celsius=34,
    slowdowns=(),
    processes=frozenset(),
)


@dataclass
class FakeNvml:
    """pynvml on a machine with one device: its own constants and errors, answers in its units."""

    reasons: int = 0
    pids: list[int] = field(default_factory=list)
    fails: dict[str, int] = field(default_factory=dict)  # an NVML error code by the name of the function
    sessions: int = 0

    NVMLError = pynvml.NVMLError
    NVMLError_NotSupported = pynvml.NVMLError_NotSupported

    def __getattr__(self, name: str) -> Any:
        real = getattr(pynvml, name)
        if not callable(real):
            return real
        answers: dict[str, Callable[..., Any]] = {
            "nvmlInit": lambda: self.count(1),
            "nvmlShutdown": lambda: self.count(-1),
            "nvmlSystemGetDriverVersion": lambda: "570.124.06",
            "nvmlDeviceGetHandleByUUID": self.find,
            "nvmlDeviceGetCurrentClocksThrottleReasons": lambda _: self.reasons,
            "nvmlDeviceGetEnforcedPowerLimit": lambda _: 700_000,
            "nvmlDeviceGetClockInfo": lambda _, clock: CLOCKS[clock],
            "nvmlDeviceGetTemperature": lambda _, sensor: {pynvml.NVML_TEMPERATURE_GPU: 34}[sensor],
            "nvmlDeviceGetComputeRunningProcesses": lambda _: [SimpleNamespace(pid=pid) for pid in self.pids],
        }

        def answer(*args: Any) -> Any:
            inspect.signature(real).bind(*args)
            if name in self.fails:
                raise pynvml.NVMLError(self.fails[name])
            return answers[name](*args)

        return answer

    def count(self, change: int) -> None:
        self.sessions += change

    def find(self, uuid: str) -> str:
        if uuid != f"GPU-{UUID}":
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return "handle"


@pytest.fixture
def _cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    properties = SimpleNamespace(name="NVIDIA H200", multi_processor_count=132, uuid=UUID)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _index: properties)


@pytest.mark.usefixtures("_cuda")
def test_an_idle_device_is_fit_to_time() -> None:
    nvml = FakeNvml(reasons=pynvml.nvmlClocksThrottleReasonGpuIdle)
    state = read_state(nvml=nvml)
    assert state == IDLE
    assert unfit(state, own=[]) is None
    assert slowed(state, state) is None
    assert nvml.sessions == 0


@pytest.mark.usefixtures("_cuda")
def test_a_software_power_cap_is_no_slowdown() -> None:
    state = read_state(nvml=FakeNvml(reasons=pynvml.nvmlClocksThrottleReasonSwPowerCap))
    assert slowed(IDLE, state) is None


@pytest.mark.usefixtures("_cuda")
@pytest.mark.parametrize("bit", SLOWDOWNS)
def test_every_slowdown_is_seen_before_or_after_timing(bit: str) -> None:
    state = read_state(nvml=FakeNvml(reasons=getattr(pynvml, bit) | pynvml.nvmlClocksThrottleReasonSwPowerCap))
    words = f"the device slowed itself down: {SLOWDOWNS[bit]}, at 34 °C"
    assert slowed(IDLE, state) == slowed(state, IDLE) == slowed(state, state) == words


def test_slowdowns_before_and_after_are_named_once_with_the_higher_temperature() -> None:
    before = replace(IDLE, slowdowns=("power brake",), celsius=None)
    after = replace(IDLE, slowdowns=("power brake", "hardware slowdown"), celsius=91)
    assert slowed(before, after) == "the device slowed itself down: power brake, hardware slowdown, at 91 °C"
    assert slowed(before, before) == "the device slowed itself down: power brake"


@pytest.mark.usefixtures("_cuda")
def test_other_processes_make_a_device_unfit_and_the_graders_own_do_not() -> None:
    state = read_state(nvml=FakeNvml(pids=[4711, 12, 99]))
    assert unfit(state, own=[12, 99, 4711, 5]) is None
    assert unfit(state, own=[99]) == "another process uses the device (process 12, 4711)"


@pytest.mark.usefixtures("_cuda")
def test_a_figure_that_a_device_does_not_report_is_none() -> None:
    unsupported = ("nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature")
    state = read_state(nvml=FakeNvml(fails=dict.fromkeys(unsupported, pynvml.NVML_ERROR_NOT_SUPPORTED)))
    assert state == replace(IDLE, power_limit_w=None, sm_mhz=None, memory_mhz=None, celsius=None)


@pytest.mark.usefixtures("_cuda")
@pytest.mark.parametrize(
    ("function", "code", "reason"),
    [
        ("nvmlInit", pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "NVML: NVML Shared Library Not Found"),
        ("nvmlInit", pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "NVML: Driver Not Loaded"),
        ("nvmlDeviceGetHandleByUUID", pynvml.NVML_ERROR_NOT_FOUND, "NVML: Not Found"),
        ("nvmlDeviceGetTemperature", pynvml.NVML_ERROR_GPU_IS_LOST, "NVML: GPU is lost"),
        ("nvmlDeviceGetComputeRunningProcesses", pynvml.NVML_ERROR_NOT_SUPPORTED, "NVML: Not Supported"),
        (
            "nvmlDeviceGetCurrentClocksThrottleReasons",
            pynvml.NVML_ERROR_NO_PERMISSION,
            "NVML: Insufficient Permissions",
        ),
    ],
)
def test_an_nvml_error_is_named_and_nvml_is_closed(function: str, code: int, reason: str) -> None:
    nvml = FakeNvml(fails={function: code})
    with pytest.raises(StateUnknown) as raised:
        read_state(nvml=nvml)
    assert str(raised.value) == reason
    assert nvml.sessions == 0


@pytest.mark.usefixtures("_cuda")
def test_a_missing_nvml_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(StateUnknown, match="nvidia-ml-py is not installed"):
        read_state()


def test_a_machine_without_a_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(StateUnknown, match="torch sees no CUDA device"):
        read_state()
