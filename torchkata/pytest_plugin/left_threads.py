"""pytest plugin that ends Python even if a thread of the student's code never ends. Python itself would wait for it."""

import atexit
import os
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from torchkata.course import course
from torchkata.i18n import _
from torchkata.inside.process_limits import find_threads
from torchkata.streams import open_nothing

SECONDS = 1.0  # time in which the threads may end, as the idle threads of a pool do


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Discard what such threads print, because it would be mixed with the results. The reporter has its own stream."""
    if find_threads():
        sys.stdout = sys.stderr = open_sink()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main() -> Generator[None, int, int]:
    """Start a thread that ends the program if threads of the student's code are left when it should exit."""
    code = yield
    if threads := find_threads():
        threading.Thread(target=end_program, args=(threads, code), daemon=True).start()
    return code


def end_program(threads: Sequence[threading.Thread], code: int) -> None:
    """Wait until Python waits for its threads. If one of these then does not end, name it and exit Python."""
    while not is_exiting():
        sleep(SECONDS / 10)
    end, streams = monotonic() + SECONDS, (sys.stdout, sys.stderr)
    sys.stdout = sys.stderr = open_sink()
    for thread in threads:
        thread.join(max(0.0, end - monotonic()))
    places = {find_place(thread) for thread in threads if thread.is_alive()}
    if not places:
        return
    with suppress(Exception):
        atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        for place in sorted(places):
            print(
                _("{place}: a thread is still running after the tests; it is ended now", place=place), file=streams[1]
            )
        for stream in streams:
            stream.flush()
    os._exit(code)


@cache  # never closed, because a thread that is printing to it would crash Python
def open_sink() -> Any:
    """Return a stream that discards what is written to it."""
    return open_nothing()


def is_exiting() -> bool:
    """Return whether the main thread is waiting for the other threads at the end of the program."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if frame.f_code.co_name == "_shutdown" and frame.f_code.co_filename == threading.__file__:
            return True
        frame = frame.f_back
    return False


def find_place(thread: threading.Thread) -> str:
    """Return the line of the student's code that a thread is executing, if there is one."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(course().assignment):
            return _("{file}, line {line}", file=file.name, line=frame.f_lineno)
        frame = frame.f_back
    return _("your code")
