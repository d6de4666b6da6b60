"""Slurm's own commands: sbatch through submitit, and squeue, which also tells of tasks that ended a few minutes ago."""

import contextlib
import io
import shlex
import shutil
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import submitit
from submitit.core.utils import FailedJobError, FailedSubmissionError

from grader.base.errors import MachineError
from grader.base.processes import python
from grader.cluster.task import Task

COMMANDS = ("sbatch", "srun", "squeue", "scontrol")
TIMEOUTS = 3  # how often a task that Slurm's time limit ends is queued again; what preempts it does not count
SIGNAL_SECONDS = 30  # before the end, when a task is told to have itself queued again
SQUEUE_SECONDS = 60.0
ENDED = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"),
        *("REVOKED", "TIMEOUT"),
    }
)


class SubmitError(MachineError):
    """sbatch has refused an array; the message is its own, in one line."""


class SqueueError(Exception):
    """squeue has failed; the message is its own, in one line."""


@dataclass(frozen=True)
class Job:
    """A task of an array, as squeue shows it."""

    id: str  # 17_3, or 17 where there is one task
    state: str
    node: str

    @property
    def ended(self) -> bool:
        """Whether it will not run any more."""
        return self.state in ENDED


@dataclass(frozen=True)
class Array:
    """What sbatch is asked for."""

    name: str
    plan: Path  # its logs go beside it
    tasks: int
    at_once: int
    minutes: int
    options: Mapping[str, str]
    after: str = ""  # the id of an array that has to end before


def demand_slurm() -> None:
    """Raises MachineError where a command is missing."""
    missing = [command for command in COMMANDS if shutil.which(command) is None]
    if missing:
        raise MachineError(f"{', '.join(missing)}: not found; --executor slurm runs where Slurm's commands are")


def submit(array: Array) -> str:
    """Submit an array; its id. Raises SubmitError."""
    own = array.plan.parent
    executor = submitit.SlurmExecutor(own, max_num_timeout=TIMEOUTS, python=shlex.join(python()))
    options = {**array.options, "requeue": True, "chdir": str(own)}  # not where we were called: that may be a hand-in
    if array.after:
        options["dependency"] = f"afterany:{array.after}"
    step = [f"--cpus-per-task={options['cpus-per-task']}"] if "cpus-per-task" in options else []  # srun asks anew
    executor.update_parameters(
        job_name=array.name,
        time=array.minutes,
        array_parallelism=array.at_once,
        signal_delay_s=SIGNAL_SECONDS,
        stderr_to_stdout=True,
        srun_args=step,
        additional_parameters=options,
    )
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # it prints what it raises
            jobs = executor.submit_array([Task(str(array.plan), index) for index in range(array.tasks)])
    except (FailedSubmissionError, FailedJobError) as error:
        raise SubmitError(f"Slurm takes no job: {one_line(str(error))}") from None
    return jobs[0].job_id.partition("_")[0]


def jobs_called(name: str) -> dict[str, Job]:
    """The tasks of all arrays of this name, by id; those that ended long ago are not among them. Raises SqueueError."""
    command = ["squeue", "--noheader", "--array", "--states=all", f"--name={name}", "--format=%i|%T|%N"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SQUEUE_SECONDS)
    except subprocess.TimeoutExpired:
        raise SqueueError(f"squeue did not answer within {SQUEUE_SECONDS:.0f} seconds") from None
    if done.returncode != 0:
        raise SqueueError(one_line(done.stderr))
    jobs = [Job(*line.split("|", 2)) for line in done.stdout.splitlines()]
    return {job.id: job for job in jobs}


def alive(jobs: Collection[Job]) -> list[Job]:
    """Those that run, or will."""
    return [job for job in jobs if not job.ended]


def one_line(text: str) -> str:
    """What a command said, without its own name before each line."""
    lines = [
        line.removeprefix("sbatch: ").removeprefix("squeue: ").removeprefix("error: ") for line in text.splitlines()
    ]
    return "; ".join(dict.fromkeys(line.strip() for line in lines if line.strip())) or "it did not say why"
