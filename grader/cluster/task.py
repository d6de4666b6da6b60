"""What submitit runs as a task of an array: the grader over one chunk, in a process of its own.

Nothing that a task returns is read: what counts are the stored results.
"""

import os
import signal
import subprocess
import time
from dataclasses import dataclass

from submitit.core.utils import DelayedSubmission

from grader.base.processes import python

SENT_BY_SLURM = (-signal.SIGTERM, -signal.SIGUSR2)  # to every process of a task, before its end or its requeueing
LAST_SECONDS = 120.0  # in which Slurm ends or requeues what it has sent a signal to


@dataclass(frozen=True)
class Task:
    """A chunk of a plan. submitit pickles it, so it holds nothing but two plain values."""

    plan: str
    index: int

    def __call__(self) -> int:
        """Grade the chunk; the exit code. Raises RuntimeError where the grader was killed."""
        chunk = python("-m", "grader.cluster.chunk", self.plan, str(self.index), str(os.getpid()))
        code = subprocess.run(chunk).returncode
        if code in SENT_BY_SLURM:
            time.sleep(LAST_SECONDS)
        if code not in (0, 3):
            raise RuntimeError(f"the grader ended with {code}")
        return code

    def checkpoint(self) -> DelayedSubmission:
        """Called when Slurm is about to end the task: the same again, since what is graded is stored already."""
        return DelayedSubmission(self)
