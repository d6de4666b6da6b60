"""A device's state is read through NVML, or it is said why not; a fake device answers as the real package does."""

import importlib
from dataclasses import replace
from types import SimpleNamespace

import pynvml
import pytest
import torch

from grader.speed.state import (
    NEGLIGIBLE,
    SLOWDOWNS,
    DeviceState,
    Slowdown,
    StateUnknown,
    describe_other_users,
    describe_slowdown,
    read_state,
)
from grader.tests.support.fake_nvml import DRIVER, NEW, OLD, UUID, FakeNvml

SECOND = 1_000_000_000

IDLE = DeviceState(
    name="NVIDIA H200",
    sm_count=132,
    driver=DRIVER,
    power_limit_w=700.0,
    sm_mhz=1980,
    memory_mhz=3201,
    celsius=34,
    slowdowns=(),
    processes=frozenset(),
    slowed_ns={"too hot (driver)": 7, "too hot (hardware)": 8, "power brake": 9},
)


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
    assert describe_other_users(state, own=[]) is None
    assert describe_slowdown(state, state) is None
    assert nvml.sessions == 0


def between(nvml: FakeNvml, number: int, nanoseconds: int) -> str | None:
    """What is said of the time in which a counter went on by so much."""
    before = read_state(nvml=nvml)
    nvml.counters[number] += nanoseconds
    return describe_slowdown(before, read_state(nvml=nvml))


@pytest.mark.usefixtures("_cuda")
@pytest.mark.parametrize("slow", SLOWDOWNS)
@pytest.mark.parametrize(
    ("driver", "newer"),
    [
        ("570.124.06", False),
        ("580.65.06", False),  # whose own nvidia-smi asks for 251 to 253
        ("580.82.07", True),
        ("610.57.04", True),
    ],
)
def test_a_slowdown_is_counted_although_the_device_idles_when_it_is_asked(
    driver: str, newer: bool, slow: Slowdown
) -> None:
    nvml = FakeNvml(driver, dict(NEW if newer else OLD), reasons=pynvml.nvmlClocksThrottleReasonGpuIdle)
    assert between(nvml, slow.counters[newer], SECOND) == f"the device slowed itself down: {slow.words}, at 34 °C"
    assert between(nvml, slow.counters[newer], 0) is None, "what was counted before does not count again"


@pytest.mark.usefixtures("_cuda")
def test_a_software_power_cap_is_no_slowdown() -> None:
    power = pynvml.NVML_FI_DEV_PERF_POLICY_POWER
    nvml = FakeNvml(counters={**OLD, power: 0}, reasons=pynvml.nvmlClocksThrottleReasonSwPowerCap)
    assert between(nvml, power, SECOND) is None
    assert describe_slowdown(read_state(nvml=FakeNvml(counters={}, reasons=nvml.reasons)), IDLE) is None


@pytest.mark.usefixtures("_cuda")
def test_a_slowdown_too_short_to_matter_does_not_count() -> None:
    assert between(FakeNvml(), 252, NEGLIGIBLE) is None
    assert between(FakeNvml(), 252, NEGLIGIBLE + 1) is not None


@pytest.mark.usefixtures("_cuda")
@pytest.mark.parametrize("slow", SLOWDOWNS)
@pytest.mark.parametrize("features", [{}, {75: 1, 252: 1, 253: 1}], ids=["no such fields", "fields of something else"])
def test_a_slowdown_that_is_not_counted_is_seen_at_the_moment(slow: Slowdown, features: dict[int, int]) -> None:
    reasons = getattr(pynvml, slow.reason) | pynvml.nvmlClocksThrottleReasonSwPowerCap
    state = read_state(nvml=FakeNvml(counters={}, features=features, reasons=reasons))
    words = f"the device slowed itself down: {slow.words}, at 34 °C"
    assert describe_slowdown(IDLE, state) == describe_slowdown(state, IDLE) == describe_slowdown(state, state) == words


@pytest.mark.usefixtures("_cuda")
def test_a_device_that_tells_of_no_slowdown_at_all_is_named() -> None:
    asked = ("nvmlDeviceGetFieldValues", "nvmlDeviceGetCurrentClocksThrottleReasons")
    with pytest.raises(StateUnknown, match="does not report whether it slows itself down"):
        read_state(nvml=FakeNvml(fails=dict.fromkeys(asked, pynvml.NVML_ERROR_NOT_SUPPORTED)))


def test_the_numbers_of_counters_are_those_of_the_package_by_one_of_its_numberings() -> None:
    names = ("HW_THERM_SLOWDOWN", "HW_POWER_BRAKE_SLOWDOWN")
    packages = tuple(getattr(pynvml, f"NVML_FI_DEV_CLOCKS_EVENT_REASON_{name}", None) for name in names)
    known = list(zip(*(slow.counters for slow in SLOWDOWNS), strict=True))
    assert {numbers[0] for numbers in known} == {pynvml.NVML_FI_DEV_PERF_POLICY_THERMAL}
    assert packages in [*(numbers[1:] for numbers in known), (None, None)]


def test_slowdowns_before_and_after_are_named_once_with_the_higher_temperature() -> None:
    before = replace(IDLE, slowdowns=("power brake",), celsius=None)
    after = replace(IDLE, slowdowns=("power brake", "too hot (driver)"), celsius=91)
    assert describe_slowdown(before, after) == "the device slowed itself down: power brake, too hot (driver), at 91 °C"
    assert describe_slowdown(before, before) == "the device slowed itself down: power brake"


@pytest.mark.usefixtures("_cuda")
def test_other_processes_make_a_device_unfit_and_the_graders_own_do_not() -> None:
    state = read_state(nvml=FakeNvml(pids=[4711, 12, 99]))
    assert describe_other_users(state, own=[12, 99, 4711, 5]) is None
    assert (
        describe_other_users(state, own=[99])
        == "another process uses the device: wait for it, or end it (process 12, 4711)"
    )


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
            "nvmlDeviceGetFieldValues",
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
