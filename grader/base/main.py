"""How a command of the grader ends.

Exit codes: 0 graded, whatever the scores; 2 the call is wrong; 3 something could not be graded, and it is
no student's fault; 130 Ctrl-C.
"""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

from grader.base import signals
from grader.base.errors import CallError, GraderError
from torchkata.course import CourseError

Command: TypeAlias = Callable[[], int]


def run(load: Callable[[], Command], stopped: str = "stopped", tidy: Callable[[], object] = lambda: None) -> int:
    """Import a command and run it: its exit code; mistakes in the call, and Ctrl-C, as one line.

    `tidy` ends what `load` has begun, however the command ends.
    """
    signals.exit_at_ctrl_c(f"grader: {stopped}", tidy)
    try:
        with contextlib.ExitStack() as ending:
            ending.callback(tidy)
            with imports_uncollected():
                command = load()
            signals.raise_at_ctrl_c()
            return command()
    except BaseException as error:
        if signals.asked_to_stop.is_set():  # whatever an interrupted library has made of it
            line, code = stopped, signals.STOPPED
        elif isinstance(error, (GraderError, CourseError)):
            line, code = str(error), 2 if isinstance(error, (CallError, CourseError)) else 3
        else:
            from torchkata.diagnosis.broken_tests import describe_course_error  # imports Hypothesis

            line, code = describe_course_error(error), 2
            if not line:
                raise
    print(f"grader: {line}", file=sys.stderr)
    return code


@contextlib.contextmanager
def imports_uncollected() -> Iterator[None]:
    """Within, no time goes into looking for garbage: what is imported stays, and torch alone is a seventh slower."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
