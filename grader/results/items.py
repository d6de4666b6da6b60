"""What the tests say of a class, and the class of the tests: item analysis, as pure functions on results.

The discrimination of a test is the point-biserial correlation of passing it with the share of the points of all
else that somebody has tried.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import correlation, fmean
from typing import Literal, NamedTuple, TypeAlias

from grader.results.result import Result
from torchkata.result import FAILED, UNCOUNTED

FEWEST = 10  # about fewer nothing is said
DIGITS = 9  # of a share: sums in another order are no other points


class Property(NamedTuple):
    """A test, by its kata and its name."""

    kata: str
    test: str


class Answer(NamedTuple):
    """What one submission makes of a test."""

    outcome: Literal["passed", "failed", "not_started"]
    score: float
    max_score: float
    seconds: float = 0.0
    diagnosis: str = ""


Answers: TypeAlias = Mapping[Property, Answer]


@dataclass(frozen=True)
class Item:
    """A test in figures; without any where nobody has reached it."""

    which: Property
    n: int  # have tried it
    difficulty: float | None = None  # the share of these that pass: 1 is easy
    discrimination: float | None = None  # None, too, where all pass, all fail, or all have the same points elsewhere
    seconds: float | None = None  # the mean


@dataclass(frozen=True)
class Diagnosed:
    """What many failures look like, and the test of a later kata that most of these submissions fail first."""

    kata: str
    diagnosis: str
    n: int
    next: Property | None
    next_n: int


def answers_of(result: Result) -> dict[Property, Answer]:
    """What counts of a result's tests, by test."""
    return {
        Property(kata.kata, test.name): Answer(
            "failed" if test.outcome in FAILED else "passed" if test.outcome == "passed" else "not_started",
            test.score,
            test.max_score,
            test.seconds,
            test.diagnosis or "",
        )
        for kata in result.katas
        for test in kata.tests
        if test.outcome not in UNCOUNTED
    }


def items(students: Sequence[Answers], tests: Sequence[Property]) -> list[Item]:
    """The figures of these tests, but of those that fewer than `FEWEST` have tried; none for so small a class."""
    if len(students) < FEWEST:
        return []
    totals = [totals_of(student) for student in students]
    found = [item_of(which, students, totals) for which in tests]
    return [item for item in found if item is not None]


def item_of(which: Property, students: Sequence[Answers], totals: Sequence[tuple[float, float]]) -> Item | None:
    """The figures of one; None where they would be about too few."""
    tried = [
        (answer, total)
        for student, total in zip(students, totals, strict=True)
        if (answer := student.get(which)) is not None and answer.outcome != "not_started"
    ]
    if not tried:
        return Item(which, 0)
    if len(tried) < FEWEST:
        return None
    passed = [answer.outcome == "passed" for answer, _ in tried]
    rest = [rest_of(answer, total) for answer, total in tried]
    seconds = fmean(answer.seconds for answer, _ in tried)
    return Item(which, len(tried), fmean(passed), point_biserial(passed, rest), seconds)


def totals_of(student: Answers) -> tuple[float, float]:
    """The points of all that was tried: earned, and most. What was not reached says nothing of how good somebody is."""
    tried = [one for one in student.values() if one.outcome != "not_started"]
    return sum(one.score for one in tried), sum(one.max_score for one in tried)


def rest_of(answer: Answer, total: tuple[float, float]) -> float:
    """The share of the points of all else that was tried."""
    earned, most = total[0] - answer.score, total[1] - answer.max_score
    return round(earned / most, DIGITS) if most > 0 else 0.0


def point_biserial(passed: Sequence[bool], rest: Sequence[float]) -> float | None:
    """The correlation of yes and no with a figure; None where all of either are the same."""
    if len({*passed}) < 2 or len({*rest}) < 2:  # their mean may be rounded, and then they seem to differ
        return None
    return max(-1.0, min(1.0, correlation([float(one) for one in passed], rest)))


def diagnosed(students: Sequence[Answers], tests: Sequence[Property]) -> list[Diagnosed]:
    """What at least `FEWEST` submissions look like, the commonest first, and what they fail next."""
    order = {kata: place for place, kata in enumerate(dict.fromkeys(which.kata for which in tests))}
    counts: Counter[tuple[str, str]] = Counter()
    nexts: dict[tuple[str, str], Counter[Property]] = {}
    for student in students:
        failed = [which for which in tests if which in student and student[which].outcome == "failed"]
        for kata, diagnosis in {(which.kata, student[which].diagnosis) for which in failed} - {
            (which.kata, "") for which in failed
        }:
            counts[kata, diagnosis] += 1
            later = next((which for which in failed if order[which.kata] > order[kata]), None)
            nexts.setdefault((kata, diagnosis), Counter()).update([later] if later else [])
    found = []
    for (kata, diagnosis), count in sorted(counts.items(), key=lambda one: (-one[1], order[one[0][0]], one[0][1])):
        if count >= FEWEST:
            follows = nexts[kata, diagnosis]
            first = min(follows, key=lambda which: (-follows[which], tests.index(which)), default=None)
            found.append(Diagnosed(kata, diagnosis, count, first, follows[first] if first else 0))
    return found
