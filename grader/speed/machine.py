"""Describes the device used for speed grading."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from socket import socket

from grader.sandbox.inside.accelerator import Accelerator
from grader.sandbox.inside.cuda import CUDA
from torchkata.course import Limits
from torchkata.inside.speed.device import Device
from torchkata.inside.speed.sizes import Kind


@dataclass
class Machine:
    """A device, and connections for starting timed workers on it."""

    kind: Kind
    name: str
    device: Device | None  # the datasheet values of the device, if known
    room: int  # memory available: on a GPU for everything, on a CPU for the tensors of a worker
    limits: Limits
    student: socket  # connection to the zygote for student workers
    baseline: socket  # connection to the zygote for baseline workers
    trouble: Callable[[], str]  # returns a problem that has occurred since the last call, or ""
    state: Mapping[str, str] = field(default_factory=dict)  # facts about the device on which its speed depends
    accelerator: Accelerator = CUDA  # used only if the kind is cuda
    worked: float = -math.inf  # when the device worked last after a warm-up, according to `time.monotonic`

    def facts(self) -> dict[str, str]:
        """Return the facts about the device that are stored in a result."""
        return {"device": self.name, **self.state}
