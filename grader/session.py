"""Runs the collected tests over submissions, in one trusted child process for each submission.

    collected tests ──fork──► child: pytest + Hypothesis + oracle ──channel──► worker: the student's code
                                └── results over a pipe ──► back here

A child starts from the same state every time, so a submission is graded as if alone, whatever came before it.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from socket import socket
from typing import Protocol, TypeAlias

import msgspec

from grader import rubric
from grader.collect import Tests, run
from grader.result import KataResult
from grader.submission import Submission
from grader.worker.home import WorkerHome
from grader.worker.launch import Sandbox
from kata.catalog import Kata, Limits, catalog
from kata.profiles import SEED
from kata.selection import STUDENT
from kata.student import Home, Student

STANDINS = Path(__file__).with_name("standins")


@dataclass(frozen=True)
class Order:
    """One submission to grade."""

    submission: Submission
    katas: tuple[Kata, ...]
    seed: int
    sound: frozenset[str] = frozenset()  # katas that are known to be done, and need no stand-in
    limits: Limits = field(default_factory=lambda: catalog().limits)
    then: "Order | None" = None  # graded right after it, by the same zygote


@dataclass(frozen=True)
class TestEnded:
    """A test of this order has ended."""

    order: Order


@dataclass(frozen=True)
class Graded:
    """An order is done; `katas` is None when the child that graded it was lost, through no fault of the student's."""

    order: Order
    katas: list[KataResult] | None
    seconds: float
    peak_mib: float  # of the grader's own process, most of it torch


Event: TypeAlias = TestEnded | Graded


def grade(orders: Sequence[Order], tests: Tests, sandbox: Sandbox, jobs: int) -> Iterator[Event]:
    """Grade up to `jobs` submissions at a time; events as they come. Kills what still runs when it is closed."""
    waiting = list(reversed(orders))
    idle = [sandbox.clone() for _ in range(min(jobs, len(orders)))]
    running: dict[Connection, Child] = {}
    try:
        while waiting or running:
            while waiting and idle:
                child = start(waiting.pop(), tests, idle.pop())
                running[child.results] = child
            for connection in wait(list(running)):
                assert isinstance(connection, Connection)
                child = running[connection]
                try:
                    message = connection.recv_bytes()
                except (EOFError, OSError):
                    message = None
                if message == b"":
                    yield TestEnded(child.order)
                    continue
                del running[connection]
                peak_mib = child.end()
                katas = None if message is None else msgspec.msgpack.decode(message, type=list[KataResult])
                if katas is None:
                    child.control.close()
                control = child.control if katas is not None else sandbox.clone()
                if child.order.then is None:
                    idle.append(control)
                else:
                    follower = start(child.order.then, tests, control)
                    running[follower.results] = follower
                yield Graded(child.order, katas, time.monotonic() - child.began, peak_mib)
    finally:
        for child in running.values():
            os.kill(child.pid, signal.SIGKILL)
            child.end()
        for control in idle:
            control.close()


@dataclass(frozen=True)
class Child:
    """A process that grades one submission."""

    order: Order
    pid: int
    results: Connection
    control: socket
    began: float

    def end(self) -> float:
        """Reap it; the most memory that it had, in MiB."""
        self.results.close()
        _, _, used = os.wait4(self.pid, 0)
        return used.ru_maxrss / 2**10


def start(order: Order, tests: Tests, control: socket) -> Child:
    """Fork a child that grades one submission and sends an empty message for each test, then the result."""
    receive, send = Pipe(duplex=False)
    began = time.monotonic()
    pid = os.fork()
    if pid:
        send.close()
        return Child(order, pid, receive, control, began)
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        katas = grade_submission(order, tests, WorkerHome(control, order.limits), lambda: send.send_bytes(b""))
        send.send_bytes(msgspec.msgpack.encode(katas))
        status = 0
    except BrokenPipeError:
        pass
    except BaseException as error:
        print(f"grading {order.submission.id}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


class GradingHome(Home, Protocol):
    """A home that takes one kata's files after the other."""

    def open(self, files: Mapping[str, bytes], seconds: float) -> None:
        """Grade these files from now on, for so long in all."""

    def end(self) -> int:
        """No student's code runs any more."""


def grade_submission(order: Order, tests: Tests, home: GradingHome, ended: Callable[[], None]) -> list[KataResult]:
    """All katas of one submission, in order, each on foundations that hold."""
    tests.config.stash[SEED] = order.seed
    tests.config.stash[STUDENT] = Student(home)
    seconds = order.limits.kata_seconds * max(1.0, tests.examples / 100)
    results: list[KataResult] = []
    for kata in order.katas:
        done = {result.kata for result in results if result.status == "done"} | order.sound
        home.open(on_firm_ground(kata, order.submission.files, done), seconds)
        timed = {}
        for name, item in tests.items[kata.name].items():
            timed[name] = run(item)
            ended()
        results.append(rubric.score(kata, timed))
    home.end()
    return results


def on_firm_ground(kata: Kata, files: Mapping[str, bytes], done: Set[str]) -> dict[str, bytes]:
    """The student's files, with a stand-in for each foundation of this kata that is not done."""
    broken = [name for name in catalog().foundations(kata.name) if name not in done]
    return {**files, **{f"{name}.py": (STANDINS / f"{name}.py").read_bytes() for name in broken}}
