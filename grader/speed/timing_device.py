"""Sets up the device used for speed grading, and detects problems with it."""

import os
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from socket import socket

import torch

from grader.sandbox.launch import Gpu, Timing
from grader.speed.machine import Machine
from grader.speed.state import DeviceState, StateUnknown, describe_other_users, describe_slowdown, read_state
from torchkata.course import Limits, course
from torchkata.inside.speed.sizes import Kind
from torchkata.speed.datasheets import device

CPU_ARENA = 2**30
HOST_ARENA = 2**28  # host memory that workers on a GPU use as well, for the data of get_batch
SHARE_OF_GPU = 0.25  # fraction of GPU memory for the tensors of a worker
MEMORY_MIB = 8192
PROCESSOR_SECONDS = 3600.0


def plan_workers(gpu: Gpu | None = None) -> Timing:
    """Return the additional resources for timed workers on a GPU or on the CPU."""
    if gpu is not None:
        return Timing(arena_bytes=HOST_ARENA, gpu=gpu)
    return Timing(arena_bytes=CPU_ARENA, core=max(os.sched_getaffinity(0)))


def get_limits() -> Limits:
    """Return the limits for timed workers, which apply in addition to the time limit of each block."""
    return replace(course().limits, memory_mib=MEMORY_MIB, kata_seconds=PROCESSOR_SECONDS)


def cpu_name() -> str:
    """Return the name of the processor as reported by Linux."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def find_missing(kind: Kind) -> str:
    """Return why this machine can't grade speed, or "". Initializes CUDA, so call this function in a child process."""
    if platform.system() != "Linux":
        return "speed is graded on Linux only"
    if kind == "cuda" and not torch.cuda.is_available():
        return "there is no CUDA device here"
    return ""


def open_machine(kind: Kind, student: socket, baseline: socket) -> Machine:
    """Return the device, ready for use. For kind "cuda", this initializes CUDA, so call it in a child process."""
    if kind == "cpu":
        torch.set_num_threads(1)  # with more threads, the checks would be ten times slower on busy cores
        return Machine(kind, cpu_name(), None, CPU_ARENA, get_limits(), student, baseline, lambda: "")
    watch = StateWatch()
    trouble = watch.check()  # check this before this process uses the device
    name = torch.cuda.get_device_name()
    arena = int(SHARE_OF_GPU * torch.cuda.mem_get_info()[1])
    return Machine(
        kind,
        name,
        device(name),
        arena,
        get_limits(),
        student,
        baseline,
        lambda: trouble or watch.check(),
        watch.before.driver if watch.before else "",
    )


class StateWatch:
    """Detects GPU problems that have occurred since the last check."""

    def __init__(self, read: Callable[[], DeviceState] = read_state) -> None:
        self.read = read
        self.before: DeviceState | None = None

    def check(self) -> str:
        """Return a problem that has occurred since the last call, or ""."""
        try:
            now = self.read()
        except StateUnknown as error:
            return str(error)
        before, self.before = self.before, now
        if before is None:
            return describe_other_users(now, {os.getpid()}) or ""
        return describe_slowdown(before, now) or ""
