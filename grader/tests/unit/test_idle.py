"""A device is at rest when a pass over memory takes no longer than it did before a student's work."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.speed import idle
from grader.speed.idle import BUSY, LOOK_SECONDS, IdleDetector
from torchkata.seam.failures import TimedOut

PASS = 1.25 * LOOK_SECONDS


class Device:
    """One on which a pass takes so many seconds, while another's work is on it twice as many."""

    def __init__(self) -> None:
        self.now = 0.0
        self.busy_until = 0.0
        self.slower = 2.0

    def synchronize(self) -> None:
        """A pass is over."""
        self.now += PASS * (self.slower if self.now < self.busy_until else 1)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """By its own clock."""
    made = Device()
    monkeypatch.setattr(idle, "time", SimpleNamespace(perf_counter=lambda: made.now))
    monkeypatch.setattr(idle, "PASS_BYTES", 8)
    return made


def at_rest(device: Any) -> IdleDetector:
    """Noted while nobody else works."""
    return IdleDetector(device, torch.device("cpu"))


def test_a_device_at_rest_costs_nothing(device: Device) -> None:
    assert at_rest(device).wait(1.0) == 0


def test_one_that_is_busy_is_waited_for_and_the_time_counts(device: Device) -> None:
    noted = at_rest(device)
    device.busy_until = device.now + 0.5
    began = device.now
    assert 0.5 <= noted.wait(1.0) <= 0.5 + 3 * LOOK_SECONDS
    assert device.now - began >= 0.5


def test_one_that_does_not_come_to_rest_ends_the_students_time(device: Device) -> None:
    noted = at_rest(device)
    device.busy_until = device.now + 5.0
    with pytest.raises(TimedOut, match="the device still ran your queued work"):
        noted.wait(1.0)


def test_what_noise_does_to_a_pass_is_no_work(device: Device) -> None:
    noted = at_rest(device)
    device.busy_until, device.slower = device.now + 5.0, 0.9 * BUSY
    assert noted.wait(1.0) == 0


@pytest.mark.parametrize("again", [True, False], ids=["as it is", "without the looks before a block"])
def test_looks_that_were_disturbed_at_the_beginning_hide_nothing(device: Device, *, again: bool) -> None:
    device.busy_until, device.slower = 1e9, 3.0
    noted = at_rest(device)
    device.busy_until, device.slower = 0.0, 2.0
    if again:
        noted.update_idle_time()
    device.busy_until = device.now + 0.5
    assert (noted.wait(1.0) >= 0.5) == again
