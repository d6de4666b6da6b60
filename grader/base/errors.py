"""Errors that end a command early.

GraderError
├── CallError       the call is wrong: exit code 2
└── MachineError    the machine can't do it now: exit code 3
"""


class GraderError(Exception):
    """An error with a one-line message for the instructor."""


class CallError(GraderError):
    """A mistake that the instructor can correct in the call."""


class MachineError(GraderError):
    """A failure that neither the submission nor the call has caused."""
