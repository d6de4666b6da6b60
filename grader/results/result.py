"""What grading a submission comes to, as it is stored: `DIR/<id>/result.json`, whole or not at all."""

from pathlib import Path
from typing import Literal

import msgspec

from grader.base.cleanup import in_use
from grader.base.errors import MachineError
from torchkata.course import Tier
from torchkata.pytest_plugin import history as state
from torchkata.result import UNCOUNTED, Outcome, Status, TestResult

SCHEMA = "torchkata/result/v1"
REHEARSAL = "a rehearsal, no points"  # what a workload is on a device on which speed earns none


class ResultError(Exception):
    """This can't be read as a stored result; the message says why, in one line."""


class KataResult(msgspec.Struct, frozen=True):
    """One kata."""

    kata: str
    status: Status
    score: float
    max_score: float
    tests: tuple[TestResult, ...] = ()
    digest: str = ""  # of what the course says of it
    kept: str = ""  # by which version of the course it was graded, where a later one gave fewer points


class PerformanceResult(msgspec.Struct, frozen=True):
    """One workload."""

    workload: str
    outcome: Outcome
    score: float = 0.0
    max_score: float = 0.0
    message: str = ""  # what a student reads
    ratio: float | None = None  # of the baseline's rate, the median; None for a wrong result, too
    interval: tuple[float, float] | None = None  # that holds the true median in at least 95 % of all runs
    thresholds: tuple[float, float] | None = None  # the ratios from which some points and all points are earned
    tier: Tier | None = None  # the higher of the two that was reached
    mfu: float | None = None  # what the ratio is of the datasheet's peak
    rate: float | None = None  # work a second
    unit: str = ""  # of the work: FLOP, B, tokens
    blocks: int = 0  # timed and used
    seconds: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether its points count: neither a missing device nor the machine's fault is a zero."""
        return self.outcome not in UNCOUNTED

    @property
    def rehearsed(self) -> bool:
        """Whether it was graded where there are no points to earn."""
        return self.counts and self.max_score == 0

    @property
    def reached(self) -> Literal["all", "some", "none"]:
        """Of the points; in a rehearsal, of those that the same tier earns elsewhere."""
        if self.rehearsed:
            return "all" if self.tier == "full" else "some" if self.tier else "none"
        return "none" if self.score <= 0 else "all" if self.score >= self.max_score else "some"


class Finding(msgspec.Struct, frozen=True):
    """Something in a kata's source for the instructor to look at; no points depend on it, and students don't see it."""

    kata: str
    line: int
    text: str


class Result(msgspec.Struct, frozen=True):
    """One submission."""

    submission: str
    score: float
    max_score: float
    fingerprint: str
    seed: int
    examples: int
    isolation: str
    seconds: float
    environment: dict[str, str]
    katas: list[KataResult]
    device: str = "none"
    performance: list[PerformanceResult] = []
    speed_fingerprint: str = ""  # of what was timed
    findings: list[Finding] = []
    unreadable: str = ""  # why what was handed in could not be read, if it could not
    basis: str = ""  # the digest of all that decides the points beside what the course says of each kata
    course: str = ""  # its version: the commit, where it is a git checkout
    handed_in: str = ""  # when it was committed, with the zone, where it is one itself
    schema: str = SCHEMA

    def is_timed(self, device: str) -> bool:
        """Whether its speed on this kind of device need not be graded again."""
        known = self.speed_fingerprint == speed_fingerprint(self.fingerprint, device)
        return known and all(row.counts for row in self.performance)

    @property
    def conclusive(self) -> bool:
        """Whether no machine's fault is in how its katas were graded."""
        return all(result.status != "inconclusive" for result in self.katas)


def speed_fingerprint(fingerprint: str, device: str) -> str:
    """The same for the same submission, assignment, options and kind of device."""
    return f"{fingerprint}+{device}"


def write(result: Result, directory: Path) -> None:
    """Store a result, whole or not at all."""
    folder = directory / result.submission
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "result.json", msgspec.json.format(msgspec.json.encode(result), indent=1))


def store(result: Result, directory: Path) -> None:
    """As `write`. Raises MachineError where that fails."""
    try:
        write(result, directory)
    except OSError as error:
        raise MachineError(f"can't store the result of {result.submission} ({error.strerror})") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file aside, locked so that nobody clears it away, and then put it in place. Raises OSError."""
    state.write_atomically(path, content, in_use)


def load(path: Path) -> Result | None:
    """A stored result; None where there is none that can be read."""
    try:
        return read(path)
    except ResultError:
        return None


def read(path: Path) -> Result:
    """A stored result. Raises ResultError."""
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=Result)
    except OSError as error:
        raise ResultError(f"{path}: can't be read ({error.strerror})") from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ResultError(f"{path}: not a result of ours ({error})") from None
    if stored.schema != SCHEMA:
        raise ResultError(f"{path}: not a result of ours (its schema is {stored.schema!r}, not {SCHEMA!r})")
    if stored.submission != path.parent.name:
        raise ResultError(f"{path}: it is the result of {stored.submission!r}, in a directory of another name")
    return stored
