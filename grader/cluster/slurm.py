"""Runs Slurm commands: sbatch (through submitit), and squeue, which also lists tasks that finished recently."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import MachineError
from grader.base.processes import python
from grader.cluster.options import CONTAINER_OPTIONS
from grader.cluster.task import PlannedChunk

COMMANDS = ("sbatch", "srun", "squeue", "scontrol")
TIMEOUTS = 3  # how often a task is requeued after it has reached the time limit; preemptions are not counted
SIGNAL_SECONDS = 30  # time before the limit at which Slurm sends a task the signal to requeue itself
COMMAND_SECONDS = 60.0  # time limit of squeue and scontrol
DEFAULT_LIMITS = {"MaxArraySize": 1001, "MaxJobCount": 10_000}
LIMIT = re.compile(r"^(MaxArraySize|MaxJobCount) *= *(\d+)$|\b(max_array_tasks)=(\d+)", re.MULTILINE)
ENDED = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"),
        *("REVOKED", "TIMEOUT"),
    }
)


class SubmitError(MachineError):
    """Raised if sbatch rejects an array. The message contains the output of sbatch on one line."""


class SqueueError(Exception):
    """Raised if squeue fails. The message contains the output of squeue on one line."""


@dataclass(frozen=True)
class ListedTask:
    """A task of an array, as listed by squeue."""

    id: str  # such as 17_3, or 17 for a single task
    state: str
    node: str

    @property
    def ended(self) -> bool:
        """Whether the task has finished and will not be run again."""
        return self.state in ENDED


@dataclass(frozen=True)
class Array:
    """A job array to submit with sbatch."""

    name: str
    plan: Path  # logs are written to the same folder
    tasks: int
    at_once: int
    minutes: int
    options: Mapping[str, str]
    after: str = ""  # id of an array that must finish first


def demand_slurm() -> None:
    """Raise MachineError if any of the Slurm commands is missing."""
    missing = [command for command in COMMANDS if shutil.which(command) is None]
    if missing:
        raise MachineError(f"{', '.join(missing)}: not found; --slurm needs Slurm's commands")


def read_array_limit() -> int:
    """Return the maximum number of tasks that an array may have on this cluster."""
    command = ["scontrol", "show", "config"]
    try:
        return parse_array_limit(
            subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS).stdout
        )
    except subprocess.TimeoutExpired:
        return parse_array_limit("")


def parse_array_limit(config: str) -> int:
    """Return the maximum number of tasks that an array may have, according to the output of `scontrol show config`.

    Settings that are missing from the output have their default values.
    """
    found = {name or option: int(value or number) for name, value, option, number in LIMIT.findall(config)}
    return max(1, min({**DEFAULT_LIMITS, **found}.values()))


def submit(array: Array) -> str:
    """Submit an array and return its id. Raises SubmitError if sbatch rejects it."""
    import submitit  # an optional package
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    folder = array.plan.parent
    executor = submitit.SlurmExecutor(folder, max_num_timeout=TIMEOUTS, python=shlex.join(python()))
    in_container = [format_flag(name, value) for name, value in array.options.items() if name in CONTAINER_OPTIONS]
    options = {
        **{name: value for name, value in array.options.items() if name not in CONTAINER_OPTIONS},
        "requeue": True,
        "chdir": str(folder),
    }  # not the current directory, which may be a submission
    if array.after:
        options["dependency"] = f"afterany:{array.after}"
    step = (
        [f"--cpus-per-task={options['cpus-per-task']}"] if "cpus-per-task" in options else []
    )  # srun does not inherit this option
    executor.update_parameters(
        job_name=array.name,
        time=array.minutes,
        array_parallelism=array.at_once,
        signal_delay_s=SIGNAL_SECONDS,
        stderr_to_stdout=True,
        srun_args=[*step, *in_container],
        additional_parameters=options,
    )
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # submitit prints its errors
            jobs = executor.submit_array([PlannedChunk(str(array.plan), index) for index in range(array.tasks)])
    except (FailedSubmissionError, FailedJobError) as error:
        raise SubmitError(f"Slurm rejected the job: {join_lines(str(error))}") from None
    return jobs[0].job_id.partition("_")[0]


def format_flag(name: str, value: str) -> str:
    """Return an option of srun. An option with the value "yes", such as container-mount-home, is a flag."""
    return f"--{name}" if value == "yes" else f"--{name}={value}"


def list_jobs(name: str) -> dict[str, ListedTask]:
    """Return the tasks of all arrays with this name, keyed by id. Tasks that finished long ago are missing.

    Raises SqueueError if squeue fails.
    """
    command = ["squeue", "--noheader", "--array", "--states=all", f"--name={name}", "--format=%i|%T|%N"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    except subprocess.TimeoutExpired:
        raise SqueueError(f"squeue did not answer within {COMMAND_SECONDS:.0f} seconds") from None
    if done.returncode != 0:
        raise SqueueError(join_lines(done.stderr))
    jobs = [ListedTask(*line.split("|", 2)) for line in done.stdout.splitlines()]
    return {job.id: job for job in jobs}


def join_lines(text: str) -> str:
    """Remove prefixes such as "sbatch: error: " from the lines of a command's output, and join the lines."""
    lines = [
        line.removeprefix("sbatch: ").removeprefix("squeue: ").removeprefix("error: ") for line in text.splitlines()
    ]
    return "; ".join(dict.fromkeys(line.strip() for line in lines if line.strip())) or "it gave no reason"
