"""The message with which the grader sets up a timed worker."""

import msgspec

from torchkata.inside.speed.sizes import Size


class WorkloadRequest(msgspec.Struct, frozen=True):
    """The work that a timed worker performs in each block."""

    workload: str
    size: Size
    calls: int
    device: str
    trusted: bool  # whether to run the baseline instead of the student's code
    device_bytes: int = 0  # size of the grader's GPU memory, whose descriptor is sent after this message
