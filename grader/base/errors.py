"""Errors that cause a command to exit early.

GraderError
├── CallError       the command or its input is wrong: exit code 2
└── MachineError    the machine can't run the command now: exit code 3
"""

import contextlib
from collections.abc import Iterator


class GraderError(Exception):
    """Base class of errors with a one-line message for the instructor."""


class CallError(GraderError):
    """Raised for an error in the command or its input, which the instructor can correct."""


class MachineError(GraderError):
    """Raised for a failure that is caused neither by the submission nor by the command."""


@contextlib.contextmanager
def convert_write_errors(place: object, kind: type[GraderError] = CallError) -> Iterator[None]:
    """Convert an OSError to an error of this class with a message that names the path."""
    try:
        yield
    except OSError as error:
        raise kind(f"{place}: can't write there ({error.strerror})") from None
