"""Defines a job (one submission to grade) and the events that grading it produces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from grader.pipeline.submission import Submission
from grader.results.result import Finding, KataResult
from torchkata.course import Kata, Limits, course
from torchkata.result import TestResult


@dataclass(frozen=True)
class Job:
    """One submission to grade."""

    submission: Submission
    katas: tuple[Kata, ...]
    seed: int
    known_good: frozenset[str] = frozenset()  # katas that are known to be done, and so need no fallback
    limits: Limits = field(default_factory=lambda: course().limits)
    lint: bool = False  # also search the source for findings
    expect_failure: bool = False  # skip the first pass and the diagnosis, which a failing test does not need
    few_examples: bool = False  # a quarter of the inputs is enough
    for_instructor: bool = False  # messages may reveal the seed and the line of the course where a test fails
    next: "Job | None" = None  # the job to grade right after this one, with the same zygote
    reusable: Mapping[str, KataResult] = field(default_factory=dict)  # stored results that a regrade would reproduce
    done_before: frozenset[str] = frozenset()  # katas that were done when the reusable results were made


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
    peak_mib: float = 0.0  # peak memory of the grader's own process, most of it torch
    traces: dict[tuple[str, str], str] = field(default_factory=dict)  # keyed by kata and test: how broken tests failed


Event: TypeAlias = FinishedTest | Graded
