"""Whether a device is at rest: while another process' work runs, this one's own takes longer.

What is queued on a device goes on when the process that queued it stands still. So a worker's time ends when the device
is at rest again, and nothing that it has left behind runs in anybody else's time.
"""

import time

import torch

from grader.sandbox.accelerator import Accelerator
from torchkata.seam.failures import TimedOut

PASS_BYTES = 2**26
LOOKS = 3
LOOK_SECONDS = 0.01  # several of the turns in which a device serves two processes
BUSY = 1.5  # times as long as at rest; beside another process' work they take about twice as long


class Rest:
    """How long passes over memory of this process' own take, on a device that is at rest now."""

    def __init__(self, accelerator: Accelerator, device: torch.device) -> None:
        self.accelerator = accelerator
        self.memory = torch.empty(PASS_BYTES, dtype=torch.uint8, device=device)
        self.passes = 1
        self.look()  # the first loads the kernel
        while (usual := self.look()) < LOOK_SECONDS:
            self.passes *= 2
        self.usual = usual
        self.look_again()

    def look_again(self) -> None:
        """At rest: the least is what the passes take, for whatever disturbs a look makes it longer."""
        self.usual = min(self.usual, *(self.look() for _ in range(LOOKS)))

    def wait(self, patience: float) -> float:
        """Until the device is at rest; for how many seconds it was not. Raises TimedOut."""
        began, late = time.perf_counter(), 0.0
        while self.look() > BUSY * self.usual:
            late = time.perf_counter() - began
            if late > patience:
                raise TimedOut(f"{late:.3g} seconds after your answer the device still worked on what you had queued")
        return late

    def look(self) -> float:
        """For how many seconds the passes keep the device."""
        began = time.perf_counter()
        for fill in range(self.passes):
            self.memory.fill_(fill % 2)
        self.accelerator.synchronize()
        return time.perf_counter() - began
