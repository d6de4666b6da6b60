"""The device that speed is graded on, and what its kind asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from socket import socket

from grader.sandbox.accelerator import Accelerator
from grader.sandbox.cuda import CUDA
from grader.speed.calibration import Calibration
from torchkata.course import Limits
from torchkata.speed.devices import Device
from torchkata.speed.sizes import Kind


@dataclass(frozen=True)
class Demands:
    """What a kind of device needs to be timed well."""

    block_seconds: float  # at least, where memory allows: long against the 0.1 ms that a pause and a reply take
    least_seconds: float  # in any case: where memory allows less, a block is done on new inputs again
    warm_up_seconds: float
    most_calls: int = 512


DEMANDS: dict[Kind, Demands] = {
    "cpu": Demands(block_seconds=0.06, least_seconds=0.0, warm_up_seconds=0.2),
    "cuda": Demands(block_seconds=0.25, least_seconds=0.1, warm_up_seconds=3.0),
}


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

    def facts(self) -> dict[str, str]:
        """What a result says of it."""
        return {"device": self.name, **({"driver": self.driver} if self.driver else {})}

    @property
    def demands(self) -> Demands:
        """Of its kind."""
        return DEMANDS[self.kind]
