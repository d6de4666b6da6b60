"""Tests of the device state that NVML reports, read from a fake of pynvml."""

import importlib
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import pynvml
import pytest
import torch

from grader.speed import state as states
from grader.speed.state import (
    DeviceState,
    Slowdown,
    StateUnknown,
    describe_other_users,
    describe_slowdown,
    read_facts,
    read_state,
)
from grader.tests.support.fake_nvml import DRIVER, NEW_COUNTERS, OLD_COUNTERS, UUID, FakeNvml

SECOND = 1_000_000_000
COUNTERS = {"too hot (driver)": 7, "too hot (hardware)": 8, "power brake": 9}
IDLE = DeviceState(DRIVER, 1980, 3201, 34, (), frozenset(), COUNTERS)


@pytest.fixture(autouse=True)
def _cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    properties = SimpleNamespace(name="NVIDIA H200", multi_processor_count=132, uuid=UUID)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _index: properties)


def test_idle_device_is_usable() -> None:
    nvml = FakeNvml(reasons=pynvml.nvmlClocksThrottleReasonGpuIdle)
    state = read_state(nvml=nvml)
    assert state == IDLE
    assert describe_other_users(state, own=[]) is None
    assert describe_slowdown(state, state) is None
    assert nvml.sessions == 0


def test_result_records_what_speed_depends_on() -> None:
    facts = read_facts(FakeNvml())
    assert facts["driver"] == DRIVER
    assert facts["device_uuid"] == f"GPU-{UUID}"
    assert (facts["device_power_limit_w"], facts["device_sm_mhz"], facts["device_memory_mhz"]) == (
        "700",
        "1980",
        "3201",
    )
    assert (facts["device_ecc"], facts["device_ecc_errors"], facts["device_celsius"]) == ("on", "0", "34")
    assert facts["device_torch"] == torch.__version__
    missing = dict.fromkeys(("nvmlDeviceGetEccMode", "nvmlDeviceGetTotalEccErrors"), pynvml.NVML_ERROR_NOT_SUPPORTED)
    assert facts.keys() - read_facts(FakeNvml(fails=missing)).keys() == {"device_ecc", "device_ecc_errors"}


def advance(nvml: FakeNvml, number: int, nanoseconds: int) -> str | None:
    """Return the slowdown that is detected after a counter has advanced by the given nanoseconds."""
    before = read_state(nvml=nvml)
    nvml.counters[number] += nanoseconds
    return describe_slowdown(before, read_state(nvml=nvml))


@pytest.mark.parametrize("slow", states.SLOWDOWNS)
@pytest.mark.parametrize(
    ("driver", "newer"),  # nvidia-smi of driver 580.65.06 still reads fields 251 to 253
    [("570.124.06", False), ("580.65.06", False), ("580.82.07", True), ("610.57.04", True)],
)
def test_slowdown_of_idle_device_is_reported_once(driver: str, newer: bool, slow: Slowdown) -> None:
    nvml = FakeNvml(
        driver, dict(NEW_COUNTERS if newer else OLD_COUNTERS), reasons=pynvml.nvmlClocksThrottleReasonGpuIdle
    )
    assert advance(nvml, slow.counters[newer], SECOND) == f"the device slowed itself down: {slow.words}, 34 °C"
    assert advance(nvml, slow.counters[newer], 0) is None, "a slowdown must be reported once"


def test_power_cap_and_short_slowdowns_are_ignored() -> None:
    power = pynvml.NVML_FI_DEV_PERF_POLICY_POWER
    nvml = FakeNvml(counters={**OLD_COUNTERS, power: 0}, reasons=pynvml.nvmlClocksThrottleReasonSwPowerCap)
    assert advance(nvml, power, SECOND) is None
    assert describe_slowdown(read_state(nvml=FakeNvml(counters={}, reasons=nvml.reasons)), IDLE) is None
    assert advance(FakeNvml(), 252, states.NEGLIGIBLE) is None
    assert advance(FakeNvml(), 252, states.NEGLIGIBLE + 1) is not None


@pytest.mark.parametrize("slow", states.SLOWDOWNS)
@pytest.mark.parametrize("features", [{}, {75: 1, 252: 1, 253: 1}], ids=["no such fields", "fields of something else"])
def test_slowdown_without_counter_is_detected_while_active(slow: Slowdown, features: dict[int, int]) -> None:
    reasons = getattr(pynvml, slow.reason) | pynvml.nvmlClocksThrottleReasonSwPowerCap
    state = read_state(nvml=FakeNvml(counters={}, features=features, reasons=reasons))
    words = f"the device slowed itself down: {slow.words}, 34 °C"
    assert describe_slowdown(IDLE, state) == describe_slowdown(state, IDLE) == describe_slowdown(state, state) == words


def test_device_that_cannot_report_slowdowns_is_rejected() -> None:
    asked = ("nvmlDeviceGetFieldValues", "nvmlDeviceGetCurrentClocksThrottleReasons")
    with pytest.raises(StateUnknown, match="does not report whether it slows itself down"):
        read_state(nvml=FakeNvml(fails=dict.fromkeys(asked, pynvml.NVML_ERROR_NOT_SUPPORTED)))


def test_slowdown_counter_ids_match_pynvml() -> None:
    names = ("HW_THERM_SLOWDOWN", "HW_POWER_BRAKE_SLOWDOWN")
    packages = tuple(getattr(pynvml, f"NVML_FI_DEV_CLOCKS_EVENT_REASON_{name}", None) for name in names)
    known = list(zip(*(slow.counters for slow in states.SLOWDOWNS), strict=True))
    assert {numbers[0] for numbers in known} == {pynvml.NVML_FI_DEV_PERF_POLICY_THERMAL}
    assert packages in [*(numbers[1:] for numbers in known), (None, None)]


def test_only_other_processes_block_the_device() -> None:
    state = read_state(nvml=FakeNvml(pids=[4711, 12, 99]))
    assert describe_other_users(state, own=[12, 99, 4711, 5]) is None
    words = "another process uses the device: wait for it, or end it (process 12, 4711)"
    assert describe_other_users(state, own=[99]) == words


def test_value_not_reported_by_device_is_none() -> None:
    unsupported = ("nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature")
    state = read_state(nvml=FakeNvml(fails=dict.fromkeys(unsupported, pynvml.NVML_ERROR_NOT_SUPPORTED)))
    assert state == replace(IDLE, sm_mhz=None, memory_mhz=None, celsius=None)


@pytest.mark.parametrize(
    ("function", "code", "reason"),
    [
        ("nvmlInit", pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "NVML: NVML Shared Library Not Found"),
        ("nvmlInit", pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "NVML: Driver Not Loaded"),
        ("nvmlDeviceGetHandleByUUID", pynvml.NVML_ERROR_NOT_FOUND, "NVML: Not Found"),
        ("nvmlDeviceGetTemperature", pynvml.NVML_ERROR_GPU_IS_LOST, "NVML: GPU is lost"),
        ("nvmlDeviceGetComputeRunningProcesses", pynvml.NVML_ERROR_NOT_SUPPORTED, "NVML: Not Supported"),
        ("nvmlDeviceGetFieldValues", pynvml.NVML_ERROR_NO_PERMISSION, "NVML: Insufficient Permissions"),
    ],
)
def test_nvml_error_is_reported_and_nvml_is_closed(function: str, code: int, reason: str) -> None:
    nvml = FakeNvml(fails={function: code})
    with pytest.raises(StateUnknown) as raised:
        read_state(nvml=nvml)
    assert str(raised.value) == reason
    assert nvml.sessions == 0


def test_missing_nvml_package_or_gpu_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib, "import_module", Mock(side_effect=ModuleNotFoundError))
    with pytest.raises(StateUnknown, match="nvidia-ml-py is not installed"):
        read_state()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(StateUnknown, match="torch sees no CUDA device"):
        read_state()
