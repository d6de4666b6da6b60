"""The one seam between a test and a student's code: `Student.call` sends a probe and gets plain values back.

What runs the code is a `Runner`: in this process on a student's own machine, in a worker under the grader.
"""

import ast
import inspect
import linecache
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, Protocol

from torchkata.course import course
from torchkata.i18n import words
from torchkata.i18n.notes import translate

from . import probes
from .assignment import Assignment
from .failures import Crashed, NotStarted, Place, TimedOut
from .reply import Probe, Reply, clean, run_probe
from .values import Plain, plain

A_PROBE = (
    "a probe is a function at the top of a module in tests/probes/, which a worker imports by its name; "
    "define it there, and pass what it needs as further arguments of student.call"
)
LAST_CALL = 1.0  # seconds for a call that may be the last: an alarm in the midst of torch is for what truly hangs
PATIENCE = 0.5  # seconds until a look whether an import is over


class Runner(Protocol):
    """Runs probes beside a student's code."""

    def reset(self, kata: str) -> None:
        """Start from freshly imported modules; called before each test."""

    def start_over(self, kata: str) -> None:
        """As `reset`, in the midst of a test: the calls that it has made so far cost it no time."""

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Run one probe there. Raises TimedOut, Died or Inconclusive when no reply comes."""

    def set_budget(self, seconds: float) -> None:
        """Give the calls that still come before the next `reset` no more than this together."""


@dataclass(frozen=True)
class Call:
    """A probe, what it was given and what it answered, for the failure's text."""

    probe: Probe
    args: Sequence[Plain]
    answer: Plain = None

    def arguments(self) -> dict[str, Plain]:
        """The arguments by the names that the probe gives them; of a function called by name, by its own."""
        if self.probe is probes.call:
            module, function, *arguments = self.args
            return dict(zip(parameters(module, function, len(arguments)), arguments, strict=True))
        names = list(inspect.signature(self.probe).parameters)[1:]
        return dict(zip(names, self.args, strict=False))

    def inputs(self) -> dict[str, Plain]:
        """Those that are told: one whose name begins with an underscore is the probe's own business."""
        return {name: value for name, value in self.arguments().items() if not name.startswith("_")}


def parameters(kata: str, function: str, count: int) -> list[str]:
    """The names of a function's first parameters, as the stub has them; where it does not tell, numbers."""
    try:
        tree = ast.parse(course().stub(kata).read_bytes())
    except (OSError, SyntaxError, ValueError):
        tree = ast.Module([], [])
    found = [node.args for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    named = [argument.arg for one in found for argument in (*one.posonlyargs, *one.args)]
    return [*named, *(translate(f"argument {place + 1}") for place in range(len(named), count))][:count]


def demand_probe(probe: Probe) -> None:
    """Raise TypeError for what a worker can't import by its name."""
    if isinstance(probe, FunctionType) and is_importable(probe):
        return
    name, code = getattr(probe, "__qualname__", type(probe).__qualname__), getattr(probe, "__code__", None)
    place = f" ({Path(code.co_filename).name}, line {code.co_firstlineno})" if code else ""
    raise TypeError(f"{name}{place} is no probe: {A_PROBE}")


@cache
def is_importable(function: FunctionType) -> bool:
    """Return whether a worker can import a function by its name, and has the file that it is in."""
    file, tests = Path(function.__code__.co_filename), course().tests
    lacked = file.is_relative_to(tests) or file.is_relative_to(course().reference)
    found = getattr(sys.modules.get(function.__module__), function.__name__, None)
    return found is function and (not lacked or file.is_relative_to(tests / "probes"))


class Student:
    """One student's code, as a test sees it."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.last: Call | None = None
        self.fallbacks: frozenset[str] = frozenset()  # files that are not the student's: no line of theirs is shown

    def reset(self, kata: str) -> None:
        """Begin a test: fresh modules, nothing called yet."""
        self.last = None
        self.runner.reset(kata)

    def start_over(self, kata: str) -> None:
        """Begin the same test anew, as if nothing had been called."""
        self.last = None
        self.runner.start_over(kata)

    def call(self, probe: Probe, *args: object) -> Any:
        """Run `probe(assignment, *args)` in the process of the student's code and return its plain result.

        Args:
            probe: A function at the top level of a module in `tests/probes/`, or `call`.
            *args: Plain values.

        Raises:
            TypeError: `probe` is no probe, or an argument is no plain value.
            NotStarted, Crashed, TimedOut, Died, Inconclusive: The call did not return.

        Example:
            y = student.call(probes.forward, weight, x)
        """
        demand_probe(probe)
        self.last = Call(probe, [plain(arg) for arg in args])
        answer = self.take(self.runner.run_probe(probe, self.last.args))
        self.last = replace(self.last, answer=answer)
        return answer

    def take(self, reply: Reply) -> Plain:
        """Return the value of a reply. Raises NotStarted or Crashed where there is none."""
        place = Place() if reply.file in self.fallbacks else Place(reply.file, reply.line, reply.source)
        if reply.outcome == "returned":
            return reply.value
        if reply.outcome == "not_written":
            raise NotStarted(place)
        kind, colon, message = reply.error.partition(": ")
        by_us = not reply.file  # a probe has raised it, or what it called
        raise Crashed(kind + colon + translate(message, by_us=by_us) if colon else translate(kind, by_us=by_us), place)


def demand_success(reply: Reply) -> None:
    """Raise NotStarted or Crashed unless the probe has returned, as `Student.call` does."""
    place = Place(reply.file, reply.line, reply.source)
    if reply.outcome == "not_written":
        raise NotStarted(place)
    if reply.outcome == "raised":
        raise Crashed(reply.error, place)


class InProcess:
    """The student's own pytest: the code is imported here."""

    def __init__(self, folder: Path, call_seconds: float) -> None:
        self.assignment = Assignment(folder)
        self.call_seconds = call_seconds
        self.left = math.inf  # seconds

    def reset(self, kata: str) -> None:  # noqa: ARG002  (any kata can be asked for)
        """Import anew, and undo what earlier code may have set for all of torch, where that is used."""
        self.left = math.inf
        self.assignment.reset()
        if torch := sys.modules.get("torch"):
            torch.set_default_dtype(torch.float32)
            torch.set_default_device(None)
            torch.set_grad_enabled(True)

    def start_over(self, kata: str) -> None:
        """As `reset`: the limits are on calls alone."""
        self.reset(kata)

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Run the probe on copies of its arguments, for a limited time where the platform has an alarm."""
        if self.left <= 0:
            raise TimedOut(words("timed_out.none_left"))
        began = time.monotonic()
        try:
            seconds = min(self.call_seconds, max(self.left, LAST_CALL))
            with outside_the_tests_time(), time_limit(seconds, self.assignment.folder):
                return run_probe(self.assignment, probe, [plain(arg) for arg in args])
        finally:
            self.left -= time.monotonic() - began

    def set_budget(self, seconds: float) -> None:
        """Let no call begin, before the next `reset`, once others have taken so long; an alarm ends a slow last one."""
        self.left = seconds


@contextmanager
def limit_processor_time(seconds: float, error: BaseException) -> Iterator[None]:
    """Raise `error` in code that computes for longer. Windows and other threads than the main one have no limit."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise error

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def outside_the_tests_time() -> Iterator[None]:
    """Stop the clock of `limit_processor_time`, where it runs: the student's code computes in the same process."""
    left = signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0] if hasattr(signal, "setitimer") else 0.0
    try:
        yield
    finally:
        if left > 0:
            signal.setitimer(signal.ITIMER_VIRTUAL, left)


@contextmanager
def time_limit(seconds: float, folder: Path) -> Iterator[None]:
    """Raise TimedOut, with the student's line, in code that runs longer.

    Not where there is no alarm, as on Windows, nor off the main thread.

    A library that the code imports is waited for: one that is half imported would break whatever comes after.
    """

    def stop(_signal: int, frame: FrameType | None) -> None:
        importing = False
        while frame is not None and not Path(frame.f_code.co_filename).is_relative_to(folder):
            importing |= frame.f_code.co_filename.startswith("<frozen importlib")
            frame = frame.f_back
        if importing:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
            return
        place = place_of(frame) if frame else None
        raise TimedOut(words("timed_out.call", seconds=f"{seconds:g}"), place)

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def place_of(frame: FrameType) -> Place:
    """The line that a frame is at."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Place(Path(file).name, line, clean(linecache.getline(file, line)))
