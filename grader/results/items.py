"""Item analysis: pure functions that compute the difficulty and discrimination of each test.

The discrimination of a test is the point-biserial correlation between passing the test and the share of points that the
student earned in all other tests that they tried.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import correlation, fmean
from typing import Literal, NamedTuple, TypeAlias

from grader.results.load import share
from grader.results.result import Result
from torchkata.result import FAILED, UNCOUNTED

FEWEST = 10  # smaller groups are not analyzed
DIGITS = 9  # digits to which shares are rounded, so that the order of summation does not matter


class Property(NamedTuple):
    """A test, identified by its kata and its name."""

    kata: str
    test: str


class Answer(NamedTuple):
    """The result of a test for a submission."""

    outcome: Literal["passed", "failed", "not_started"]
    score: float
    max_score: float
    seconds: float = 0.0
    diagnosis: str = ""


Answers: TypeAlias = Mapping[Property, Answer]


class CompactAnswers(Answers):
    """The answers of a submission, in 8 bytes each: all submissions share equal answers and the list of tests."""

    __slots__ = ("answers", "places")

    def __init__(self, answers: Answers) -> None:
        self.places = index_tests(tuple(answers))
        self.answers: tuple[Answer, ...] = tuple(map(share, answers.values()))

    def __getitem__(self, which: Property) -> Answer:
        return self.answers[self.places[which]]

    def __iter__(self) -> Iterator[Property]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.answers)


@dataclass(frozen=True)
class Item:
    """The statistics of a test."""

    which: Property
    n: int  # number of submissions that tried the test
    difficulty: float | None = None  # fraction of these submissions that pass (1 is easy); None if nobody tried it
    discrimination: float | None = None  # None if all pass, all fail, or all have the same share in other tests
    seconds: float | None = None  # mean


@dataclass(frozen=True)
class Diagnosed:
    """A frequent diagnosis, and the test in a later kata at which these submissions most often fail first."""

    kata: str
    diagnosis: str
    n: int
    next: Property | None
    next_n: int


def collect_answers(result: Result) -> Answers:
    """Return the answers of a submission by test, excluding outcomes that do not count."""
    return CompactAnswers(
        {
            Property(kata.kata, test.name): Answer(
                "failed" if test.outcome in FAILED else "passed" if test.outcome == "passed" else "not_started",
                test.score,
                test.max_score,
                float(f"{test.seconds:.2g}"),  # with two digits, most answers are equal to an earlier one
                test.diagnosis or "",
            )
            for kata in result.katas
            for test in kata.tests
            if test.outcome not in (*UNCOUNTED, "waived")
        }
    )


@cache
def index_tests(tests: tuple[Property, ...]) -> dict[Property, int]:
    """Return the index of each test. Submissions with the same tests share one dict."""
    return {which: place for place, which in enumerate(tests)}


def analyze_tests(students: Sequence[Answers], tests: Sequence[Property]) -> list[Item]:
    """Return the statistics of each test, except tests tried by only a few submissions (1 to `FEWEST` - 1).

    For a class with fewer than `FEWEST` submissions, return an empty list.
    """
    if len(students) < FEWEST:
        return []
    totals = [sum_points(student) for student in students]
    found = [analyze_test(which, students, totals) for which in tests]
    return [item for item in found if item is not None]


def analyze_test(which: Property, students: Sequence[Answers], totals: Sequence[tuple[float, float]]) -> Item | None:
    """Return the statistics of a test, or None if too few submissions tried it."""
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
    rest = [share_of_others(answer, total) for answer, total in tried]
    seconds = fmean(answer.seconds for answer, _ in tried)
    return Item(which, len(tried), fmean(passed), point_biserial(passed, rest), seconds)


def sum_points(student: Answers) -> tuple[float, float]:
    """Return the earned points and the maximum points of all tests that a student tried."""
    tried = [answer for answer in student.values() if answer.outcome != "not_started"]
    return sum(answer.score for answer in tried), sum(answer.max_score for answer in tried)


def share_of_others(answer: Answer, total: tuple[float, float]) -> float:
    """Return the share of the points that a student earned in all other tests that they tried."""
    earned, most = total[0] - answer.score, total[1] - answer.max_score
    return round(earned / most, DIGITS) if most > 0 else 0.0


def point_biserial(passed: Sequence[bool], rest: Sequence[float]) -> float | None:
    """Return the correlation between a binary and a numeric variable, or None if either is constant."""
    if len({*passed}) < 2 or len({*rest}) < 2:  # compare exactly, since a rounded mean could hide that all are equal
        return None
    return max(-1.0, min(1.0, correlation([float(one) for one in passed], rest)))


def find_diagnoses(students: Sequence[Answers], tests: Sequence[Property]) -> list[Diagnosed]:
    """Return the diagnoses that at least `FEWEST` submissions have, most frequent first."""
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
