"""What `--slurm KEY=VALUE` may say: options of sbatch, for the tasks that run tests, that time, or both."""

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from grader.base.errors import CallError

Phase: TypeAlias = Literal["tests", "speed"]

PHASES: tuple[Phase, ...] = ("tests", "speed")
OF_A_GPU = frozenset({"cpus-per-gpu", "gpus", "gpus-per-node", "gpus-per-task", "gres", "mem-per-gpu"})
TAKEN = OF_A_GPU | {
    *("account", "begin", "clusters", "comment", "constraint", "cpus-per-task", "deadline", "exclude", "exclusive"),
    *("hint", "licenses", "mail-type", "mail-user", "mem", "mem-per-cpu", "nice", "nodelist", "oversubscribe"),
    *("partition", "prefer", "priority", "qos", "reservation", "time", "tmp", "wckey"),
}
OURS = frozenset(
    {"array", "dependency", "error", "job-name", "nodes", "ntasks", "open-mode", "output", "requeue", "signal"}
)
TIME = re.compile(r"(?:(?P<days>\d+)-)?(?P<parts>\d+(?::\d+){0,2})")


@dataclass(frozen=True)
class SlurmOptions:
    """The options of both kinds of tasks, as sbatch calls them; `time` aside."""

    tests: dict[str, str] = field(default_factory=dict)
    speed: dict[str, str] = field(default_factory=dict)
    minutes: dict[Phase, int] = field(default_factory=dict)  # where a time was given

    def of(self, phase: Phase) -> dict[str, str]:
        """The options of one kind."""
        return self.tests if phase == "tests" else self.speed


def parse(given: Sequence[str]) -> SlurmOptions:
    """`KEY=VALUE` for both kinds of tasks, `tests:KEY=VALUE` or `speed:KEY=VALUE` for one. Raises CallError.

    What asks for a GPU is for `speed` alone, unless `tests:` stands before it.
    """
    options = SlurmOptions()
    narrow: set[tuple[Phase, str]] = set()
    seen: set[str] = set()
    for text in given:
        name, equals, value = text.partition("=")
        prefix, colon, key = name.rpartition(":")
        key = key.removeprefix("--").replace("_", "-")
        if not equals or not value.strip() or "\n" in value:
            raise CallError(f"--slurm {text}: it has to be KEY=VALUE")
        if colon and prefix not in PHASES:
            raise CallError(f"--slurm {text}: before the colon stands {' or '.join(PHASES)}")
        demand_known(text, key)
        if f"{prefix}:{key}" in seen:
            raise CallError(f"--slurm {text}: {key} is given twice")
        seen.add(f"{prefix}:{key}")
        for phase in PHASES:
            if prefix == phase or (
                not prefix and (phase, key) not in narrow and (phase == "speed" or key not in OF_A_GPU)
            ):
                if key == "time":
                    options.minutes[phase] = minutes(text, value)
                else:
                    options.of(phase)[key] = value
                if prefix:
                    narrow.add((phase, key))
    return options


def demand_known(text: str, key: str) -> None:
    """Raises CallError for what a task can't take, and for what is ours to say."""
    if key in OURS:
        raise CallError(f"--slurm {text}: the grader sets {key} itself")
    if key not in TAKEN:
        near = difflib.get_close_matches(key, TAKEN, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it can be {', '.join(sorted(TAKEN))}"
        raise CallError(f"--slurm {text}: {key or 'nothing'} is no option of a task; {hint}")


def minutes(text: str, value: str) -> int:
    """A time as Slurm writes it (minutes, m:s, h:m:s, d-h, d-h:m, d-h:m:s), rounded up. Raises CallError."""
    found = TIME.fullmatch(value)
    if found is None:
        raise CallError(f"--slurm {text}: a time is written 30, 00:30:00 or 1-12:00:00")
    parts = [int(part) for part in found["parts"].split(":")]
    if found["days"] is not None:
        hours, minute, second = [*parts, 0, 0][:3]
        total = (int(found["days"]) * 24 + hours) * 60 + minute + second / 60
    elif len(parts) == 3:
        total = parts[0] * 60 + parts[1] + parts[2] / 60
    else:
        total = parts[0] + (parts[1] / 60 if len(parts) == 2 else 0)
    if total == 0:
        raise CallError(f"--slurm {text}: a task needs some time")
    return math.ceil(total)
