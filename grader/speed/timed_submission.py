"""Grades speed on an otherwise unused device, one submission at a time, each in its own child process."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from socket import socket
from typing import TypeAlias

import msgspec

from grader.results.result import KataResult, PerformanceResult
from grader.sandbox.launch import Sandbox, connect_zygote
from grader.speed import timing_device
from grader.speed.child import Send, receive_messages
from grader.speed.timed_workloads import grade, make_empty_row
from torchkata.course import Workload, course
from torchkata.i18n import translate
from torchkata.inside.speed.sizes import Kind
from torchkata.inside.text import Text
from torchkata.speed.decision import blame_machine

SILENCE = 900.0  # time limit in seconds for a workload, including retries


@dataclass(frozen=True)
class SpeedJob:
    """The workloads of a submission that have to be timed."""

    submission: str
    files: Mapping[str, bytes]
    katas: tuple[KataResult, ...]  # test results of the katas
    workloads: tuple[Workload, ...]


class Row(msgspec.Struct, frozen=True, tag=True):
    """The message that a child sends after each workload."""

    row: PerformanceResult


class DeviceFacts(msgspec.Struct, frozen=True, tag=True):
    """The first message of a child, with facts about the device."""

    facts: dict[str, str]


TimingMessage: TypeAlias = Row | DeviceFacts


def grade_speed(job: SpeedJob, kind: Kind, sandbox: Sandbox) -> Iterator[TimingMessage]:
    """Yield facts about the device, then the row of each workload. Raises MachineError if the sandbox fails.

    If the child dies or its device fails, a new child continues. A workload that fails twice is inconclusive.
    """
    missing = list(job.workloads)
    while missing:
        left = len(missing)
        for message in grade_in_child(replace(job, workloads=tuple(missing)), kind, sandbox):
            if isinstance(message, Row):
                missing = [workload for workload in missing if workload.name != message.row.workload]
            yield message
        if len(missing) == left:
            text = translate(blame_machine(Text("the timing process died")))
            yield Row(make_empty_row(kind, missing.pop(0), "inconclusive", text))


def grade_in_child(job: SpeedJob, kind: Kind, sandbox: Sandbox) -> Iterator[TimingMessage]:
    """Yield the messages of a single child process. Raises MachineError if the sandbox fails."""

    def work(student: socket, baseline: socket, send: Send) -> None:
        machine = timing_device.open_machine(kind, student, baseline)
        send(msgspec.msgpack.encode(DeviceFacts(machine.facts())))
        for row in grade(machine, job.workloads, add_fallbacks(job)):
            send(msgspec.msgpack.encode(Row(row)))

    for message in run_on_device(sandbox, work, SILENCE):
        yield msgspec.msgpack.decode(message, type=TimingMessage)


def run_on_device(sandbox: Sandbox, work: Callable[[socket, socket, Send], None], silence: float) -> Iterator[bytes]:
    """Run `work` in a child process with connections for both workers, and yield its messages.

    Raises MachineError if the sandbox fails.
    """
    student, baseline = connect_zygote(sandbox), connect_zygote(sandbox)

    def begin(send: Send) -> None:
        if sandbox.gpu is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = sandbox.gpu.uuid
        work(student, baseline, send)

    try:
        yield from receive_messages(begin, silence)
    finally:
        student.close()
        baseline.close()


def add_fallbacks(job: SpeedJob) -> dict[str, dict[str, bytes]]:
    """Return the files for each workload, including fallbacks.

    Of the katas that a workload uses, those that are not done are replaced by fallbacks, if there are any, except the
    last one.
    """
    broken = {kata.kata for kata in job.katas if kata.status != "done"}
    return {
        workload.name: {**job.files, **course().fallbacks(name for name in workload.uses[:-1] if name in broken)}
        for workload in job.workloads
    }
