"""The function that submitit runs in each array task. It grades one chunk in a separate process.

The return value of this function is ignored, because only the stored results count.
"""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.base.processes import python

if TYPE_CHECKING:
    from submitit.core.utils import DelayedSubmission

SENT_BY_SLURM = (-signal.SIGTERM, -signal.SIGUSR2)  # signals before Slurm ends or requeues a task
LAST_SECONDS = 120.0  # maximum time from such a signal until Slurm ends or requeues the task


@dataclass(frozen=True)
class PlannedChunk:
    """A chunk of a plan. It contains only two plain values because submitit pickles it."""

    plan: str
    index: int

    def __call__(self) -> int:
        """Grade the chunk and return the exit code. Raises RuntimeError if the grader was killed."""
        chunk = python("-m", "grader.cluster.chunk", self.plan, str(self.index), str(os.getpid()))
        code = subprocess.run(chunk).returncode
        if code in SENT_BY_SLURM:
            time.sleep(LAST_SECONDS)
        if code not in (0, 3):
            raise RuntimeError(f"the grader exited with code {code}")
        return code

    def checkpoint(self) -> "DelayedSubmission":
        """Return the same task for submitit to requeue. The results of its finished submissions are already stored."""
        from submitit.core.utils import DelayedSubmission  # an optional package

        return DelayedSubmission(self)
