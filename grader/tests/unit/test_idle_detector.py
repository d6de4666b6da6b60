"""Tests of the idle detector: a device is idle if a memory pass takes no longer than before the student's work."""

import pytest
import torch

from grader.speed.idle import BUSY, LOOK_SECONDS, IdleDetector
from grader.tests.support.fake_device import FakeDevice
from torchkata.seam.failures import TimedOut


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    made = FakeDevice()
    made.install(monkeypatch)
    return made


def test_idle_or_noisy_device_adds_no_time(device: FakeDevice) -> None:
    detector = IdleDetector(device, torch.device("cpu"))
    assert detector.wait(1.0) == 0
    device.busy_until, device.slower = device.now + 5.0, 0.9 * BUSY
    assert detector.wait(1.0) == 0


def test_waiting_for_busy_device_adds_time(device: FakeDevice) -> None:
    detector = IdleDetector(device, torch.device("cpu"))
    began = device.now
    device.busy_until = device.now + 0.5
    assert 0.5 <= detector.wait(1.0) <= 0.5 + 3 * LOOK_SECONDS
    assert device.now - began >= 0.5


def test_wait_times_out_on_busy_device(device: FakeDevice) -> None:
    detector = IdleDetector(device, torch.device("cpu"))
    device.busy_until = device.now + 5.0
    with pytest.raises(TimedOut, match="the device was still running your queued work"):
        detector.wait(1.0)
