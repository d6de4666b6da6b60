"""The result of grading a submission, stored as `DIR/<id>/result.json`."""

from pathlib import Path
from typing import Literal

import msgspec

from grader.base.errors import MachineError, convert_write_errors
from grader.base.files import write_whole
from torchkata.course import Tier
from torchkata.result import UNCOUNTED, Outcome, Status, TestResult

SCHEMA = "torchkata/result/v1"
REHEARSAL = "a rehearsal without points"  # shown for a workload on a device for which speed earns no points


class ResultError(Exception):
    """Raised if a stored result cannot be loaded. The message is the reason on one line."""


class KataResult(msgspec.Struct, frozen=True):
    """The result of a kata."""

    kata: str
    status: Status
    score: float
    max_score: float
    tests: tuple[TestResult, ...] = ()
    digest: str = ""  # digest of everything that judges it (see `dependencies`)
    kept: str = ""  # version of the course with which it was graded, if a later version gave fewer points


class PerformanceResult(msgspec.Struct, frozen=True):
    """The result of a workload."""

    workload: str
    outcome: Outcome
    score: float = 0.0
    max_score: float = 0.0
    message: str = ""  # shown to the student
    ratio: float | None = None  # median rate relative to the baseline; None also for a wrong result
    interval: tuple[float, float] | None = None  # confidence interval of the ratio (at least 95%)
    thresholds: tuple[float, float] | None = None  # ratios required for passing and for full points
    tier: Tier | None = None  # highest tier that was reached
    mfu: float | None = None  # fraction of the datasheet's peak
    rate: float | None = None  # work units per second
    unit: str = ""  # unit of the work: FLOP, B, tokens
    blocks: int = 0  # number of timed blocks that were used
    seconds: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether the points of the workload count. They do not if a device is missing or the machine is at fault."""
        return self.outcome not in UNCOUNTED

    @property
    def rehearsed(self) -> bool:
        """Whether the workload was graded on a device on which speed earns no points."""
        return self.counts and self.max_score == 0

    @property
    def reached(self) -> Literal["all", "some", "none"]:
        """How many of the points were earned or, in a rehearsal, would be earned on a device on which speed counts."""
        if self.rehearsed:
            return "all" if self.tier == "full" else "some" if self.tier else "none"
        return "none" if self.score <= 0 else "all" if self.score >= self.max_score else "some"


class Finding(msgspec.Struct, frozen=True):
    """A suspicious line in the source code of a kata, shown only to the instructor. It does not affect points."""

    kata: str
    line: int
    text: str


class Result(msgspec.Struct, frozen=True):
    """The result of a submission."""

    submission: str
    score: float
    max_score: float
    seed: int
    examples: int
    isolation: str
    seconds: float
    environment: dict[str, str]
    katas: list[KataResult]
    device: str = "none"
    performance: list[PerformanceResult] = []
    can_time_again: bool = False  # speed earned no points only because of this machine
    findings: list[Finding] = []
    unreadable: str = ""  # the reason why the submission could not be read, or ""
    course: str = ""  # commit of the course, if it is a git checkout
    hand_in: str = ""  # digest of the submission; "" in a result of an earlier version of the grader
    origin: str = ""  # path of the submission
    late_by_platform: bool = False  # the platform has marked the submission as late
    near_misses: dict[str, str] = {}  # names of files that may be an unwritten kata, keyed by kata
    notes: list[str] = []  # other files that were left aside and may contain katas
    schema: str = SCHEMA

    def is_timed(self, device: str) -> bool:
        """Return whether the speed of the submission has already been graded on this kind of device."""
        return self.device == device and not self.can_time_again and all(row.counts for row in self.performance)

    @property
    def left_aside(self) -> list[str]:
        """A line for the instructor about each file that was left aside and may be a kata."""
        question = "{}.py is missing or not started; there is {}: is it this one?"
        return [*(question.format(*found) for found in self.near_misses.items()), *self.notes]

    @property
    def conclusive(self) -> bool:
        """Whether no kata was affected by a machine fault."""
        return all(result.status != "inconclusive" for result in self.katas)


def write(result: Result, directory: Path) -> None:
    """Store a result atomically. Raises MachineError if it can't be written."""
    path = directory / result.submission / "result.json"
    with convert_write_errors(path, MachineError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, msgspec.json.format(msgspec.json.encode(result), indent=1))


def load(path: Path) -> Result | None:
    """Load a stored result. Return None if it is missing or cannot be read."""
    try:
        return read(path)
    except ResultError:
        return None


def read(path: Path) -> Result:
    """Load a stored result. Raises ResultError if it is missing or cannot be read."""
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=Result)
    except OSError as error:
        raise ResultError(f"{path}: can't be read ({error.strerror})") from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ResultError(f"{path}: not a torchkata result ({error})") from None
    if stored.schema != SCHEMA:
        raise ResultError(f"{path}: not a torchkata result (its schema is {stored.schema!r}, not {SCHEMA!r})")
    if stored.submission != path.parent.name:
        raise ResultError(
            f"{path}: contains the result of {stored.submission!r}; move it to a directory with that name"
        )
    return stored
