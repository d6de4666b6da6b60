"""A session grades submissions in parallel, each in its own trusted child process.

    collected tests ──fork──► child: pytest + Hypothesis + oracle ──channel──► worker: the student's code
                                │  └── `control` ──► zygote ──fork for each test──────┘
                                └── results over a pipe ──► back here

A zygote (see `grader.sandbox`) serves one child at a time, so there are at most as many as children at the same time.
`control` is the connection to it. A child that has finished leaves it to a later child.

Every child starts from the same state, so each submission is graded independently of the others. If a child dies or
hangs, the results of its finished tests are kept and a second child continues with the remaining tests. If the second
child is also lost, the remaining tests are reported as crashed.
"""

import contextlib
import os
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing.connection import Connection, wait
from socket import socket

import msgspec

from grader.base.files import in_use
from grader.base.processes import ForkedChild, fork_child, limit_cpu, limit_memory
from grader.base.signals import interruptible, uninterrupted
from grader.pipeline import lint, rubric
from grader.pipeline.collect import Tests
from grader.pipeline.grading import draw_ahead, grade_submission
from grader.pipeline.job import Event, FinishedTest, Graded, Job
from grader.pipeline.startup import compute_patience
from grader.results.result import Finding, KataResult
from grader.sandbox.launch import Sandbox, connect_zygote, demand_no_cuda
from grader.sandbox.runner import WorkerRunner
from torchkata.i18n import preload_texts
from torchkata.result import TestResult

SLACK = 120.0  # additional seconds that a child may take beyond the time limits of its katas
MEMORY_MIB = 400  # memory that a child may allocate in addition to its inherited memory
LOST = TestResult(  # of a test that both children have not finished
    "",
    "crashed",
    message="the grader crashed twice while checking your code's answers",
    cause="the grader's process was lost",
)


class Ran(msgspec.Struct, frozen=True, tag=True):
    """The message that a child sends after each test."""

    kata: str
    result: TestResult
    trace: str = ""


class Finished(msgspec.Struct, frozen=True, tag=True):
    """The message that a child sends after all tests."""

    katas: list[KataResult]


class Linted(msgspec.Struct, frozen=True, tag=True):
    """The message that a child sends for each file, after all others, if findings are requested."""

    file: str
    findings: list[Finding]


def grade(queued: Iterable[Job], tests: Tests, sandbox: Sandbox, jobs: int) -> Generator[Event, None, None]:
    """Grade up to `jobs` submissions at a time and yield events. One job more is taken from `queued` in advance.

    Ctrl-C takes effect only while this generator waits for children or draws inputs, or where `queued` allows it.
    Closing the generator kills all children. Raises MachineError if the sandbox fails or this process can't fork.
    """
    preload_texts()
    coming = iter(queued)
    idle: list[socket] = []  # connections to zygotes whose child has finished
    running: dict[Connection, Child] = {}

    def begin(job: Job, lost: Child | None = None) -> None:
        child = start(job, tests, idle.pop() if idle else connect_zygote(sandbox), lost)
        running[child.messages] = child

    with uninterrupted(), in_use(sandbox.runtime):  # in use: no other grader removes the workers' files
        try:
            job = next(coming, None)
            while job is not None or running:
                while job is not None and len(running) < jobs:
                    begin(job)
                    job = next(coming, None)
                for child in wait_for_news(running):
                    if event := child.receive():
                        yield event
                    if not child.has_ended:
                        continue
                    del running[child.messages]
                    child.end()
                    is_complete = child.katas is not None
                    if is_complete:
                        idle.append(child.control)
                    else:  # end the zygote and its worker, which may still be running the student's code
                        child.control.close()
                    if is_complete or child.lost:
                        yield child.build_event()
                    else:
                        begin(child.job, lost=child)
        finally:
            for child in running.values():
                child.end()
                child.control.close()
            for control in idle:
                control.close()


@dataclass
class Child(ForkedChild):
    """A process that grades one submission, and the messages received from it so far."""

    job: Job
    control: socket  # the connection to its zygote
    began: float
    deadline: float
    finished: dict[str, dict[str, TestResult]]  # keyed by kata and test
    lost: "Child | None" = None  # a previous child for this job that died or hung
    katas: list[KataResult] | None = None
    findings: dict[str, list[Finding]] = field(default_factory=dict)  # keyed by file
    has_ended: bool = False
    traces: dict[tuple[str, str], str] = field(default_factory=dict)  # how broken tests failed, keyed by kata and test

    def receive(self) -> FinishedTest | None:
        """Store the next message, and return an event if it is the result of a test.

        Call this after `wait_for_news`: if there is no message, the child has exited or exceeded its deadline.
        """
        message = None
        with contextlib.suppress(EOFError, OSError):
            if self.messages.poll():
                message = msgspec.msgpack.decode(self.messages.recv_bytes(), type=Ran | Finished | Linted)
        match message:
            case Ran(kata, result, trace):
                self.finished.setdefault(kata, {})[result.name] = result
                if trace:
                    self.traces[kata, result.name] = trace
                return FinishedTest(self.job, kata, result, trace)
            case Finished(katas):
                self.katas = katas
            case Linted(file, findings):
                self.findings[file] = findings
            case None:
                self.has_ended = True
        return None

    def build_event(self) -> Graded:
        """Return the event for the finished job. Tests without a result are reported as `LOST`."""
        katas = self.katas
        if katas is None:
            katas = [
                self.job.reusable.get(kata.name) or rubric.score(kata, self.finished.get(kata.name, {}), missing=LOST)
                for kata in self.job.katas
            ]
        findings = list(chain.from_iterable(self.findings.values()))
        if self.job.lint:
            findings += lint.report_skipped(self.job.submission.files, self.findings)
        first_attempt = self.lost or self
        seconds = time.monotonic() - first_attempt.began
        return Graded(self.job, katas, seconds, findings, first_attempt.traces | self.traces)


def wait_for_news(running: Mapping[Connection, Child]) -> list[Child]:
    """Wait until at least one child has sent a message, exited or exceeded its deadline. Return these children."""
    deadline = min(child.deadline for child in running.values())
    with interruptible():
        ready = wait(list(running), timeout=max(0.0, deadline - time.monotonic()))
    now = time.monotonic()
    return [child for connection, child in running.items() if connection in ready or child.deadline < now]


def start(job: Job, tests: Tests, control: socket, lost: Child | None = None) -> Child:
    """Fork a child that grades one submission, excluding the tests that a `lost` child has finished.

    Raises MachineError if the sandbox fails or this process can't fork.
    """
    finished = lost.finished if lost else {}
    with contextlib.ExitStack() as undo:
        undo.callback(control.close)  # if there is no child to use the zygote, end it
        with interruptible():
            draw_ahead(job, tests)
        demand_no_cuda()
        if job.lint:
            lint.load_oracle_bodies()  # fill the cache once for all children
        began = time.monotonic()
        forked = fork_child(
            lambda sending: grade_job(job, tests, control, sending, finished), f"grading {job.submission.id}"
        )
        undo.pop_all()
    kata_seconds = job.limits.kata_seconds * job.limits.wall_factor * compute_patience(tests.examples)
    deadline = began + 2 * len(job.katas) * kata_seconds + SLACK  # a failing test runs twice but is counted once
    return Child(*forked, job, control, began, deadline, finished, lost)


def grade_job(
    job: Job, tests: Tests, control: socket, sending: Connection, finished: Mapping[str, Mapping[str, TestResult]]
) -> None:
    """Grade the job and send the result of each test, then the results of the katas, and finally the findings."""

    def send(message: Ran | Finished | Linted) -> None:
        sending.send_bytes(msgspec.msgpack.encode(message))

    limit_memory(MEMORY_MIB)  # so that a huge answer leaves enough for the other children
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # no test needs a GPU, which torch would otherwise initialize
    runner = WorkerRunner(control, job.limits)
    send(Finished(grade_submission(job, tests, runner, lambda *ran: send(Ran(*ran)), finished)))
    if job.lint:  # last, so that source code designed to crash the parser affects only the findings
        limit_cpu(lint.CPU_SECONDS)
        limit_memory(lint.MEMORY_MIB)
        for file, source in job.submission.files.items():
            send(Linted(file, lint.lint_file(file, source)))
