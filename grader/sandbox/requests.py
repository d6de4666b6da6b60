"""What a worker that is timed is told."""

import msgspec

from torchkata.speed.sizes import Size


class Begin(msgspec.Struct, frozen=True):
    """What is to be done in each block."""

    workload: str
    size: Size
    calls: int
    device: str
    trusted: bool  # the baseline's work, not the student's
    device_bytes: int = 0  # of the grader's memory on a GPU, whose descriptor comes right after this
