"""What ends a command early.

GraderError
├── CallError       the call is wrong: exit code 2
└── MachineError    the machine can't do it now: exit code 3
"""


class GraderError(Exception):
    """The message is one line for the instructor."""


class CallError(GraderError):
    """Something that the instructor can put right in the call."""


class MachineError(GraderError):
    """Nothing that a submission or the call is to blame for."""
