"""What a course consists of: its tracks, katas and workloads, and the limits on code that runs."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Visibility: TypeAlias = Literal["visible", "after_due_date", "after_published", "hidden"]
HiddenSays: TypeAlias = Literal["nothing", "claim", "all"]


class CourseError(ValueError):
    """There is no course here, or it contradicts itself; the message says how, in one line."""


@dataclass(frozen=True)
class Track:
    """Katas that belong together; their points sum to 100."""

    name: str
    title: str


@dataclass(frozen=True)
class Kata:
    """One kata: one stub, one file of tests."""

    name: str
    title: str
    track: str
    place: int  # in its track
    points: dict[str, float]  # by the name of the test, in the order of the file
    visibility: dict[str, Visibility]  # of every test, by its name
    hidden_says: HiddenSays  # what a student may read of a test that is not visible
    builds_on: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()  # from gentle to plain
    lint: tuple[str, ...] = ()  # what its source is searched for: tables of `reference/lint.toml`
    command: dict[str, str] = field(default_factory=dict)  # that it brings: name, help, and the texts of `command.py`
    preload: tuple[str, ...] = ()  # modules that its code will most likely import: workers have done so, as a course's
    numeric: bool = True  # its answers are numbers that the oracle computes, so that a mistake shows in them
    languages: dict[str, dict[str, Any]] = field(default_factory=dict)  # what it says in other languages than English

    @property
    def max_score(self) -> float:
        """The points of all tests together."""
        return sum(self.points.values())

    @property
    def test_functions(self) -> set[str]:
        """The names of the functions that are worth points; `test_a[3]` is one case of `test_a`."""
        return {name.partition("[")[0] for name in self.points}


Tier: TypeAlias = Literal["passing", "full"]


@dataclass(frozen=True)
class Tiers:
    """How much of what a device can do earns the points for passing, and how much earns all."""

    passing: float
    full: float


@dataclass(frozen=True)
class Workload:
    """One thing that is timed."""

    name: str
    title: str
    uses: tuple[str, ...]  # the katas whose code runs in it
    points: Tiers
    ratio: dict[str, Tiers]  # by the kind of device: of the baseline that runs beside it
    mfu: Tiers | None  # of the datasheet's peak, on devices whose thresholds were measured


@dataclass(frozen=True)
class Limits:
    """What a student's process may use under the grader."""

    call_seconds: float = 5.0  # one call of a probe, import included
    test_seconds: float = 10.0  # all calls of a test at 100 examples; more examples get more time
    kata_seconds: float = 20.0  # all tests of a kata, likewise; a submission has the sum of its katas' times
    memory_mib: int = 1024  # address space beyond what the imported libraries have mapped
