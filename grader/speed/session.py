"""Grades the speed of one submission after the other, each in a child process, on one device that nobody else uses."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from socket import socket
from typing import TypeAlias

import msgspec

from grader.results.result import KataResult, PerformanceResult
from grader.sandbox.launch import Sandbox, connect_zygote
from grader.speed import setup
from grader.speed.child import Send, messages
from grader.speed.grading import NOT_YOUR_FAULT, ended, grade
from torchkata.course import Workload, course
from torchkata.speed.sizes import Kind

SILENCE = 900.0  # seconds for one workload, retries and all


@dataclass(frozen=True)
class SpeedJob:
    """What is to be timed of one submission."""

    submission: str
    files: Mapping[str, bytes]
    katas: tuple[KataResult, ...]  # how they were graded
    workloads: tuple[Workload, ...]


class Row(msgspec.Struct, frozen=True, tag=True):
    """What a child sends after each workload."""

    row: PerformanceResult


class About(msgspec.Struct, frozen=True, tag=True):
    """What it sends before them: the device."""

    facts: dict[str, str]


Message: TypeAlias = Row | About


def grade_speed(job: SpeedJob, kind: Kind, sandbox: Sandbox) -> Iterator[Message]:
    """The device, then each workload of the job as it ends. Raises MachineError where the sandbox breaks down.

    Where a process is lost or its device fails, another one goes on; a workload that none gets past is inconclusive.
    """
    missing = list(job.workloads)
    while missing:
        left = len(missing)
        for message in in_a_child(replace(job, workloads=tuple(missing)), kind, sandbox):
            if isinstance(message, Row):
                missing = [workload for workload in missing if workload.name != message.row.workload]
            yield message
        if len(missing) == left:
            text = f"the process that timed it was lost; {NOT_YOUR_FAULT}"
            yield Row(ended(kind, missing.pop(0), "inconclusive", text))


def in_a_child(job: SpeedJob, kind: Kind, sandbox: Sandbox) -> Iterator[Message]:
    """What one process tells before it ends. Raises MachineError."""

    def work(student: socket, baseline: socket, send: Send) -> None:
        machine = setup.machine(kind, student, baseline)
        send(msgspec.msgpack.encode(About(machine.facts())))
        for row in grade(machine, job.workloads, with_fallbacks(job)):
            send(msgspec.msgpack.encode(Row(row)))

    for message in on_device(sandbox, work, SILENCE):
        yield msgspec.msgpack.decode(message, type=Message)


def on_device(sandbox: Sandbox, work: Callable[[socket, socket, Send], None], silence: float) -> Iterator[bytes]:
    """What `work` sends from a process of its own, which has connections for both workers. Raises MachineError."""
    student, baseline = connect_zygote(sandbox), connect_zygote(sandbox)

    def begin(send: Send) -> None:
        if sandbox.gpu is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = sandbox.gpu.uuid
        work(student, baseline, send)

    try:
        yield from messages(begin, silence)
    finally:
        student.close()
        baseline.close()


def with_fallbacks(job: SpeedJob) -> dict[str, dict[str, bytes]]:
    """The files for each workload: the last kata that it uses is the student's, a broken one below it is replaced."""
    broken = {kata.kata for kata in job.katas if kata.status != "done"}
    return {
        workload.name: {
            **job.files,
            **{f"{name}.py": course().fallback(name).read_bytes() for name in workload.uses[:-1] if name in broken},
        }
        for workload in job.workloads
    }
