"""pytest plugin: says of a test that takes long that it runs, while it does."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import suppress

import pytest

from .languages import words
from .selection import kata_of

TERMINAL = pytest.StashKey[int]()  # a descriptor of the terminal, which pytest takes away while a test runs
SECONDS = 4.0  # from one line to the next: less than a call may take


@pytest.hookimpl(trylast=True)  # after the terminal
def pytest_configure(config: pytest.Config) -> None:
    """Keep what pytest writes to; the grader has no terminal."""
    if config.pluginmanager.hasplugin("terminalreporter"):
        with suppress(OSError, ValueError):
            config.stash[TERMINAL] = os.dup(sys.stdout.fileno())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give it back."""
    if TERMINAL in config.stash:
        os.close(config.stash[TERMINAL])
        del config.stash[TERMINAL]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Watch a kata's test from a thread beside it."""
    kata, ended = kata_of(item.path), threading.Event()
    if kata is None or TERMINAL not in item.config.stash:
        return (yield)

    def watch() -> None:
        seconds = 0.0
        while not ended.wait(SECONDS):
            seconds += SECONDS
            line = words("failures.slow", test=f"{kata} · {item.name}", seconds=f"{seconds:g}")
            with suppress(OSError):
                os.write(item.config.stash[TERMINAL], f"\n{line}\n".encode())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        return (yield)
    finally:
        ended.set()
        thread.join()
