"""Sets up the device used for speed grading, and detects problems with it."""

import math
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from socket import socket

import torch

from grader.sandbox.launch import Timing
from grader.sandbox.mounts import Gpu
from grader.speed.machine import Machine
from grader.speed.state import (
    DeviceState,
    StateUnknown,
    describe_other_users,
    describe_slowdown,
    read_facts,
    read_state,
)
from torchkata.course import Limits, course
from torchkata.inside.speed.sizes import Kind
from torchkata.speed.datasheets import device
from torchkata.speed.memory import SHARE_OF_GPU

CPU_ARENA = 2**30
HOST_ARENA = 2**28  # host memory that workers on a GPU use as well, for the data of get_batch
MEMORY_MIB = 8192
NEEDED_BYTES = 2**33  # host memory of three processes that use CUDA, one of which draws a large weight
GONE_SECONDS = 10.0  # how long the driver may list a process that has ended
LOOK_SECONDS = 0.5
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
    if kind == "cuda" and (limit := read_memory_limit()) < NEEDED_BYTES:
        remedy = f"ask for more than {NEEDED_BYTES / 2**30:g} GiB (Slurm: speed:mem=24G)"
        return f"this job may use only {limit / 2**30:.1f} GiB of memory, and a worker would be killed: {remedy}"
    return ""


def read_memory_limit(group: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> float:
    """Return the memory limit of this process's control group and its parents in bytes, or infinity."""
    limits = [math.inf]
    with suppress(OSError, ValueError):
        for line in group.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers not in ("", "memory"):
                continue
            folder, name = (root / controllers, "memory.limit_in_bytes") if controllers else (root, "memory.max")
            own = folder / path.lstrip("/")
            for place in (own, *own.parents):
                with suppress(OSError, ValueError):  # ValueError: "max"
                    limits.append(int((place / name).read_text()))
    return min(limits)


def open_machine(kind: Kind, student: socket, baseline: socket) -> Machine:
    """Return the device, ready for use. For kind "cuda", this initializes CUDA, so call it in a child process."""
    if kind == "cpu":
        torch.set_num_threads(1)  # with more threads, the checks would be ten times slower on busy cores
        return Machine(kind, cpu_name(), None, CPU_ARENA, get_limits(), student, baseline, lambda: "")
    watch = StateWatch()
    trouble = watch.begin()  # check this before this process uses the device
    name = torch.cuda.get_device_name()
    facts: dict[str, str] = {}
    with suppress(StateUnknown):
        facts = read_facts()
    room = int(SHARE_OF_GPU * torch.cuda.mem_get_info()[1])
    return Machine(
        kind, name, device(name), room, get_limits(), student, baseline, lambda: trouble or watch.check(), facts
    )


class StateWatch:
    """Detects GPU problems that have occurred since the last check."""

    def __init__(self, read: Callable[[], DeviceState] = read_state) -> None:
        self.read = read
        self.before: DeviceState | None = None

    def begin(self) -> str:
        """Return a problem at the start, or "". The driver may still list a process that has just been killed."""
        deadline = time.monotonic() + GONE_SECONDS
        while (trouble := self.check()) and self.before is not None and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
            self.before = None
        return trouble

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
