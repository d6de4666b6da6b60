"""What ends a command early.

GraderError
├── CallError       the call is wrong: exit code 2
└── MachineError    the machine can't do it now: exit code 3
"""

import contextlib
from collections.abc import Iterator


class GraderError(Exception):
    """The message is one line for the instructor."""


class CallError(GraderError):
    """Something that the instructor can put right in the call."""


class MachineError(GraderError):
    """Nothing that a submission or the call is to blame for."""


@contextlib.contextmanager
def convert_write_errors(place: object, kind: type[GraderError] = CallError) -> Iterator[None]:
    """Turn an OSError into an error of this kind, whose message names the place that cannot be written."""
    try:
        yield
    except OSError as error:
        raise kind(f"{place}: can't write there ({error.strerror})") from None
