"""Parses `--slurm KEY=VALUE`: sbatch options for tasks that run tests, for tasks that measure speed, or for both."""

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from grader.base.errors import CallError

Phase: TypeAlias = Literal["tests", "speed"]

PHASES: tuple[Phase, ...] = ("tests", "speed")
GPU_OPTIONS = frozenset({"cpus-per-gpu", "gpus", "gpus-per-node", "gpus-per-task", "gres", "mem-per-gpu"})
MEMORY_OPTIONS = frozenset({"mem", "mem-per-cpu", "mem-per-gpu"})
CORE_OPTIONS = frozenset({"cpus-per-task", "cpus-per-gpu"})
SPEED_DEFAULTS = {"mem": ("24G", MEMORY_OPTIONS), "cpus-per-task": ("4", CORE_OPTIONS)}  # value, unless one is given
CONTAINER_OPTIONS = frozenset(  # of pyxis, which srun understands
    {"container-image", "container-mount-home", "container-mounts", "container-name", "container-workdir"}
)
ALLOWED = (
    GPU_OPTIONS
    | CONTAINER_OPTIONS
    | {
        *("account", "begin", "clusters", "comment", "constraint", "cpus-per-task", "deadline", "exclude", "exclusive"),
        *(
            "gpu-bind",
            "gpu-freq",
            "hint",
            "licenses",
            "mail-type",
            "mail-user",
            "mem",
            "mem-per-cpu",
            "nice",
            "nodelist",
            "oversubscribe",
        ),
        *("partition", "prefer", "priority", "qos", "reservation", "time", "tmp", "wckey"),
    }
)
RESERVED = frozenset(
    {"array", "dependency", "error", "job-name", "nodes", "ntasks", "open-mode", "output", "requeue", "signal"}
)
PER_TASK = "per-task"
DEFAULT = "default"
COUNT = re.compile(r"[1-9][0-9]{0,8}")
TIME = re.compile(r"(?:(?P<days>\d+)-)?(?P<parts>\d+(?::\d+){0,2})")


@dataclass(frozen=True)
class SlurmOptions:
    """The sbatch options for each kind of task, by name. The time limits are stored in `minutes` instead."""

    tests: dict[str, str] = field(default_factory=dict)
    speed: dict[str, str] = field(default_factory=dict)
    minutes: dict[Phase, int] = field(default_factory=dict)  # empty if no time limit was given
    per_task: int | None = None  # number of submissions per task; None for an estimate based on their duration

    def of(self, phase: Phase) -> dict[str, str]:
        """Return the options for tasks of this kind."""
        return self.tests if phase == "tests" else self.speed

    def build_options(self, phase: Phase) -> dict[str, str]:
        """Return the options for tasks of this kind, with defaults: timing starts three processes that use CUDA."""
        given = self.of(phase)
        defaults = SPEED_DEFAULTS if phase == "speed" else {}
        return {name: value for name, (value, same) in defaults.items() if not same & given.keys()} | given

    def count_at_once(self, phase: Phase) -> int:
        """Return how many submissions a task grades at the same time: one per core for tests, only one for speed."""
        cores = self.tests.get("cpus-per-task", "1") if phase == "tests" else "1"
        return max(1, int(cores)) if cores.isdecimal() else 1  # sbatch rejects any other value


def parse(texts: Sequence[str]) -> SlurmOptions:
    """Parse `KEY=VALUE` for both kinds of tasks, or `tests:KEY=VALUE` or `speed:KEY=VALUE` for one kind.

    Options that request a GPU apply only to `speed` unless they are prefixed with `tests:`. `per-task=N` is not passed
    to sbatch, and `default` stands for no option. Raises CallError if an option is invalid.
    """
    options = SlurmOptions()
    phase_specific: set[tuple[Phase, str]] = set()
    seen: set[str] = set()
    for text in texts:
        if text == DEFAULT:
            continue
        name, equals, value = text.partition("=")
        prefix, colon, key = name.rpartition(":")
        key = key.removeprefix("--").replace("_", "-")
        if not equals or not value.strip() or "\n" in value:
            raise CallError(f"--slurm {text}: expected KEY=VALUE or {DEFAULT}")
        if colon and prefix not in PHASES:
            raise CallError(f"--slurm {text}: the prefix must be {' or '.join(PHASES)}")
        if key != PER_TASK:
            check_key(text, key)
        if f"{prefix}:{key}" in seen:
            raise CallError(f"--slurm {text}: {key} is given twice")
        seen.add(f"{prefix}:{key}")
        if key == PER_TASK:
            options = replace(options, per_task=parse_count(text, prefix, value))
            continue
        for phase in PHASES:
            if prefix == phase or (
                not prefix and (phase, key) not in phase_specific and (phase == "speed" or key not in GPU_OPTIONS)
            ):
                if key == "time":
                    options.minutes[phase] = parse_minutes(text, value)
                else:
                    options.of(phase)[key] = value
                if prefix:
                    phase_specific.add((phase, key))
    return options


def check_key(text: str, key: str) -> None:
    """Raise CallError if an option is not allowed for tasks or is set by the grader itself."""
    if key in RESERVED:
        raise CallError(f"--slurm {text}: the grader sets {key} itself")
    if key not in ALLOWED:
        near = difflib.get_close_matches(key, ALLOWED, n=1)
        hint = f"did you mean {near[0]}?" if near else f"allowed are {', '.join(sorted(ALLOWED))}"
        raise CallError(f"--slurm {text}: {key!r} can't be passed to tasks; {hint}")


def parse_count(text: str, prefix: str, value: str) -> int:
    """Return the number of submissions per task. Raises CallError if it is not a positive integer or has a prefix."""
    if prefix or not COUNT.fullmatch(value):
        raise CallError(f"--slurm {text}: expected a number of submissions per task, such as per-task=10")
    return int(value)


def parse_minutes(text: str, value: str) -> int:
    """Convert a time in the format m, m:s, h:m:s, d-h, d-h:m or d-h:m:s to minutes, rounding up.

    Raises CallError if the time is 0 or has another format.
    """
    found = TIME.fullmatch(value)
    if found is None:
        raise CallError(f"--slurm {text}: expected a time such as 30, 00:30:00 or 1-12:00:00")
    parts = [int(part) for part in found["parts"].split(":")]
    if found["days"] is not None:
        hours, minute, second = [*parts, 0, 0][:3]
        total = (int(found["days"]) * 24 + hours) * 60 + minute + second / 60
    elif len(parts) == 3:
        total = parts[0] * 60 + parts[1] + parts[2] / 60
    else:
        total = parts[0] + (parts[1] / 60 if len(parts) == 2 else 0)
    if total == 0:
        raise CallError(f"--slurm {text}: the time must not be 0")
    return math.ceil(total)
