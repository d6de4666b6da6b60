"""Times the cheats, on the CPU if nothing else is said, at one level of isolation, and judges what each came to.

    the cheat → the next student's submission, which is the cheat's honest control

one after the other in one sandbox. The slow solutions that cheats stand below are timed once each. A run on the CPU
earns nothing, so what counts here is its worth: the points that the same tier earns on a GPU.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.proof.attacks import Level
from grader.proof.cheats import Cheat, Slow
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Sandbox
from grader.speed.session import Row, SpeedJob, grade_speed
from torchkata.course import Workload, course
from torchkata.speed.decision import RESTLESS, score_of
from torchkata.speed.sizes import Kind

TRIES = 2  # for a machine that is too restless to say
LONGEST_SECONDS = 400.0  # for one run of one workload
STOPPED_BY = {"crashed": "no valid answer", "timed_out": "the time limit", "not_started": "the reader"}

Take = Callable[[str], None]
Run = Callable[[str, Mapping[str, bytes], Workload], PerformanceResult]


@dataclass(frozen=True)
class SlowTrial:
    """A slow solution at a level of isolation."""

    slow: Slow
    level: Level
    row: PerformanceResult

    @property
    def problem(self) -> str:
        """Why it does not show what it is for."""
        return "" if is_unsure(self.row) or self.row.outcome == "failed" else f"it is {self.row.outcome}, not too slow"


@dataclass(frozen=True)
class CheatTrial:
    """A cheat at a level of isolation."""

    cheat: Cheat
    level: Level
    slow: PerformanceResult
    row: PerformanceResult
    control: PerformanceResult

    @property
    def gained(self) -> float:
        """Worth that the slow solution alone does not have."""
        return max(0.0, worth(self.row) - worth(self.slow))

    @property
    def stopped_by(self) -> str:
        """What kept it from earning anything."""
        if self.row.outcome == "failed":
            return "the check" if self.row.ratio is None else "the clock"
        return STOPPED_BY.get(self.row.outcome, self.row.outcome)

    @property
    def problems(self) -> tuple[str, ...]:
        """What it achieved."""
        earned = self.gained and not self.cheat.entry.earns and not is_unsure(self.row)
        found = (
            f"is worth {self.gained:g} points too many" if earned else "",
            f"blamed the machine: {self.row.message}" if blames_the_machine(self.row) else "",
            f"took {self.row.seconds:.0f} seconds" if self.row.seconds > LONGEST_SECONDS else "",
        )
        return tuple(filter(None, found))

    @property
    def control_problem(self) -> str:
        """Why the control, or the next submission, suffered."""
        if self.control.outcome == "passed" or is_restless(self.control):
            return ""
        return f"it is {self.control.outcome}: {self.control.message}"

    @property
    def unsure(self) -> int:
        """How many of its two claims a restless machine has left neither proven nor disproven."""
        return int(is_unsure(self.row) or is_unsure(self.slow)) + int(is_restless(self.control))


def worth(row: PerformanceResult) -> float:
    """The points that the tier which was reached earns on a device where speed earns any."""
    return score_of(row.tier, course().workloads[row.workload].points)


def is_restless(row: PerformanceResult) -> bool:
    """Whether the machine was too restless to say anything."""
    return row.outcome == "inconclusive" and RESTLESS in row.message


def is_unsure(row: PerformanceResult) -> bool:
    """Whether it was, or the student got the benefit of a doubt: nothing is known of what is to be too slow."""
    in_doubt = (
        row.outcome == "passed"
        and row.ratio is not None
        and row.thresholds is not None
        and row.ratio < row.thresholds[0]
    )
    return in_doubt or is_restless(row)


def blames_the_machine(row: PerformanceResult) -> bool:
    """Whether what was not the machine's fault passes for that: it would not count."""
    return not row.counts and not is_restless(row)


class CheatRun:
    """All cheats at one level, and the slow solutions below them."""

    def __init__(self, slow: Sequence[Slow], cheats: Sequence[Cheat], level: Level, kind: Kind = "cpu") -> None:
        self.slow = list({each.title: each for each in (*slow, *(cheat.slow for cheat in cheats))}.values())
        self.cheats = cheats
        self.level = level
        self.kind = kind

    def __len__(self) -> int:
        """How many runs there are at least."""
        return len(self.slow) + 2 * len(self.cheats)

    def run(self, sandbox: Sandbox, take: Take) -> Iterator[SlowTrial | CheatTrial]:
        """Time them all, one after the other; `take` is told what each run is."""

        def timed(name: str, files: Mapping[str, bytes], workload: Workload) -> PerformanceResult:
            row = in_sandbox(sandbox, name, files, workload, self.kind)
            take(name)
            return row

        alone = {}
        for slow in self.slow:
            alone[slow.title] = timed(slow.title, slow.files(), slow.workload)
            yield SlowTrial(slow, self.level, alone[slow.title])
        for cheat in self.cheats:
            row = timed(cheat.title, cheat.files(), cheat.slow.workload)
            control = timed(f"{cheat.title} (control)", cheat.control(), cheat.slow.workload)
            yield CheatTrial(cheat, self.level, alone[cheat.slow.title], row, control)


def in_sandbox(
    sandbox: Sandbox, name: str, files: Mapping[str, bytes], workload: Workload, kind: Kind = "cpu"
) -> PerformanceResult:
    """One workload of one submission; again while the machine is too restless. Raises MachineError."""
    for _ in range(TRIES):
        job = SpeedJob(name, files, (), (workload,))
        (row,) = [message.row for message in grade_speed(job, kind, sandbox) if isinstance(message, Row)]
        if not is_unsure(row):
            break
        time.sleep(1.0)
    return row
