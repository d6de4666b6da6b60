"""The part of a worker that is timed: it takes a workload, then does one block of it whenever it is told to.

It keeps no time: the grader does, which also owns the memory that inputs come from and results go to.
"""

import ctypes
import mmap
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import torch

from grader.worker import yardsticks
from kata.assignment import Assignment
from kata.speed.layout import ALIGNMENT, fields, lay_out
from kata.speed.sizes import Size
from tests.probes import speed

MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h: its size no longer adapts once it has been set


class Workload(msgspec.Struct, frozen=True):
    """What is to be done in a block."""

    name: str
    size: Size
    calls: int
    device: str
    trusted: bool  # the yardstick's work, not the student's
    device_memory: bytes = b""  # how to reach the grader's memory on a GPU
    device_bytes: int = 0


class Bench:
    """One workload at a time."""

    def __init__(self, assignment: Assignment, arena: mmap.mmap | None) -> None:
        self.assignment = assignment
        self.arena = arena
        self.block: Callable[[], object] | None = None
        self.device = "cpu"

    def answer(self, request: Mapping[str, Any]) -> object:
        """Do what is asked: `begin` a workload, do a `block` so many times, or wait until all of it is done."""
        if "begin" in request:
            self.begin(msgspec.convert(request["begin"], Workload))
            self.wait()
            return None
        if "block" in request:
            assert self.block is not None
            result = None
            for _ in range(request["block"]):
                result = self.block()
            if request["done"]:
                self.wait()
            return result
        self.wait()
        return None

    def begin(self, workload: Workload) -> None:
        """Make what the blocks need."""
        assert self.arena is not None
        host = device = torch.frombuffer(self.arena, dtype=torch.uint8)
        if workload.device == "cuda":
            from grader.worker.cuda import opened

            device = opened(workload.device_memory, workload.device_bytes)
        self.device = workload.device
        memory = lay_out(fields(workload.name, workload.size, workload.calls), host, device)
        for tensor in memory.values():
            tensor.view(torch.uint8).flatten()[::ALIGNMENT].max()  # so that its pages are there before a block begins
        if workload.name == "peak_memory":
            give_memory_back_at_once()
        if workload.trusted:
            self.block = yardsticks.begin(workload.name, workload.size, memory, workload.device)
        else:
            self.block = speed.begin(self.assignment, workload.name, workload.size, memory, workload.device)

    def wait(self) -> None:
        """Until the device has done all that is queued."""
        if self.device == "cuda":
            torch.cuda.synchronize()


def give_memory_back_at_once() -> None:
    """Let the C library return what is freed to the system, where it is counted, instead of keeping it for later."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, 2**20)
