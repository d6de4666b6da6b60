"""pytest plugin that prints a notice while a slow test is running."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import suppress

import pytest

from torchkata.i18n import _

from .run_state import get_state
from .selection import find_kata

SECONDS = 4.0  # seconds between notices; shorter than the time limit of a call


@pytest.hookimpl(trylast=True)  # run after pytest's terminal plugin
def pytest_configure(config: pytest.Config) -> None:
    """Duplicate the file descriptor of the output if pytest has a terminal reporter, which it lacks in the grader."""
    if config.pluginmanager.hasplugin("terminalreporter"):
        with suppress(OSError, ValueError):
            get_state(config).terminal = os.dup(sys.stdout.fileno())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the descriptor."""
    state = get_state(config)
    if state.terminal is not None:
        os.close(state.terminal)
        state.terminal = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Start a thread that prints notices during a test of a kata."""
    kata, ended, terminal = find_kata(item.path), threading.Event(), get_state(item.config).terminal
    if kata is None or terminal is None:
        return (yield)

    def watch() -> None:
        seconds = 0.0
        while not ended.wait(SECONDS):
            seconds += SECONDS
            values = {"test": f"{kata} · {item.name}", "seconds": f"{seconds:g}"}
            line = _("… {test} has been running for {seconds} seconds (Ctrl-C stops the tests)", **values)
            with suppress(OSError):
                os.write(terminal, f"\n{line}\n".encode())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        return (yield)
    finally:
        ended.set()
        thread.join()
