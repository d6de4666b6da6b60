"""The process that runs student code, at home and in the grader: its memory, nested calls, threads and exceptions."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Protocol
from weakref import WeakSet

DEFAULT = 1000  # Python's own limit
MOST = 50_000  # the highest limit that student code can set
STACK = 120 * 2**20  # bytes for the calls in C between them, such as those of torch; Linux reserves 128 MiB
UNRAISABLE = ("__del__", "gc_callback")  # Python prints and ignores what they raise; the second is Hypothesis's

STARTED: WeakSet[threading.Thread] = WeakSet()  # threads that student code has started


class HasLimit(Protocol):
    """An object that stores the limit set by student code, or 0, from one call to the next."""

    recursion_limit: int


@contextmanager
def widen_stack() -> Iterator[None]:
    """Let the stack grow to `STACK`, so that endless recursion in this context raises an exception and does not crash.

    The limit is restored, because a process that is started later would use it for the stack of each of its threads.
    """
    if sys.platform != "linux":  # elsewhere, a stack can't grow beyond its size at the start of a program
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    with suppress(OSError, ValueError):
        if soft != resource.RLIM_INFINITY and soft < STACK:
            resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard))
    try:
        yield
    finally:
        with suppress(OSError, ValueError):  # student code may have set a lower limit for good
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


@contextmanager
def limit_recursion(files: HasLimit) -> Iterator[None]:
    """Let the code in this context nest as many calls as in a new process, or as many as it allows, up to `MOST`."""
    real, before = sys.setrecursionlimit, sys.getrecursionlimit()

    def setrecursionlimit(limit: int, /) -> None:
        real(min(limit, MOST))

    sys.setrecursionlimit = setrecursionlimit
    ours = count_frames() + DEFAULT
    with suppress(RecursionError):  # the limit of student code is lower than the number of calls around it
        real(files.recursion_limit or ours)
    try:
        yield
    finally:
        found = sys.getrecursionlimit()
        files.recursion_limit = found if found != ours else 0
        sys.setrecursionlimit = real
        real(before)


def count_frames() -> int:
    """Return the number of calls around this one."""
    count, frame = 0, sys._getframe()
    while (above := frame.f_back) is not None:
        count, frame = count + 1, above
    return count


def measure_address_space() -> int:
    """Return the size of the address space in use, most of which belongs to torch's libraries. 0 if it is unknown."""
    import resource

    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0


@contextmanager
def record_threads() -> Iterator[None]:
    """Record the threads that the code in this context starts."""
    before = {*threading.enumerate()}
    try:
        yield
    finally:
        STARTED.update({*threading.enumerate()} - before)


def find_threads() -> list[threading.Thread]:
    """Return the recorded threads for which Python would wait before it exits."""
    return [thread for thread in STARTED if thread.is_alive() and not thread.daemon]


def raise_at_next_line(error: BaseException, frame: FrameType | None, folder: Path) -> BaseException:
    """Return `error`, and raise it also at the next line of student code, which is in the handler if that catches it.

    This has no effect in a debugger. `sys.settrace` ends it.
    """

    def trace(_frame: FrameType, event: str, _value: object) -> Any:
        if event == "line":
            raise error
        return None if event == "call" else trace

    if sys.gettrace() is not None:
        return error
    while frame is not None:
        if Path(frame.f_code.co_filename).is_relative_to(folder):
            frame.f_trace = trace
        frame = frame.f_back
    sys.settrace(trace)
    return error


def is_ignored(frame: FrameType | None) -> bool:
    """Return whether Python would print and ignore an exception that is raised in this frame."""
    while frame is not None and frame.f_code.co_name not in UNRAISABLE:
        frame = frame.f_back
    return frame is not None
