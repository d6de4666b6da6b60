"""The types that make up a course: tracks, katas, workloads, and limits for student code."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Visibility: TypeAlias = Literal["visible", "after_due_date", "after_published", "hidden"]
HiddenSays: TypeAlias = Literal["nothing", "claim", "all"]
Difficulty: TypeAlias = Literal["unknown", "easy", "medium", "hard"]


class CourseError(ValueError):
    """Raised if a course is missing or inconsistent. The message is a single line."""


class NoCourseError(CourseError):
    """Raised if neither the working directory nor a directory above it contains a course."""


@dataclass(frozen=True)
class Track:
    """A group of katas. Their points add up to 100."""

    name: str
    title: str
    ending: str = ""  # what works once all its katas are done


@dataclass(frozen=True)
class Kata:
    """A kata: one stub and its test file."""

    name: str
    title: str
    track: str
    place: int  # sort key within the track
    points: dict[str, float]  # keyed by the name of the test, in the order of the file
    visibility: dict[str, Visibility]  # keyed by the name of the test
    hidden_says: HiddenSays  # how much of a hidden test students may see
    builds_on: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()  # ordered from subtle to explicit
    hours: float = 0  # roughly how long students take, or 0 if unknown
    difficulty: Difficulty = "unknown"
    after: str = ""  # completes the sentence "After this kata you can …"
    lint: tuple[str, ...] = ()  # names of tables in `reference/lint.toml` with patterns to report in its source code
    command: dict[str, str] = field(default_factory=dict)  # a command added by the kata: name, help, texts
    preload: tuple[str, ...] = ()  # additional modules that workers import before they start
    numeric: bool = False  # whether the same call always returns the same result, so that a random result is a mistake

    @property
    def max_score(self) -> float:
        """The sum of the points of all tests."""
        return sum(self.points.values())

    @property
    def test_functions(self) -> set[str]:
        """The names of the test functions with points; `test_a[3]` is a case of `test_a`."""
        return {name.partition("[")[0] for name in self.points}


Tier: TypeAlias = Literal["passing", "full"]


@dataclass(frozen=True)
class Tiers:
    """A pair of values, such as thresholds or points: one for passing and one for full points."""

    passing: float
    full: float


@dataclass(frozen=True)
class Workload:
    """A workload whose speed is graded."""

    name: str
    title: str
    uses: tuple[str, ...]  # katas whose code is used by the workload
    points: Tiers
    ratio: dict[str, Tiers]  # thresholds relative to the baseline, by kind of device
    mfu: Tiers | None  # thresholds relative to the datasheet's peak, for devices with `mfu = true`


@dataclass(frozen=True)
class Limits:
    """Limits that the grader sets for the process that runs student code."""

    call_seconds: float = 5.0  # CPU time of a single call of a probe, including imports
    test_seconds: float = 10.0  # CPU time of all calls of a test with 100 examples; scaled up for more examples
    kata_seconds: float = 20.0  # CPU time of all tests of a kata, also scaled; a submission gets the sum of its katas
    wall_factor: float = 4.0  # each limit also ends after this many times as many seconds by the clock
    memory_mib: int = 1024  # address space in addition to that of the imported libraries
