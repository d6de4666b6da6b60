"""Tests of the idle detector: a device is idle if a memory pass takes no longer than before the student's work."""

from typing import Any

import pytest
import torch

from grader.speed import idle
from grader.speed.idle import BUSY, LOOK_SECONDS, IdleDetector
from grader.tests.support.fake_device import FakeClock
from torchkata.seam.failures import TimedOut

PASS = 1.25 * LOOK_SECONDS


class Device(FakeClock):
    """A device on which a pass takes PASS seconds, and `slower` times as long while it is busy."""

    busy_until, slower = 0.0, 2.0

    def synchronize(self) -> None:
        self.advance(PASS * (self.slower if self.now < self.busy_until else 1))


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    made = Device()
    made.install(monkeypatch, idle)
    monkeypatch.setattr(idle, "PASS_BYTES", 8)
    return made


def make_detector(device: Any) -> IdleDetector:
    return IdleDetector(device, torch.device("cpu"))


def test_idle_or_noisy_device_adds_no_time(device: Device) -> None:
    detector = make_detector(device)
    assert detector.wait(1.0) == 0
    device.busy_until, device.slower = device.now + 5.0, 0.9 * BUSY
    assert detector.wait(1.0) == 0


def test_waiting_for_busy_device_adds_time(device: Device) -> None:
    detector = make_detector(device)
    began = device.now
    device.busy_until = device.now + 0.5
    assert 0.5 <= detector.wait(1.0) <= 0.5 + 3 * LOOK_SECONDS
    assert device.now - began >= 0.5


def test_wait_times_out_on_busy_device(device: Device) -> None:
    detector = make_detector(device)
    device.busy_until = device.now + 5.0
    with pytest.raises(TimedOut, match="the device still ran your queued work"):
        detector.wait(1.0)


@pytest.mark.parametrize("again", [True, False], ids=["as it is", "without the looks before a block"])
def test_disturbed_first_measurement_does_not_hide_work(device: Device, *, again: bool) -> None:
    device.busy_until, device.slower = 1e9, 3.0
    detector = make_detector(device)
    device.busy_until, device.slower = 0.0, 2.0
    if again:
        detector.update_idle_time()
    device.busy_until = device.now + 0.5
    assert (detector.wait(1.0) >= 0.5) == again
