"""Detects whether a device is idle: work of this process takes longer while the device runs work of another process.

The work that a process has queued on a device continues to run while the process is paused. Therefore a worker is timed
until the device is idle again, so that its queued work cannot run during other blocks. And a block begins only on an
idle device, because queued work can wait for the grader to write the inputs, and then run before the clock starts.
"""

import time

import torch

from grader.sandbox.inside.accelerator import Accelerator
from torchkata.i18n import _
from torchkata.seam.failures import TimedOut

PASS_BYTES = 2**26
LOOKS = 3
LOOK_SECONDS = 0.01  # several time slices of a device that alternates between processes
BUSY = 1.5  # threshold relative to the idle duration; passes take about twice as long on a device that is in use


class IdleDetector:
    """Times how long it takes to fill a buffer on the device, and compares this with the time on an idle device."""

    def __init__(self, accelerator: Accelerator, device: torch.device) -> None:
        self.accelerator = accelerator
        self.memory = torch.empty(PASS_BYTES, dtype=torch.uint8, device=device)
        self.passes = 1
        self.was_slow = False  # whether the previous wait had a slow pass
        self.time_passes()  # the first call loads the kernel
        while (usual := self.time_passes()) < LOOK_SECONDS:
            self.passes *= 2
        self.usual = usual
        self.is_idle()

    def is_idle(self) -> bool:
        """Return whether the device is idle right now, judged by the first pass. Short work ends before the others.

        Also update the duration on an idle device: the minimum so far, because disturbances only make passes slower.
        """
        first, *others = (self.time_passes() for _ in range(LOOKS))
        self.usual = min(self.usual, first, *others)
        return first <= BUSY * self.usual

    def wait(self, patience: float) -> float:
        """Wait until the device is idle, then return how many seconds it was busy.

        A single slow pass counts only if the previous wait had one, too: this process is rarely delayed, whereas work
        that is put off until after the block is there in each block. Raises TimedOut if the device is still busy after
        `patience` seconds.
        """
        began, late, slow = time.perf_counter(), 0.0, 0
        while self.time_passes() > BUSY * self.usual:
            late, slow = time.perf_counter() - began, slow + 1
            if late > patience:
                after = f"{late:.3g}"
                raise TimedOut(
                    _("the device was still running queued work {after} s after your code returned", after=after)
                )
        doubtful, self.was_slow = slow == 1 and not self.was_slow, slow > 0
        return 0.0 if doubtful else late

    def time_passes(self) -> float:
        """Fill the buffer a fixed number of times, and return the duration in seconds."""
        began = time.perf_counter()
        for fill in range(self.passes):
            self.memory.fill_(fill % 2)
        self.accelerator.synchronize()
        return time.perf_counter() - began
