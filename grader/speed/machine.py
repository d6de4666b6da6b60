"""The device that speed is graded on, and what its kind asks for."""

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

WARM_SECONDS = 10.0  # for which a device stays warm that has been at work


@dataclass(frozen=True)
class Demands:
    """What a kind of device needs to be timed well."""

    block_seconds: float  # at least, where memory allows: long against the 0.1 ms that a pause and a reply take
    warm_up_seconds: float
    least_seconds: float = 0.0  # in any case: where memory allows less, a block is done on new inputs again
    most_calls: int = 512


DEMANDS: dict[Kind, Demands] = {
    "cpu": Demands(block_seconds=0.06, warm_up_seconds=0.2),
    "cuda": Demands(block_seconds=0.25, warm_up_seconds=3.0, least_seconds=0.1),
}


@dataclass
class Warmth:
    """When a device that had been warmed up was last at work, in seconds of `time.monotonic`."""

    last: float = -math.inf

    def keep(self) -> None:
        """It is at work now."""
        self.last = time.monotonic()

    def lasts(self) -> bool:
        """Whether it has stood still for so short a time that it is warm."""
        return time.monotonic() - self.last < WARM_SECONDS


@dataclass(frozen=True)
class Machine:
    """One device, and how to get workers that are timed on it."""

    kind: Kind
    name: str
    device: Device | None  # of the table, if it is in there
    arena_bytes: int  # that tensors of one worker may take
    limits: Limits
    student: socket  # to a zygote for the student's workers
    baseline: socket  # to another, for the baseline's
    trouble: Callable[[], str]  # what is wrong with its state since it was last asked, "" for nothing
    driver: str = ""
    calibration: Calibration | None = None  # what it has done before
    accelerator: Accelerator = CUDA  # where its kind is cuda
    warmth: Warmth = field(default_factory=Warmth)

    def facts(self) -> dict[str, str]:
        """What a result says of it."""
        return {"device": self.name, **({"driver": self.driver} if self.driver else {})}

    @property
    def demands(self) -> Demands:
        """Of its kind."""
        return DEMANDS[self.kind]

    def warm_up_seconds(self, attempt: int) -> float:
        """For how long it must work before it is timed: for one block where it is warm, and nothing speaks against."""
        return 0.0 if attempt == 1 and self.warmth.lasts() else self.demands.warm_up_seconds
