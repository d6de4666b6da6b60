"""Finds the device that speed is graded on, and says what is wrong with it."""

import os
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from socket import socket

import torch

from grader.sandbox.launch import Gpu, Timing
from grader.speed.calibration import stored
from grader.speed.machine import Machine
from grader.speed.state import DeviceState, StateUnknown, read_state, slowed, unfit
from torchkata.course import Limits, course
from torchkata.speed.datasheets import device
from torchkata.speed.sizes import Kind

CPU_ARENA = 2**30
HOST_ARENA = 2**28  # beside a GPU: the data that batches are cut from
SHARE_OF_GPU = 0.25  # of its memory, for the tensors of one worker
MEMORY_MIB = 8192
PROCESSOR_SECONDS = 3600.0


def timing(gpu: Gpu | None = None) -> Timing:
    """What workers need besides, on a GPU or on the CPU."""
    if gpu is not None:
        return Timing(arena_bytes=HOST_ARENA, gpu=gpu)
    return Timing(arena_bytes=CPU_ARENA, core=max(os.sched_getaffinity(0)))


def limits() -> Limits:
    """What workers may use: they are stopped block by block."""
    return replace(course().limits, memory_mib=MEMORY_MIB, kata_seconds=PROCESSOR_SECONDS)


def cpu_name() -> str:
    """The processor, as Linux calls it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def missing(kind: Kind) -> str:
    """Why speed can't be graded here, "" if it can. Starts CUDA: for a child process."""
    if platform.system() != "Linux":
        return "speed is graded on Linux only"
    if kind == "cuda" and not torch.cuda.is_available():
        return "there is no CUDA device here"
    return ""


def machine(kind: Kind, student: socket, baseline: socket) -> Machine:
    """The device, ready to be used. Starts CUDA where that is asked for: for a child process."""
    if kind == "cpu":
        torch.set_num_threads(1)  # with more, on busy cores, the checks take ten times as long
        name = cpu_name()
        return Machine(
            kind, name, None, CPU_ARENA, limits(), student, baseline, lambda: "", calibration=stored(name, kind)
        )
    watch = Watch()
    trouble = watch.trouble()  # before this process uses the device
    name = torch.cuda.get_device_name()
    arena = int(SHARE_OF_GPU * torch.cuda.mem_get_info()[1])
    return Machine(
        kind,
        name,
        device(name),
        arena,
        limits(),
        student,
        baseline,
        lambda: trouble or watch.trouble(),
        watch.before.driver if watch.before else "",
        stored(name, kind),
    )


class Watch:
    """What a GPU's state says against what was timed since it was last asked."""

    def __init__(self, read: Callable[[], DeviceState] = read_state) -> None:
        self.read = read
        self.before: DeviceState | None = None

    def trouble(self) -> str:
        """In words, "" for nothing."""
        try:
            now = self.read()
        except StateUnknown as error:
            return str(error)
        before, self.before = self.before, now
        if before is None:
            return unfit(now, {os.getpid()}) or ""
        return slowed(before, now) or ""
