"""pytest plugin that prints a notice while a slow test is running, and the first failure of a run that takes longer."""

import os
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import suppress
from time import monotonic, process_time  # the functions: a probe may replace `time.monotonic` while a test runs

import pytest

from torchkata.i18n import _, wrap
from torchkata.result import FAILED, TestResult

from .failure_groups import is_unmet
from .run_state import get_result, get_state
from .run_summary import WIDTH, find_width
from .selection import find_kata

SECONDS = 4.0  # seconds of CPU time between notices; shorter than the time limit of a call
WAITING = 4.0  # number of seconds that count as one if the test waits, also for a processor
PATIENCE = 1.0  # seconds after which a failure is shown if the run has not ended and shown it anyway
LONGER = 4.0  # the same for a failure without a diagnosis, in case another test finds one


class Watch(threading.Thread):
    """A thread that prints notices about the test that is running. It serves all tests of a run."""

    def __init__(self, terminal: int, width: int = WIDTH) -> None:
        super().__init__(daemon=True)
        self.terminal = terminal
        self.width = width
        self.early = ""  # the message of the failure that was shown
        self.running: tuple[str, float] | None = None  # a test, and when it began
        self.failed: tuple[TestResult, float] | None = None  # the failure to show, and when to show it
        self.ended = threading.Event()

    def write(self, lines: Iterable[str]) -> None:
        """Print some lines."""
        with suppress(OSError):
            os.write(self.terminal, "\n".join(["", *lines, ""]).encode("utf-8", errors="replace"))

    def add(self, result: TestResult) -> None:
        """Choose the failure to show: the first with a diagnosis, or until there is one, the first of all."""
        if result.outcome not in FAILED or is_unmet(result):
            return
        if self.failed is None or (result.diagnosis and not self.failed[0].diagnosis):
            self.failed = result, monotonic() + (PATIENCE if result.diagnosis else LONGER)

    def run(self) -> None:
        """Print one failure, and a notice every `SECONDS` seconds of a test."""
        told: tuple[tuple[str, float] | None, int] = (None, 0)
        timed, before = self.running, process_time()  # a test, and the CPU time when it began
        while not self.ended.wait(SECONDS / 8):
            running, failed = self.running, self.failed
            if failed is not None and not self.early and monotonic() > failed[1]:
                self.early = failed[0].message
                self.write(part for line in self.early.splitlines() for part in wrap(line, self.width))
            if running is None:
                continue
            if running is not timed:
                timed, before = running, process_time()
            elapsed = monotonic() - running[1]
            count = int(min(elapsed, max(process_time() - before, elapsed / WAITING)) / SECONDS)
            if count and (running, count) != told:
                told = running, count
                values = {"test": running[0], "seconds": f"{elapsed:.0f}"}
                self.write([_("… {test} has been running for {seconds} seconds (Ctrl-C stops the tests)", **values)])


WATCH = pytest.StashKey[Watch]()
COLUMNS = pytest.StashKey[int]()  # maximum number of columns of a line


@pytest.hookimpl(trylast=True)  # run after pytest's terminal plugin
def pytest_configure(config: pytest.Config) -> None:
    """Duplicate the file descriptor of the output if pytest has a terminal reporter, which it lacks in the grader."""
    if (reporter := config.pluginmanager.get_plugin("terminalreporter")) is not None:
        config.stash[COLUMNS] = find_width(reporter)  # now, because pytest captures the output later
        with suppress(OSError, ValueError):
            get_state(config).terminal = os.dup(sys.stdout.fileno())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the thread before the summary, which refers to the failure that the thread has shown."""
    if watch := session.config.stash.get(WATCH, None):
        watch.ended.set()
        watch.join()
        get_state(session.config).early = watch.early


def pytest_enter_pdb(config: pytest.Config) -> None:
    """Print no notice while somebody uses a debugger."""
    if watch := config.stash.get(WATCH, None):
        watch.running = None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the descriptor."""
    state = get_state(config)
    if state.terminal is not None:
        os.close(state.terminal)
        state.terminal = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Let the thread watch a test of a kata."""
    kata, terminal = find_kata(item.path), get_state(item.config).terminal
    if kata is None or terminal is None:
        return (yield)
    if (watch := item.config.stash.get(WATCH, None)) is None:
        watch = item.config.stash[WATCH] = Watch(terminal, item.config.stash[COLUMNS])
        watch.start()
    watch.running = f"{kata} · {item.name}", monotonic()
    try:
        return (yield)
    finally:
        watch.running = None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside the hook that attaches the result
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell the thread about the result of a test.

    Only a terminal shows a failure early. In a file or a pipe, nobody waits for it, and the report would repeat it.
    """
    report = yield
    result, watch = get_result(report), item.config.stash.get(WATCH, None)
    if watch is not None and result is not None and os.isatty(watch.terminal):
        watch.add(result)
    return report
