"""Errors that end a command early.

GraderError
├── CallError       the command or its input is wrong: exit code 2
└── MachineError    the machine can't run the command now: exit code 3
"""

import contextlib
from collections.abc import Iterator


class GraderError(Exception):
    """An error with a one-line message for the instructor."""


class CallError(GraderError):
    """A mistake that the instructor can correct in the command or its input."""


class MachineError(GraderError):
    """A failure caused neither by the submission nor by the command."""


@contextlib.contextmanager
def convert_write_errors(place: object, kind: type[GraderError] = CallError) -> Iterator[None]:
    """Turn an OSError into an error of this class, whose message names the path that can't be written to."""
    try:
        yield
    except OSError as error:
        raise kind(f"{place}: can't write there ({error.strerror})") from None
