"""What the tests say of a class, and the class of the tests: item analysis, as pure functions on results.

The discrimination of a test is the point-biserial correlation of passing it with the share of the points of all
else that somebody has tried. By chance alone it varies around 0 with variance 1/(n−1), whatever the points look like:
so it does over all permutations (E. J. G. Pitman, Significance tests which may be applied to samples from any
populations II, 1937). Even a perfect test reaches no more than a ceiling, which depends on how many pass.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, correlation, fmean
from typing import Literal, NamedTuple, TypeAlias

from grader.results.result import Result
from torchkata.result import FAILED, UNCOUNTED

Flag: TypeAlias = Literal["passed by all", "fails the best", "never reached"]

FEWEST = 10  # about fewer nothing is said
CHANCE = 0.03  # how often a test that tosses a coin is taken for a sound one
BELOW_CHANCE = 0.05  # how often a class of tests that toss coins has one that seems to prefer the weak
MISSED = 0.1  # how often a sound test may look like a coin, where tests are told apart at all
SOUND = 0.5  # of its ceiling is what a sound test reaches
RARE = 0.2  # a test that fewer fail, or pass, need not tell good from weak
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
    flag: Flag | None = None


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
    found = [item_of(which, students, totals, len(tests)) for which in tests]
    return [item for item in found if item is not None]


def item_of(
    which: Property, students: Sequence[Answers], totals: Sequence[tuple[float, float]], tests: int
) -> Item | None:
    """The figures of one; None where they would be about too few."""
    tried = [
        (answer, total)
        for student, total in zip(students, totals, strict=True)
        if (answer := student.get(which)) is not None and answer.outcome != "not_started"
    ]
    if not tried:
        return Item(which, 0, flag="never reached")
    if len(tried) < FEWEST:
        return None
    passed = [answer.outcome == "passed" for answer, _ in tried]
    rest = [rest_of(answer, total) for answer, total in tried]
    discrimination = point_biserial(passed, rest)
    flag: Flag | None = None
    if all(passed):
        flag = "passed by all"
    elif discrimination is not None and fails_the_best(passed, rest, tests):
        flag = "fails the best"
    seconds = fmean(answer.seconds for answer, _ in tried)
    return Item(which, len(tried), fmean(passed), discrimination, seconds, flag)


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


def ceiling(passed: Sequence[bool], rest: Sequence[float]) -> float | None:
    """The correlation, if just the best had passed."""
    return point_biserial(sorted(passed), sorted(rest))


def fails_the_best(passed: Sequence[bool], rest: Sequence[float], tests: int) -> bool:
    """Whether the best fail it as often as anybody, or oftener, and that is not for want of submissions.

    Either the correlation is below 0 beyond chance, also as the lowest of so many tests (Bonferroni); or it is not
    above 0 beyond chance, though a sound test of middling difficulty that so many pass would be.
    """
    found, most = point_biserial(passed, rest), ceiling(passed, rest)
    if found is None or most is None:
        return False
    normal, scale = NormalDist(), sqrt(len(passed) - 1)
    above = normal.inv_cdf(1 - CHANCE)
    middling = RARE <= fmean(passed) <= 1 - RARE
    told_apart = middling and SOUND * most * scale >= above + normal.inv_cdf(1 - MISSED)
    return found * scale < normal.inv_cdf(BELOW_CHANCE / tests) or (told_apart and found * scale < above)


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
