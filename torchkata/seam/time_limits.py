"""Limits of CPU time and of wall-clock time.

CPU time does not depend on what else a machine does, so it is what limits code that computes. Code that sleeps or waits
for a lock uses none of it. Each limit therefore also ends after several times as many seconds by the clock, without the
time in which the code was ready to run but the machine had no processor for it.
"""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from torchkata.course import Limits
from torchkata.i18n import _
from torchkata.inside.process_limits import is_ignored, raise_at_next_line
from torchkata.inside.reply import clean
from torchkata.inside.source.text import read_line
from torchkata.streams import count_printed, cut_printed

from .failures import Place, TimedOut

POLL_SECONDS = 0.5  # interval between checks of whether an import, or one of these functions, has finished
PATIENCE = 4  # how often an exception is postponed where Python would ignore it, before it is raised all the same
SCHEDSTAT = "/proc/{}/schedstat"  # nanoseconds that a thread has run and has waited for a processor (Linux)
BUSY = 10  # the time without a processor is left out until a limit has taken this many times as long
DEBUGGERS = ("bdb", "pdb", "pydevd", "_pydevd_bundle")  # modules that wait for a person
FOR_DEBUGGING = 1e6  # seconds for a call that is being debugged
MUCH_PRINTED = 10**5  # bytes in one call; more is printed by a loop
MOST_PRINTED = 10**6  # bytes that are kept; pytest would hold a gigabyte in memory
Expire: TypeAlias = Callable[[int, FrameType | None, bool], BaseException | float]
CPU_TIMER, WALL_TIMER = ("ITIMER_PROF", "SIGPROF"), ("ITIMER_REAL", "SIGALRM")


@dataclass(frozen=True)
class Times:
    """CPU time (of all threads) and wall-clock time in seconds: those used, or those allowed."""

    cpu: float
    wall: float
    queued: float = 0.0  # of `wall`, how long the main thread waited for a processor, as far as it is known

    def __sub__(self, other: "Times") -> "Times":
        return Times(self.cpu - other.cpu, self.wall - other.wall, self.queued - other.queued)

    def leave_out_queue(self) -> "Times":
        """Return these times without the wait for a processor, but keep at least a tenth of the time by the clock."""
        return replace(self, wall=max(self.wall - self.queued, self.wall / BUSY))

    @property
    def shortest(self) -> float:
        """The shorter of the two: if these times are left, a single thread cannot exceed one of them any sooner."""
        return min(self.cpu, self.wall)


FOREVER = Times(math.inf, math.inf)


def allow(seconds: float, limits: Limits) -> Times:
    """Return the times of a limit of this many seconds."""
    return Times(seconds, seconds * limits.wall_factor)


def take_least(*times: Times) -> Times:
    """Return the least CPU time and the least wall-clock time."""
    return Times(min(each.cpu for each in times), min(each.wall for each in times))


def measure_process() -> Times:
    """Return the times of this process, to compare them with later ones."""
    return Times(time.process_time(), time.monotonic(), measure_queue())


def read_queue(schedstat: int) -> float:
    """Return for how long a thread has waited for a processor. `schedstat` is a descriptor of its file in `/proc`."""
    return int(os.pread(schedstat, 100, 0).split()[1]) / 1e9


def measure_queue() -> float:
    """Return for how long the main thread of this process has waited for a processor, or 0 if it is unknown."""
    with suppress(OSError), Path(SCHEDSTAT.format("self")).open("rb") as file:
        return read_queue(file.fileno())
    return 0.0


def describe_time_out(what: str, allowed: Times, *, by_cpu: bool) -> str:
    """Return a sentence about an exceeded limit of `what`."""
    if by_cpu:
        return _("{what} used more than {seconds} seconds of CPU time", what=what, seconds=f"{allowed.cpu:g}")
    return _("{what} took more than {seconds} seconds, mostly waiting", what=what, seconds=f"{allowed.wall:g}")


@contextmanager
def limit_processor_time(seconds: float, error: BaseException) -> Iterator[None]:
    """Raise `error` if the code in this context uses more than this much CPU time."""
    with run_timer(*CPU_TIMER, seconds, lambda *_: error):
        yield


@contextmanager
def limit_time(allowed: Times, folder: Path) -> Iterator[None]:
    """Raise TimedOut, which names the line of student code, if the code in this context exceeds one of the times.

    Imports of libraries are not interrupted, because a partially imported library would break all later calls.
    """
    began, printed = measure_process(), count_printed()

    def expire(number: int, frame: FrameType | None, again: bool) -> BaseException | float:
        by_cpu, importing = number == getattr(signal, CPU_TIMER[1]), False
        while frame is not None and not Path(frame.f_code.co_filename).is_relative_to(folder):
            importing |= frame.f_code.co_filename.startswith("<frozen importlib")
            if str(frame.f_globals.get("__name__")).partition(".")[0] in DEBUGGERS:
                return FOR_DEBUGGING
            frame = frame.f_back
        left = 0.0 if by_cpu else allowed.wall - (measure_process() - began).leave_out_queue().wall
        if importing or left > 0 or (again and frame is None):  # the last: the exception has left the student's code
            return max(left, POLL_SECONDS)
        file, line = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
        place = Place(Path(file).name, line, clean(read_line(file, line)))
        how = describe_time_out(_("your code"), allowed, by_cpu=by_cpu)
        if (more := count_printed() - printed) >= MUCH_PRINTED:
            how = _("{how}; it printed {size} MB of text", how=how, size=f"{more / 1e6:.1f}")
        if sys.gettrace() is not None:
            how = _("{how}; coverage or a debugger traces your code, which makes it slower", how=how)
        error = TimedOut(how, place)
        return raise_at_next_line(error, frame, folder) if again else error

    try:
        with run_timer(*CPU_TIMER, allowed.cpu, expire), run_timer(*WALL_TIMER, allowed.wall, expire):
            yield
    finally:
        cut_printed(printed + MOST_PRINTED)


@contextmanager
def run_timer(timer: str, number: str, seconds: float, expire: Expire) -> Iterator[None]:
    """Raise what `expire` returns if the code in this context runs for this long, or wait for that many more seconds.

    Code can catch the exception, and Python ignores it in `__del__`, so it is raised again until this context ends.
    Meanwhile, a timer of the code around it is paused. On Windows and outside the main thread, there are no timers.
    """
    is_available = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not is_available or math.isinf(seconds):
        yield
        return
    which, handled = getattr(signal, timer), getattr(signal, number)
    postponed, raised = 0, False

    def ring(_number: int, frame: FrameType | None) -> None:
        nonlocal postponed, raised
        signal.setitimer(which, POLL_SECONDS)
        if postponed < PATIENCE and is_ignored(frame):
            postponed += 1
        elif isinstance(found := expire(handled, frame, raised), BaseException):
            raised = True
            raise found
        else:
            signal.setitimer(which, found)

    (left, _), trace = signal.setitimer(which, 0), sys.gettrace()
    before = signal.signal(handled, ring)
    try:
        try:
            signal.setitimer(which, seconds)
            yield
        finally:
            signal.setitimer(which, 0)
    finally:  # even if it rang before the previous line
        signal.setitimer(which, 0)
        signal.signal(handled, before)
        signal.setitimer(which, left)
        if sys.gettrace() is not trace:
            sys.settrace(trace)
