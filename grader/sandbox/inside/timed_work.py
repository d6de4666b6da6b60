"""Performs the timed work of a worker: it receives a workload, then runs one block of it per request.

The grader measures the time. It also owns the memory for inputs and results.
"""

import mmap
import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import torch

from grader.sandbox.inside.accelerator import Accelerator
from grader.sandbox.inside.requests import WorkloadRequest
from torchkata.inside.assignment import Assignment
from torchkata.inside.speed.layout import ALIGNMENT, lay_out
from torchkata.inside.speed.workload import work_of


class TimedWork:
    """Runs the blocks of a workload."""

    def __init__(self, assignment: Assignment, arena: mmap.mmap | None, take_descriptor: Callable[[], int]) -> None:
        self.assignment = assignment
        self.arena = arena
        self.take_descriptor = take_descriptor  # receives the descriptor of the grader's GPU memory
        self.block: Callable[[], object] | None = None
        self.accelerator: Accelerator | None = None

    def answer(self, request: Mapping[str, Any]) -> None:
        """Perform the steps in the request (lay out memory, begin, run a block), and wait until the device is done."""
        if "lay_out" in request:
            self.lay_out(msgspec.convert(request["lay_out"], WorkloadRequest))
        if "begin" in request:
            self.begin()
        if "block" in request:
            assert self.block is not None
            self.block()
        if self.accelerator is not None:
            self.accelerator.synchronize()

    def lay_out(self, request: WorkloadRequest) -> None:
        """Place the workload's tensors in shared memory."""
        assert self.arena is not None
        self.work = work_of(request.workload)
        chosen = self.work.fields(request.size, request.calls)
        host = device = torch.frombuffer(self.arena, dtype=torch.uint8)
        if request.device == "cuda":
            from grader.sandbox.inside.cuda import CUDA

            self.accelerator = CUDA
            descriptor = self.take_descriptor()
            self.device_memory = CUDA.memory(request.device_bytes, descriptor)
            os.close(descriptor)
            device = self.device_memory.tensor
        self.request = request
        self.memory = lay_out(chosen, host, device)
        for tensor in self.memory.values():
            tensor.view(torch.uint8).flatten()[::ALIGNMENT].max()  # touch every page before the first block

    def begin(self) -> None:
        """Prepare the function that runs a block."""
        request = self.request
        if request.trusted:
            self.block = self.work.baseline(request.size, self.memory, request.device)
        else:
            self.block = self.work.student(self.assignment, request.size, self.memory, request.device)
