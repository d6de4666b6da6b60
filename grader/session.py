"""Runs the tests over submissions: collected once, then one trusted child process for each submission.

    collected tests ──fork──► child: pytest + Hypothesis + oracle ──channel──► worker: the student's code
                                └── results over a pipe ──► back here

A child starts from the same state every time, so a submission is graded as if alone, whatever came before it.
"""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from socket import socket
from typing import Protocol, TypeAlias

import msgspec
import pytest
import torch
from _pytest.runner import runtestprotocol

from grader import rubric
from grader.result import KataResult
from grader.rubric import Timed
from grader.submission import Submission
from grader.worker.home import WorkerHome
from grader.worker.launch import Sandbox
from kata.catalog import ROOT, Kata, catalog
from kata.exercise import Probe, Reply
from kata.explain import Ending
from kata.failures import NotStarted, Place
from kata.profiles import SEED
from kata.selection import STUDENT, kata_of
from kata.student import Home, Student
from kata.values import Plain

STANDINS = Path(__file__).with_name("standins")


@dataclass(frozen=True)
class Order:
    """One submission to grade."""

    submission: Submission
    katas: tuple[Kata, ...]
    seed: int
    sound: frozenset[str] = frozenset()  # katas that are known to be done, and need no stand-in


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


Event: TypeAlias = TestEnded | Graded


class Tests:
    """The collected tests, by kata and name."""

    def __init__(self, session: pytest.Session, examples: int) -> None:
        self.config = session.config
        self.examples = examples
        self.items: dict[str, dict[str, pytest.Item]] = {}
        for item in session.items:
            kata = kata_of(item.path)
            if kata is not None:
                self.items.setdefault(kata, {})[item.name] = item
        found = {kata: set(items) for kata, items in self.items.items()}
        expected = {kata.name: set(kata.points) for kata in catalog().katas.values()}
        if found != expected:
            raise RuntimeError(f"tests and catalog differ: {sorted(all_names(found) ^ all_names(expected))}")

    def rehearse(self) -> None:
        """Run each test until it first asks the student, and find nobody there.

        What Hypothesis prepares for a test it then has ready for every submission. Raises RuntimeError for a test that
        ends by itself.
        """
        self.config.stash[SEED] = 0
        self.config.stash[STUDENT] = Student(Nobody())
        for item in (item for items in self.items.values() for item in items.values()):
            ending = run(item).ending
            if ending.outcome != "not_started":
                raise RuntimeError(f"{item.nodeid} does not ask the student: {ending.message}")
        gc.collect()
        gc.freeze()


class Nobody:
    """The home of no code at all."""

    def renew(self, kata: str) -> None:
        """Nothing to import."""

    def exercise(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Raises NotStarted."""
        raise NotStarted(Place())


def all_names(tests: Mapping[str, set[str]]) -> set[str]:
    """`kata::test` of every test."""
    return {f"{kata}::{name}" for kata, names in tests.items() for name in names}


class Collector:
    """A pytest plugin that hands the collected tests over instead of running them."""

    def __init__(self, use: Callable[[Tests], None], examples: int) -> None:
        self.use = use
        self.examples = examples
        self.error: BaseException | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take over from pytest."""
        try:
            if session.testsfailed:
                raise RuntimeError("the tests can't be collected; plain pytest says why")
            tests = Tests(session, self.examples)
            tests.rehearse()
            self.use(tests)
        except BaseException as error:
            self.error = error
        return True


def with_tests(use: Callable[[Tests], None], examples: int, profile: str) -> None:
    """Collect the tests in this process under a Hypothesis profile and call `use` with them."""
    torch.set_num_threads(1)  # after an operation on several threads, torch hangs in a forked child
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    collector = Collector(use, examples)
    arguments = [str(ROOT / "tests"), f"--rootdir={ROOT}", f"--config-file={ROOT / 'pyproject.toml'}"]
    arguments += ["--override-ini=addopts=", "--override-ini=filterwarnings=", "--assert=plain", "--capture=no"]
    arguments += ["--import-mode=importlib", f"--hypothesis-profile={profile}", f"--examples={examples}"]
    arguments += ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "_hypothesis_pytestplugin"]
    code = pytest.main(arguments, plugins=[collector])
    if collector.error is not None:
        raise collector.error
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest could not start ({code!r})")


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
                child.end()
                if message is None:
                    child.control.close()
                    idle.append(sandbox.clone())
                    yield Graded(child.order, None, time.monotonic() - child.began)
                else:
                    idle.append(child.control)
                    katas = msgspec.msgpack.decode(message, type=list[KataResult])
                    yield Graded(child.order, katas, time.monotonic() - child.began)
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

    def end(self) -> None:
        """Reap it."""
        self.results.close()
        os.waitpid(self.pid, 0)


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
        katas = grade_submission(order, tests, WorkerHome(control, catalog().limits), lambda: send.send_bytes(b""))
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
    seconds = catalog().limits.kata_seconds * max(1.0, tests.examples / 100)
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


def run(item: pytest.Item) -> Timed:
    """One test, set up and torn down by itself."""
    began = time.monotonic()
    reports = runtestprotocol(item, nextitem=None, log=False)
    endings = [ending for report in reports if (ending := getattr(report, "ending", None)) is not None]
    fault = next((str(report.longrepr) for report in reports if report.failed and not hasattr(report, "ending")), "")
    if fault or len(endings) != 1 or reports[1].skipped:
        text = fault.strip().splitlines()[-1] if fault else "the test did not run"
        return Timed(Ending("inconclusive", f"the grader itself failed: {text}"), time.monotonic() - began)
    return Timed(endings[0], time.monotonic() - began)
