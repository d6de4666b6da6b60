"""pytest plugin that prints a notice while a slow test is running, and the first failure of a run that takes longer."""

import os
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import suppress
from time import monotonic  # the function itself: a probe may replace `time.monotonic` while a test runs

import pytest

from torchkata.i18n import _, wrap
from torchkata.result import FAILED

from .failure_groups import is_unmet
from .report import WIDTH
from .run_state import get_result, get_state
from .selection import find_kata

SECONDS = 4.0  # seconds between notices; shorter than the time limit of a call
PATIENCE = 2.0  # seconds after which a terminal shows a failure, which it shows again at the end of the run


class Watch(threading.Thread):
    """A thread that prints notices about the test that is running. It serves all tests of a run."""

    def __init__(self, terminal: int) -> None:
        super().__init__(daemon=True)
        self.terminal = terminal
        self.running: tuple[str, float] | None = None  # a test, and when it began
        self.failed: tuple[str, float] | None = None  # the message of the first failure, and when it was known
        self.ended = threading.Event()

    def write(self, lines: Iterable[str]) -> None:
        """Print some lines."""
        with suppress(OSError):
            os.write(self.terminal, "\n".join(["", *lines, ""]).encode("utf-8", errors="replace"))

    def run(self) -> None:
        """Print the first failure, and a notice every `SECONDS` seconds of a test."""
        is_shown = False
        told: tuple[tuple[str, float] | None, int] = (None, 0)
        while not self.ended.wait(SECONDS / 8):
            running, failed = self.running, self.failed
            if failed is not None and not is_shown and monotonic() - failed[1] > PATIENCE:
                is_shown = True
                self.write(part for line in failed[0].splitlines() for part in wrap(line, WIDTH))
            if running is None:
                continue
            count = int((monotonic() - running[1]) / SECONDS)
            if count and (running, count) != told:
                told = running, count
                values = {"test": running[0], "seconds": f"{count * SECONDS:g}"}
                self.write([_("… {test} has been running for {seconds} seconds (Ctrl-C stops the tests)", **values)])


WATCH = pytest.StashKey[Watch]()


@pytest.hookimpl(trylast=True)  # run after pytest's terminal plugin
def pytest_configure(config: pytest.Config) -> None:
    """Duplicate the file descriptor of the output if pytest has a terminal reporter, which it lacks in the grader."""
    if config.pluginmanager.hasplugin("terminalreporter"):
        with suppress(OSError, ValueError):
            get_state(config).terminal = os.dup(sys.stdout.fileno())


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the thread, and close the descriptor."""
    state = get_state(config)
    if watch := config.stash.get(WATCH, None):
        watch.ended.set()
        watch.join()
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
        watch = item.config.stash[WATCH] = Watch(terminal)
        watch.start()
    watch.running = f"{kata} · {item.name}", monotonic()
    try:
        return (yield)
    finally:
        watch.running = None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside the hook that attaches the result
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell the thread about the first failure that is no consequence of another one, as in the report.

    Only a terminal shows it early. In a file or a pipe, nobody waits for it, and the report would only repeat it.
    """
    report = yield
    result, watch = get_result(report), item.config.stash.get(WATCH, None)
    if watch is None or watch.failed is not None or result is None or not os.isatty(watch.terminal):
        return report
    if result.outcome in FAILED and not is_unmet(result):
        watch.failed = result.message, monotonic()
    return report
