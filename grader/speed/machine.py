"""Describes the device on which speed is graded, and the requirements of its kind."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from socket import socket

from grader.sandbox.accelerator import Accelerator
from grader.sandbox.cuda import CUDA
from grader.speed.calibration import Calibration
from torchkata.course import Limits
from torchkata.speed.datasheets import Device
from torchkata.speed.sizes import Kind

WARM_SECONDS = 10.0  # how long a device stays warm after work


@dataclass(frozen=True)
class Demands:
    """Requirements for timing on a kind of device."""

    block_seconds: float  # target if memory allows: much longer than the 0.1 ms of a pause and a reply
    warm_up_seconds: float
    least_seconds: float = 0.0  # minimum: if memory allows less, the calls are repeated with new inputs
    most_calls: int = 512


DEMANDS: dict[Kind, Demands] = {
    "cpu": Demands(block_seconds=0.06, warm_up_seconds=0.2),
    "cuda": Demands(block_seconds=0.25, warm_up_seconds=3.0, least_seconds=0.1),
}


@dataclass
class Warmth:
    """The time when a warmed-up device last worked, in seconds of `time.monotonic`."""

    last: float = -math.inf

    def keep(self) -> None:
        """Record that the device is working now."""
        self.last = time.monotonic()

    def lasts(self) -> bool:
        """Return whether the device is still warm."""
        return time.monotonic() - self.last < WARM_SECONDS


@dataclass(frozen=True)
class Machine:
    """One device, and connections to start timed workers on it."""

    kind: Kind
    name: str
    device: Device | None  # the datasheet of the device, if known
    arena_bytes: int  # memory for the tensors of one worker
    limits: Limits
    student: socket  # connection to the zygote of the student's workers
    baseline: socket  # connection to the zygote of the baseline's workers
    trouble: Callable[[], str]  # returns a problem that occurred since the last call, or ""
    driver: str = ""
    calibration: Calibration | None = None  # earlier measurement
    accelerator: Accelerator = CUDA  # only used if kind is cuda
    warmth: Warmth = field(default_factory=Warmth)

    def facts(self) -> dict[str, str]:
        """Return the facts that a result stores about the device."""
        return {"device": self.name, **({"driver": self.driver} if self.driver else {})}

    @property
    def demands(self) -> Demands:
        """The requirements of this kind of device."""
        return DEMANDS[self.kind]

    def warm_up_seconds(self, attempt: int) -> float:
        """Return the seconds of warm-up. On the first attempt with a device that is still warm, 0 means one block."""
        return 0.0 if attempt == 1 and self.warmth.lasts() else self.demands.warm_up_seconds
