"""The part of a worker that is timed: it takes a workload, then does one block of it whenever it is told to.

It keeps no time: the grader does, which also owns the memory that inputs come from and results go to.
"""

import ctypes
import mmap
import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import torch
from torch import Tensor

from grader.sandbox.accelerator import Accelerator
from grader.sandbox.requests import Begin
from torchkata.seam.assignment import Assignment
from torchkata.speed.layout import ALIGNMENT, bytes_needed, lay_out
from torchkata.speed.workload import MemoryPeak, work_of

MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h: its size no longer adapts once it has been set


class Bench:
    """One workload at a time."""

    def __init__(self, assignment: Assignment, arena: mmap.mmap | None, take_descriptor: Callable[[], int]) -> None:
        self.assignment = assignment
        self.arena = arena
        self.take_descriptor = take_descriptor  # the one that the grader hands over
        self.block: Callable[[], object] | None = None
        self.accelerator: Accelerator | None = None

    def answer(self, request: Mapping[str, Any]) -> object:
        """Do what is asked: lay out memory, begin, or do a block; when the answer is there, the device has done it."""
        if "lay_out" in request:
            self.lay_out(msgspec.convert(request["lay_out"], Begin))
        if "begin" in request:
            self.begin()
        result = None
        if "block" in request:
            assert self.block is not None
            result = self.block()
        self.wait()
        return result

    def lay_out(self, order: Begin) -> None:
        """Find the memory, and let go of the rest: what lies there could hold things that are not counted."""
        assert self.arena is not None
        self.work = work_of(order.workload)
        chosen = self.work.fields(order.size, order.calls)
        needed = bytes_needed(chosen, on_host=True if order.device == "cuda" else None)
        host = device = torch.frombuffer(self.arena, dtype=torch.uint8)
        unmap(host[max(needed, ALIGNMENT) :])
        if order.device == "cuda":
            from grader.sandbox.cuda import CUDA

            self.accelerator = CUDA
            descriptor = self.take_descriptor()
            self.device_memory = CUDA.memory(order.device_bytes, descriptor)
            os.close(descriptor)
            device = self.device_memory.tensor
        self.order = order
        self.memory = lay_out(chosen, host, device)
        for tensor in self.memory.values():
            tensor.view(torch.uint8).flatten()[::ALIGNMENT].max()  # so that its pages are there before a block begins
        if isinstance(self.work, MemoryPeak):
            give_memory_back_at_once()

    def begin(self) -> None:
        """Make what the blocks need."""
        order = self.order
        if order.trusted:
            self.block = self.work.baseline(order.size, self.memory, order.device)
        else:
            self.block = self.work.student(self.assignment, order.size, self.memory, order.device)

    def wait(self) -> None:
        """Until the device has done all that is queued."""
        if self.accelerator is not None:
            self.accelerator.synchronize()


def unmap(memory: Tensor) -> None:
    """Whole pages are there no more, for this process. uint8[bytes]"""
    munmap = ctypes.CDLL(None).munmap
    munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    munmap(memory.data_ptr(), memory.numel())


def give_memory_back_at_once() -> None:
    """Let the C library return what is freed to the system, where it is counted, instead of keeping it for later."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, 2**20)
