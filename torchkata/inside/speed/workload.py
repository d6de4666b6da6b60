"""Base classes for workloads: the tensors, the student's work, the baseline, the check of the results, and a remark.

Each file `reference/workloads/<name>.py` of a course defines a workload as a class named like the file, in CamelCase.
The first line of the docstring of the class is the claim shown to students. Workers can read these files.
"""

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import torch

from torchkata.inside.text import Message

from .device import Device
from .layout import Field, Memory
from .sizes import Kind, Size

Block: TypeAlias = Callable[[], object]
"""A function that runs one block of work."""

CRAWL = 0.1
"""Code slower than this fraction of the baseline's rate is limited by Python or the bus, not by the device."""


@dataclass(frozen=True)
class Measured:
    """The measured result of a workload that did not reach full points."""

    kind: Kind
    ratio: float
    mfu: float | None
    device: Device

    def fraction(self, dtype: torch.dtype, *, tf32: bool = False) -> float:
        """Return the device's peak for a dtype divided by its peak for bfloat16, or 0 if one of them is unknown."""
        return (self.device.peak(dtype, tf32) or 0) / (self.device.peak(torch.bfloat16) or math.inf)


class Check(ABC):
    """Writes the inputs of a timed worker to shared memory, and checks the results.

    On a GPU, the results are copied first, because the memory of a worker can change even while the worker is paused.
    """

    floor: float  # the largest relative error that any correct result can have

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.size = size

    def prepare(self) -> None:
        """Write the data that the worker needs in order to start."""
        self.refresh()

    def begun(self) -> None:  # noqa: B027  (optional)
        """Read the data that the worker creates when it starts."""

    @abstractmethod
    def refresh(self) -> None:
        """Write new inputs, and overwrite the previous results."""

    @abstractmethod
    def error(self) -> float:
        """Return the relative error of the results of the last block, or infinity if they are missing."""


class Rate(ABC):
    """Base class of workloads. The speed of a workload is measured in work units per second."""

    sizes: ClassVar[Mapping[Kind, Size]]
    check: ClassVar[type[Check]]
    unit: ClassVar[str]
    same_as_baseline: ClassVar[bool] = True  # whether the baseline computes the same results
    has_shortcut: ClassVar[bool] = False  # whether correct code can do less work than `amount`, by algebra
    shrinks: ClassVar[tuple[str, ...]] = ("batch", "parameters")  # dimensions that are halved if memory is short

    @abstractmethod
    def fields(self, size: Size, calls: int) -> dict[str, Field]:
        """Return the tensors of a block. If each call has its own tensors, the first dimension enumerates the calls."""

    @abstractmethod
    def amount(self, size: Size) -> float:
        """Return the number of work units in one call of the student's work."""

    def baseline_amount(self, size: Size) -> float:
        """Return the number of work units in one call of the baseline's work."""
        return self.amount(size)

    @abstractmethod
    def check_bytes(self, size: Size, calls: int) -> int:
        """Return the device memory that the check of one side allocates."""

    @abstractmethod
    def working_bytes(self, size: Size, calls: int) -> int:
        """Return the device memory that correct code may allocate for its model, its state and temporary tensors."""

    @abstractmethod
    def student(self, assignment: Any, size: Size, memory: Memory, device: str) -> Block:
        """Set up the student's work and return its block."""

    @abstractmethod
    def baseline(self, size: Size, memory: Memory, device: str) -> Block:
        """Set up the same or similar work in plain torch and return its block."""

    @abstractmethod
    def remark(self, measured: Measured) -> Message:
        """Return a one-line remark for a result below full points."""


def work_of(workload: str) -> Rate:
    """Load a workload of the course. Raises ImportError if the module of the workload can't be imported."""
    module = importlib.import_module(f"reference.workloads.{workload}")
    work: Rate = getattr(module, workload.title().replace("_", ""))()
    return work
