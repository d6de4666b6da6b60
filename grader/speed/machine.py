"""Describes the device used for speed grading, and the requirements for this kind of device."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from socket import socket

from grader.sandbox.accelerator import Accelerator
from grader.sandbox.cuda import CUDA
from grader.speed.calibration import Calibration
from torchkata.course import Limits
from torchkata.speed.datasheets import Device
from torchkata.speed.sizes import Kind

WARM_SECONDS = 10.0  # how long a device stays warm after it has worked


@dataclass(frozen=True)
class Demands:
    """Requirements for timing on a kind of device."""

    block_seconds: float  # target, if memory allows; much longer than the 0.1 ms that a pause and a reply take
    warm_up_seconds: float
    least_seconds: float = 0.0  # minimum; if there is too little memory, the calls are repeated with new inputs
    most_calls: int = 512


DEMANDS: dict[Kind, Demands] = {
    "cpu": Demands(block_seconds=0.06, warm_up_seconds=0.2),
    "cuda": Demands(block_seconds=0.25, warm_up_seconds=3.0, least_seconds=0.1),
}


@dataclass
class Machine:
    """A device, and connections for starting timed workers on it."""

    kind: Kind
    name: str
    device: Device | None  # the datasheet values of the device, if known
    arena_bytes: int  # memory available for the tensors of a worker
    limits: Limits
    student: socket  # connection to the zygote for student workers
    baseline: socket  # connection to the zygote for baseline workers
    trouble: Callable[[], str]  # returns a problem that has occurred since the last call, or ""
    driver: str = ""
    calibration: Calibration | None = None  # an earlier calibration
    accelerator: Accelerator = CUDA  # used only if the kind is cuda
    worked: float = -math.inf  # when the device worked last after a warm-up, according to `time.monotonic`

    def facts(self) -> dict[str, str]:
        """Return the facts about the device that are stored in a result."""
        return {"device": self.name, **({"driver": self.driver} if self.driver else {})}

    @property
    def demands(self) -> Demands:
        """The requirements for this kind of device."""
        return DEMANDS[self.kind]

    def warm_up_seconds(self, attempt: int) -> float:
        """Return the warm-up time in seconds: 0 (only one block) for a first attempt on a warm device."""
        is_warm = time.monotonic() - self.worked < WARM_SECONDS
        return 0.0 if attempt == 1 and is_warm else self.demands.warm_up_seconds
