"""Runs a grader command and converts its errors to a one-line message and an exit code.

Exit codes: 0 graded, regardless of the score; 2 the command or its input is wrong; 3 something could not be graded,
which is not a student's fault; 130 Ctrl-C.
"""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

from grader.base import signals
from grader.base.errors import CallError, GraderError
from grader.base.text import printable
from torchkata.course import CourseError

Command: TypeAlias = Callable[[], int]


def run_command(
    load: Callable[[], Command], stopped: str = "stopped", tidy: Callable[[], object] = lambda: None
) -> int:
    """Import a command, run it, and return its exit code.

    Errors in the command and Ctrl-C are printed as a single line.

    `tidy` cleans up after `load`, regardless of how the command ends.
    """
    signals.exit_at_ctrl_c(f"grader: {stopped}", tidy)
    try:
        with contextlib.ExitStack() as ending:
            ending.callback(tidy)
            with pause_garbage_collection():
                command = load()
            signals.raise_at_ctrl_c()
            return command()
    except (KeyboardInterrupt, SystemExit, Exception) as error:
        if signals.asked_to_stop.is_set():  # an interrupted library may have raised another error
            line, code = stopped, signals.STOPPED
        elif isinstance(error, (GraderError, CourseError)):
            line, code = str(error), 2 if isinstance(error, (CallError, CourseError)) else 3
        else:  # a module of the course may have raised it, even SystemExit
            from torchkata.diagnosis.broken_tests import describe_course_error  # imports Hypothesis
            from torchkata.pytest_plugin.packages import describe_memory_limit

            line, code = describe_course_error(error) or describe_memory_limit(error), 2
            if not line:
                raise
    print(f"grader: {printable(line)}", file=sys.stderr)
    return code


@contextlib.contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Disable garbage collection during imports, where it frees nothing and slows down importing torch by about 14%."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
