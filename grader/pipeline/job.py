"""Defines jobs (submissions to grade) and the events produced by grading them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from grader.pipeline.submission import Submission
from grader.results.result import Finding, KataResult
from torchkata.course import Kata, Limits, course
from torchkata.result import TestResult


@dataclass(frozen=True)
class Job:
    """A submission to grade."""

    submission: Submission
    katas: tuple[Kata, ...]
    seed: int
    known_good: frozenset[str] = frozenset()  # katas that are known to be done and therefore need no fallback
    limits: Limits = field(default_factory=lambda: course().limits)
    lint: bool = False  # also search the source code for findings
    expect_failure: bool = False  # skip the first pass and the diagnosis, which are not needed for tests that fail
    few_examples: bool = False  # use a quarter of the inputs
    for_instructor: bool = False  # messages may reveal the seed and the line of the course at which a test fails
    reusable: Mapping[str, KataResult] = field(default_factory=dict)  # stored results that a regrade would reproduce
    done_before: frozenset[str] = frozenset()  # katas that were done when the reusable results were created


@dataclass(frozen=True)
class FinishedTest:
    """A finished test of a job."""

    job: Job
    kata: str
    result: TestResult
    trace: str = ""  # how a broken test failed, for the instructor


@dataclass(frozen=True)
class Graded:
    """A finished job."""

    job: Job
    katas: list[KataResult]
    seconds: float
    findings: list[Finding] = field(default_factory=list)
    traces: dict[tuple[str, str], str] = field(default_factory=dict)  # how broken tests failed, keyed by kata and test


Event: TypeAlias = FinishedTest | Graded
