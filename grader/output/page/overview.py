"""The class at a glance: how the points are spread, how each kata ended, and which property fails most."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from grader.output.page.student import BINS, Student
from grader.results.items import Property
from grader.results.result import Finding
from grader.results.text import words
from torchkata.course import Kata, Track, course
from torchkata.result import LOOK_OF, Status

MOST = 12  # properties that are listed


@dataclass(frozen=True)
class Bin:
    """How many submissions have such a share of the points; `height` is 1 for the fullest of all bins."""

    place: int
    count: int
    height: float

    @property
    def label(self) -> str:
        """In percent."""
        return "all" if self.place == BINS else f"{100 // BINS * self.place}–{100 // BINS * (self.place + 1) - 1}"


@dataclass(frozen=True)
class Spread:
    """Shares of all points: the middle and the middle half."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class KataSummary:
    """How one kata ended: how many submissions by status, and the mean share of its points."""

    kata: Kata
    counts: dict[Status, int]
    mean: float

    @property
    def track(self) -> Track:
        """The one that the kata belongs to."""
        return course().tracks[self.kata.track]


@dataclass(frozen=True)
class Failing:
    """A property, how many fail it of those who have tried, and what that looks like most often."""

    which: Property
    failed: int
    tried: int
    diagnosis: str
    diagnosed: int

    @property
    def title(self) -> str:
        """The test's name as words."""
        return words(self.which.test)


def bins(students: Sequence[Student]) -> list[Bin]:
    """A histogram of the shares."""
    counts = Counter(one.bin for one in students)
    fullest = max(counts.values(), default=1)
    return [Bin(place, counts[place], counts[place] / fullest) for place in range(BINS + 1)]


def spread(students: Sequence[Student]) -> Spread:
    """Raises StatisticsError for nobody."""
    shares = [one.share for one in students]
    low, _, high = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else shares * 3
    return Spread(low, median(shares), high)


def ended(students: Sequence[Student], katas: Sequence[Kata]) -> list[KataSummary]:
    """A row for each kata: its statuses, among the submissions of which it was graded."""
    found = []
    for kata in katas:
        cells = [one.cells[kata.name] for one in students if kata.name in one.cells]
        counts = Counter(cell.status for cell in cells)
        graded = [cell.score for cell in cells if cell.status != "not_graded"]
        mean = sum(graded) / len(graded) / kata.max_score if graded and kata.max_score else 0.0
        found.append(KataSummary(kata, {status: counts[status] for status in reversed(LOOK_OF)}, mean))
    return found


def failing(students: Sequence[Student]) -> list[Failing]:
    """The properties that most submissions fail, with the commonest diagnosis of each."""
    failed = Counter(which for one in students for which in one.failed)
    tried = Counter(which for one in students for which in one.tried)
    found = []
    for which, count in sorted(failed.items(), key=lambda item: -item[1])[:MOST]:
        diagnoses = Counter(one.failed[which] for one in students if one.failed.get(which))
        diagnosis, diagnosed = diagnoses.most_common(1)[0] if diagnoses else ("", 0)
        found.append(Failing(which, count, tried[which], diagnosis, diagnosed))
    return found


def findings(students: Sequence[Student]) -> dict[str, list[tuple[str, Finding]]]:
    """The findings, by their text: whose source, and where."""
    found: dict[str, list[tuple[str, Finding]]] = {}
    for one in students:
        for finding in one.findings:
            found.setdefault(finding.text, []).append((one.submission, finding))
    return found
