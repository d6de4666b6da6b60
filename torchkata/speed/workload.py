"""What a workload is: tensors of some size, a student's work on them, a baseline's, a check of both, a remark.

A course has one in each `reference/workloads/<name>.py`: the class that is called like the file, in CamelCase. The
first line of its docstring is the claim that a student reads. Workers have these files, too.
"""

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import torch

from .datasheets import Device
from .layout import Field, Memory
from .sizes import Kind, Size

Block: TypeAlias = Callable[[], object]  # does one block of work
Roof: TypeAlias = Literal["compute", "bandwidth"]

CRAWL = 0.1  # of the baseline; below it, Python or the bus is at work and not the device


@dataclass(frozen=True)
class Measured:
    """One workload on one device, not as fast as it could be."""

    kind: Kind
    ratio: float
    mfu: float | None
    device: Device

    def fraction(self, dtype: torch.dtype, *, tf32: bool = False) -> float:
        """The peak of another precision, of that of bfloat16; 0 where there is none."""
        return (self.device.peak(dtype, tf32) or 0) / (self.device.peak(torch.bfloat16) or math.inf)


class Check(ABC):
    """The inputs of one timed worker, laid out in the memory that is shared with it, and the results that came of them.

    On a GPU the results are copies: there a worker's memory may still change while the worker stands still.
    """

    floor: float  # the largest relative error that any right result may have

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.size = size

    def prepare(self) -> None:
        """Lay out what the worker needs to begin."""
        self.refresh()

    def begun(self) -> None:  # noqa: B027  (most have nothing to take in)
        """Take in what the worker has made at its beginning."""

    @abstractmethod
    def refresh(self) -> None:
        """Lay out new inputs, and spoil the results."""

    @abstractmethod
    def error(self) -> float:
        """The relative error of the results of the last block; infinite where they are not there."""


class Work(ABC):
    """One workload."""

    sizes: ClassVar[Mapping[Kind, Size]]
    check: ClassVar[type[Check]]
    of: ClassVar[str]  # what a measured share is a share of, in words

    @abstractmethod
    def fields(self, size: Size, calls: int) -> dict[str, Field]:
        """The tensors of a block of so many calls; the first axis is the call's, where there is one for each."""

    @abstractmethod
    def student(self, assignment: Any, size: Size, memory: Memory, device: str) -> Block:
        """Make what a student's blocks need."""

    @abstractmethod
    def baseline(self, size: Size, memory: Memory, device: str) -> Block:
        """Make what blocks of the same work, or of work of its kind, need in plain torch."""

    @abstractmethod
    def remark(self, measured: Measured) -> str:
        """What a figure below full points teaches, in one line."""


class Rate(Work):
    """Measured is how much work a second brings."""

    of = "of plain torch's speed"
    unit: ClassVar[str]
    roof: ClassVar[Roof | None] = None  # of a roofline: which one the baseline's rate is
    same_as_baseline: ClassVar[bool] = True  # the baseline's results are these, so that its error tells something

    @abstractmethod
    def amount(self, size: Size) -> float:
        """The work of a student's call, in units."""

    def baseline_amount(self, size: Size) -> float:
        """The work of a baseline's call."""
        return self.amount(size)

    def intensity(self, size: Size) -> float | None:  # noqa: ARG002
        """FLOP for each byte that must move at least: its place on a roofline; None where neither is its bound."""
        return None


class HostWait(Work):
    """Measured is whether the host waits for the device. The field `asked` counts the batches that were asked for."""

    of = "(1: the host runs ahead)"


class MemoryPeak(Work):
    """Measured is the most memory that is held at one time."""

    of = "of what is held is needed"

    @abstractmethod
    def needed_bytes(self, size: Size) -> int:
        """What must be held, beside the batches, which are given."""


def work_of(workload: str) -> Work:
    """The class of this workload of the course. Raises ImportError."""
    module = importlib.import_module(f"reference.workloads.{workload}")
    work: Work = getattr(module, workload.title().replace("_", ""))()
    return work
