"""What the page of a class keeps of each submission: little, so that a large class stays small in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isclose

from grader.output.page.parts import Part
from grader.results.result import Finding, KataResult, PerformanceResult, Result
from torchkata.result import FAILED, Outcome

BINS = 10
TRIED: tuple[Outcome, ...] = ("passed", *FAILED)


@dataclass(frozen=True)
class Property:
    """A test, by its kata and its name."""

    kata: str
    test: str


@dataclass(frozen=True)
class Student:
    """One submission."""

    submission: str
    score: float
    max_score: float
    cells: dict[str, KataResult]  # without tests; the speed, too
    tried: frozenset[Property]
    failed: dict[Property, str]  # what each looks like; nothing where nobody knows
    rerun: tuple[str, ...]  # the katas and workloads that the machine has spoilt
    findings: tuple[Finding, ...]
    unreadable: str  # why it could not be read, if it could not
    timed: tuple[PerformanceResult, ...]
    kind: str  # of device
    device: str
    seed: int
    examples: int
    isolation: str
    blocks: tuple[str, ...]  # of the page: where the parts of this submission stand; after a "+" what is within one
    graded: str = ""  # the day

    @property
    def share(self) -> float:
        """Of all points, between 0 and 1."""
        return self.score / self.max_score if self.max_score > 0 else 0.0

    @property
    def bin(self) -> int:
        """In a histogram of equal steps, and a last bin for all points."""
        return BINS if isclose(self.share, 1.0) else int(self.share * BINS)


def student_of(result: Result, parts: Sequence[Part], blocks: tuple[str, ...], graded: str = "") -> Student:
    """What the tables need of a result."""
    return Student(
        submission=result.submission,
        score=result.score,
        max_score=result.max_score,
        cells={part.result.kata: part.result for part in parts},
        tried=frozenset(
            Property(kata.kata, test.name) for kata in result.katas for test in kata.tests if test.outcome in TRIED
        ),
        failed={
            Property(kata.kata, test.name): test.diagnosis or ""
            for kata in result.katas
            for test in kata.tests
            if test.outcome in FAILED
        },
        rerun=tuple(spoilt(result)),
        findings=tuple(result.findings),
        unreadable=result.unreadable,
        timed=tuple(result.performance),
        kind=result.device,
        device=result.environment.get("device", result.device),
        seed=result.seed,
        examples=result.examples,
        isolation=result.isolation,
        blocks=blocks,
        graded=graded,
    )


def spoilt(result: Result) -> Iterator[str]:
    """The katas and workloads that ended through the machine's fault."""
    yield from (one.kata for one in result.katas if is_spoilt(one))
    yield from (one.workload for one in result.performance if one.outcome == "inconclusive")


def is_spoilt(kata: KataResult) -> bool:
    """Whether the machine is to blame for any test of it."""
    return any(test.outcome == "inconclusive" for test in kata.tests)
