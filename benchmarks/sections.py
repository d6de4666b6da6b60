"""Measures how a run's time is divided among parts of the program, by timing selected functions.

Time is attributed to the innermost measured function, so that the parts add up to the total.
"""

import functools
import inspect
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

TICK = os.sysconf("SC_CLK_TCK")
REST = "rest"


class Stopwatch:
    """Adds up the wall time and the processor time of this thread by section."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.processor: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self.open = [REST]
        self.last = self.now()

    @staticmethod
    def now() -> tuple[float, float]:
        """Return the wall time and the processor time of this thread."""
        return time.perf_counter(), time.thread_time()

    def charge(self) -> None:
        """Add the time since the last call to the innermost section."""
        wall, processor = self.now()
        self.wall[self.open[-1]] += wall - self.last[0]
        self.processor[self.open[-1]] += processor - self.last[1]
        self.last = wall, processor

    def restart(self) -> None:
        """Discard the times measured so far."""
        for table in (self.wall, self.processor, self.calls):
            table.clear()
        self.last = self.now()

    def wrap(self, function: Callable[..., Any], section: str) -> Callable[..., Any]:
        """Return a wrapper of the function that adds the time of each call to a section."""

        @functools.wraps(function)
        def timed(*args: Any, **options: Any) -> Any:
            self.charge()
            self.open.append(section)
            try:
                return function(*args, **options)
            finally:
                self.charge()
                self.open.pop()
                self.calls[section] += 1

        return timed

    @contextmanager
    def measuring(self, functions: dict[Callable[..., Any], str]) -> Iterator[None]:
        """Measure the calls of these functions within this context.

        They are wrapped in all modules and classes that use them.
        """
        changed: list[tuple[object, str, object]] = []
        by_id = {id(function): section for function, section in functions.items()}
        for owner in list_owners():
            for name, value in [*vars(owner).items()]:
                if section := by_id.get(id(value)):
                    changed.append((owner, name, value))
                    setattr(owner, name, self.wrap(value, section))
        try:
            yield
        finally:
            for owner, name, value in changed:
                setattr(owner, name, value)


def list_owners() -> list[Any]:
    """Return all modules of the project and their classes."""
    modules = [
        module
        for name, module in sys.modules.items()
        if name.partition(".")[0] in ("torchkata", "grader", "tests", "reference")
    ]
    classes = [value for module in modules for value in vars(module).values() if inspect.isclass(value)]
    return [*modules, *{value: None for value in classes if value.__module__.startswith(("torchkata", "grader"))}]


def list_functions(module: ModuleType) -> list[Callable[..., Any]]:
    """Return the functions that a module defines."""
    return [
        value for value in vars(module).values() if inspect.isfunction(value) and value.__module__ == module.__name__
    ]


def measure_tree(pid: int) -> tuple[float, float]:
    """Return the processor seconds of a process and its descendants: of the running ones, and of those that ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, ended = (int(fields[11]) + int(fields[12])) / TICK, (int(fields[13]) + int(fields[14])) / TICK
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        deeper = measure_tree(int(child))
        own, ended = own + deeper[0], ended + deeper[1]
    return own, ended
