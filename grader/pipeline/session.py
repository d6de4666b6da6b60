"""Runs the collected tests over submissions, in one trusted child process for each submission.

    collected tests ──fork──► child: pytest + Hypothesis + oracle ──channel──► worker: the student's code
                                └── results over a pipe ──► back here

A child starts from the same state every time, so a submission is graded as if alone, whatever came before it. One that
is lost keeps what has ended; another one goes on from there, and if it is lost, too, the rest counts as crashed.
"""

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from socket import socket
from types import MappingProxyType
from typing import Protocol, TypeAlias

import msgspec
import pytest

from grader.base.cleanup import in_use
from grader.base.signals import end_with_parent, interruptible, uninterrupted
from grader.pipeline import lint, rubric
from grader.pipeline.collect import Tests, run
from grader.pipeline.submission import Submission
from grader.results.result import Finding, KataResult
from grader.sandbox.launch import Sandbox, connect, demand_forkable
from grader.sandbox.runner import WorkerRunner
from torchkata.compat.hypothesis_internals import few_examples
from torchkata.course import Kata, Limits, course
from torchkata.i18n import preload_texts
from torchkata.pytest_plugin.run_state import get_state
from torchkata.result import BROKEN, FAILED, TestResult
from torchkata.seam.student import Runner, Student

SLACK = 120.0  # seconds beyond the katas' own limits, after which a grading child is given up
MEMORY_MIB = 400  # that a grading child may take beyond what it begins with
LOST = TestResult(
    "",
    "crashed",
    message="judging what your code answers has ended the grader's own process, and that of a second try, too",
    cause="the grader's process was lost",
)
BROKEN_TEST = "this test itself is broken: your instructor is told; it is not your fault, and costs nothing"


@dataclass(frozen=True)
class Job:
    """One submission to grade."""

    submission: Submission
    katas: tuple[Kata, ...]
    seed: int
    known_good: frozenset[str] = frozenset()  # katas that are known to be done, and need no fallback
    limits: Limits = field(default_factory=lambda: course().limits)
    linted: bool = False  # findings on the source are wanted
    fails: bool = False  # as is known: a first pass would come before Hypothesis in vain, and nobody reads what is told
    few: bool = False  # of the inputs are enough
    shows_all: bool = False  # no student reads it: messages may tell the seed, and where in the course a test fails
    next: "Job | None" = None  # graded right after it, by the same zygote
    kept: Mapping[str, KataResult] = field(default_factory=dict)  # by kata: graded before, as it would be again
    done_before: frozenset[str] = frozenset()  # the katas that these found done


@dataclass(frozen=True)
class TestRan:
    """A test of this job has ended."""

    job: Job
    kata: str
    result: TestResult
    trace: str = ""  # for the instructor: how a broken test failed


@dataclass(frozen=True)
class Graded:
    """A job is done."""

    job: Job
    katas: list[KataResult]
    seconds: float
    findings: list[Finding] = field(default_factory=list)
    peak_mib: float = 0.0  # of the grader's own process, most of it torch
    traces: dict[tuple[str, str], str] = field(default_factory=dict)  # by kata and test: how broken tests failed


Event: TypeAlias = TestRan | Graded


class Ran(msgspec.Struct, frozen=True, tag=True):
    """What a child sends after each test."""

    kata: str
    result: TestResult
    trace: str = ""


class Finished(msgspec.Struct, frozen=True, tag=True):
    """What it sends after all tests."""

    katas: list[KataResult]


class Linted(msgspec.Struct, frozen=True, tag=True):
    """What it sends of each file at last, where findings are wanted."""

    file: str
    findings: list[Finding]


def grade(queued: Iterable[Job], tests: Tests, sandbox: Sandbox, jobs: int) -> Generator[Event, None, None]:
    """Grade up to `jobs` submissions at a time, each taken from `queued` when its turn comes; events as they come.

    Ctrl-C strikes only while it waits. Kills what still runs when it is closed. Raises MachineError.
    """
    preload_texts()
    coming = iter(queued)
    idle: list[socket] = []
    running: dict[Connection, Child] = {}
    with uninterrupted(), in_use(sandbox.runtime):
        try:
            job = next(coming, None)
            while job is not None or running:
                while job is not None and len(running) < jobs:
                    child = start(job, tests, idle.pop() if idle else connect(sandbox))
                    running[child.results] = child
                    job = next(coming, None)
                for child in with_news(running):
                    event = child.hear()
                    if event is not None:
                        yield event
                    if not child.silent:
                        continue
                    del running[child.results]
                    child.end()
                    control, lost = child.control, child.katas is None
                    if lost:
                        control.close()
                        control = connect(sandbox)
                    again = lost and child.before is None
                    following = child.job if again else child.job.next
                    if following is None:
                        idle.append(control)
                    else:
                        other = start(following, tests, control, child if again else None)
                        running[other.results] = other
                    if not again:
                        yield child.graded()
        finally:
            for child in running.values():
                child.end()
                child.control.close()
            for control in idle:
                control.close()


@dataclass
class Child:
    """A process that grades one submission, and what it has sent, or one `before` that was lost."""

    job: Job
    pid: int
    results: Connection
    control: socket
    began: float
    deadline: float
    ended: dict[str, dict[str, TestResult]]  # by kata and test
    before: "Child | None" = None
    katas: list[KataResult] | None = None
    linted: dict[str, list[Finding]] = field(default_factory=dict)  # what was found in each file
    silent: bool = False  # it says no more
    traces: dict[tuple[str, str], str] = field(default_factory=dict)  # by kata and test: how broken tests failed
    peak_mib: float = 0.0

    def hear(self) -> TestRan | None:
        """Take in its next message; one that says nothing is gone, or late."""
        message = None
        with contextlib.suppress(EOFError, OSError):
            if self.results.poll():
                message = msgspec.msgpack.decode(self.results.recv_bytes(), type=Ran | Finished | Linted)
        match message:
            case Ran(kata, result, trace):
                self.ended.setdefault(kata, {})[result.name] = result
                if trace:
                    self.traces[kata, result.name] = trace
                return TestRan(self.job, kata, result, trace)
            case Finished(katas):
                self.katas = katas
            case Linted(file, findings):
                self.linted[file] = findings
            case None:
                self.silent = True
        return None

    def findings(self) -> list[Finding]:
        """What was found in all files, as far as they were looked through."""
        found = list(chain.from_iterable(self.linted.values()))
        return found + lint.unread(self.job.submission.files, self.linted) if self.job.linted else found

    def end(self) -> None:
        """Kill it where it still runs, and reap it; note the most memory that it had."""
        self.results.close()
        os.kill(self.pid, signal.SIGKILL)
        _, _, used = os.wait4(self.pid, 0)
        self.peak_mib = used.ru_maxrss / 2**10

    def graded(self) -> Graded:
        """All of it; what did not end is `LOST`."""
        katas, first = self.katas, self.before or self
        if katas is None:
            katas = [
                self.job.kept.get(kata.name) or rubric.score(kata, self.ended.get(kata.name, {}), missing=LOST)
                for kata in self.job.katas
            ]
        seconds = time.monotonic() - first.began
        peak_mib = max(self.peak_mib, first.peak_mib)
        return Graded(self.job, katas, seconds, self.findings(), peak_mib, first.traces | self.traces)


def with_news(running: Mapping[Connection, Child]) -> list[Child]:
    """Wait until children have sent something, have ended or are late; these."""
    first = min(child.deadline for child in running.values())
    with interruptible():
        ready = wait(list(running), timeout=max(0.0, first - time.monotonic()))
    now = time.monotonic()
    return [child for connection, child in running.items() if connection in ready or child.deadline < now]


def start(job: Job, tests: Tests, control: socket, before: Child | None = None) -> Child:
    """Fork a child that grades one submission: it sends how each test ended, the katas, the findings.

    What has ended `before` in one that was lost is not run again. Raises MachineError.
    """
    parent, ended = os.getpid(), before.ended if before else {}
    with contextlib.ExitStack() as undo:
        undo.callback(control.close)  # a zygote whose line stays open never ends, and is waited for
        with interruptible():
            draw_ahead(job, tests)
        demand_forkable()
        receive, send = Pipe(duplex=False)
        if job.linted:
            lint.oracle_bodies()  # once, for all children
        began = time.monotonic()
        pid = os.fork()
        undo.pop_all()
    if pid:
        send.close()
        seconds = 2 * job.limits.kata_seconds * patience(tests)  # a test that fails runs twice, and is charged once
        return Child(job, pid, receive, control, began, began + len(job.katas) * seconds + SLACK, ended, before)
    status = 1

    def send_on(message: Ran | Finished | Linted) -> None:
        send.send_bytes(msgspec.msgpack.encode(message))

    try:
        end_with_parent(parent)
        limit_memory()
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # no test needs a GPU, and torch would start it
        runner = WorkerRunner(control, job.limits)
        send_on(Finished(grade_submission(job, tests, runner, lambda *ran: send_on(Ran(*ran)), ended)))
        if job.linted:  # last: a source that is made to break its reader costs no more than the findings
            lint.limit_this_process()
            limit_memory(lint.MEMORY // 2**20)
            for file, source in job.submission.files.items():
                send_on(Linted(file, lint.findings_of(file, source)))
        status = 0
    except BrokenPipeError:
        pass
    except BaseException as error:
        print(f"grading {job.submission.id}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def draw_ahead(job: Job, tests: Tests) -> None:
    """Draw the inputs of the tests that this job will run and no job before it ran, so that all children share them."""
    inputs = get_state(tests.config).inputs
    if inputs is None or job.fails:
        return
    for kata in job.katas:
        for name in () if kata.name in job.kept else kata.points:
            item = tests.items[kata.name][name]
            if is_property(item):
                with examples_for(job, item):
                    inputs.of(item, job.seed)


def is_property(item: pytest.Function) -> bool:
    """Return whether Hypothesis draws the inputs of a test."""
    return hasattr(item.obj, "hypothesis")


def examples_for(job: Job, item: pytest.Function) -> contextlib.AbstractContextManager[None]:
    """Return a context in which a test takes as many examples as the job wants."""
    return few_examples(item.obj) if job.few and is_property(item) else contextlib.nullcontext()


def limit_memory(mib: int = MEMORY_MIB) -> None:
    """Let this process take no more for what it judges: whatever an answer is, the machine has room for the others."""
    status = Path("/proc/self/status")
    if status.exists():
        held = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmData:"))
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = held * 2**10 + mib * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def patience(tests: Tests) -> float:
    """How many times as long as the limits say a student's code may take: more examples get more time."""
    return max(1.0, tests.examples / 100)


class GradingRunner(Runner, Protocol):
    """A runner that takes one kata's files after the other."""

    def open(self, files: Mapping[str, bytes], patience: float) -> None:
        """Grade these files from now on, for so many times as long as the limits say."""

    def end(self) -> int:
        """No student's code runs any more."""


def grade_submission(
    job: Job,
    tests: Tests,
    runner: GradingRunner,
    ran: Callable[[str, TestResult, str], None],
    before: Mapping[str, Mapping[str, TestResult]] = MappingProxyType({}),
) -> list[KataResult]:
    """All katas of one submission, in order, each on foundations that hold; what has ended `before` does not run."""
    get_state(tests.config).seed, get_state(tests.config).is_seed_secret = job.seed, not job.shows_all
    get_state(tests.config).student = student = Student(runner)
    if job.fails:
        get_state(tests.config).inputs, get_state(tests.config).is_quick_proof = None, True
    results: list[KataResult] = []
    for kata in job.katas:
        done = {result.kata for result in results if result.status == "done"} | job.known_good
        if kata.name in job.kept and stands(kata.name, done, job.done_before):
            results.append(job.kept[kata.name])
            continue
        fallbacks = fallbacks_for(kata, done)
        student.fallbacks = frozenset(fallbacks)
        runner.open({**job.submission.files, **fallbacks}, patience(tests))
        ended = dict(before.get(kata.name, {}))
        for name in kata.points:  # those that the job asks for
            if name not in ended:
                item = tests.items[kata.name][name]
                with examples_for(job, item):
                    result = run(item)
                ended[name] = excused(result) if is_broken(tests, kata.name, result) else result
                ran(kata.name, ended[name], "" if ended[name] is result else result.message)
        results.append(rubric.score(kata, ended))
    runner.end()
    return results


def is_broken(tests: Tests, kata: str, result: TestResult) -> bool:
    """Return whether a test failed through the instructor's mistake: it says so, or the reference solution fails it."""
    return result.cause.startswith(BROKEN) or (result.outcome in FAILED and (kata, result.name) in tests.broken)


def excused(result: TestResult) -> TestResult:
    """Return what a student reads of a broken test: not how it failed, since it may be a hidden one."""
    return TestResult(result.name, "inconclusive", message=BROKEN_TEST, cause=BROKEN, seconds=result.seconds)


def stands(kata: str, done: Set[str], done_before: Set[str]) -> bool:
    """Whether a kata that was graded before would be graded with the same fallbacks again."""
    return {*course().foundations(kata)}.isdisjoint(done ^ done_before)


def fallbacks_for(kata: Kata, done: Set[str]) -> dict[str, bytes]:
    """What takes the place of each foundation of this kata that is not done."""
    broken = [name for name in course().foundations(kata.name) if name not in done]
    return {f"{name}.py": course().fallback(name).read_bytes() for name in broken}
