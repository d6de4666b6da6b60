"""Computes the statistics of a class: points, the status of each kata, the most frequent failures, and item analysis.

The item analysis is also written to the tables `items.csv` and `diagnoses.csv`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from grader.base.files import write_whole
from grader.output.gradebook import CellValue, encode_csv
from grader.output.page.student import BINS, SubmissionSummary
from grader.results import items
from grader.results.faults import describe_open, describe_waived
from grader.results.items import Diagnosed, Item, Property
from grader.results.result import Finding
from torchkata.course import Kata, Track, course
from torchkata.result import LOOK_OF, Status

MOST = 12  # maximum number of tests in the list
ITEMS = "items.csv"
DIAGNOSES = "diagnoses.csv"


@dataclass(frozen=True)
class Bin:
    """A bar in the histogram of points. `height` is relative to the highest bar."""

    place: int
    count: int
    height: float

    @property
    def label(self) -> str:
        """The range of the bar in percent."""
        return "all" if self.place == BINS else f"{100 // BINS * self.place}–{100 // BINS * (self.place + 1) - 1}"


@dataclass(frozen=True)
class KataSummary:
    """The number of submissions with each status of a kata, and the mean share of its points that were earned."""

    kata: Kata
    counts: dict[Status, int]
    mean: float

    @property
    def track(self) -> Track:
        """The track of the kata."""
        return course().tracks[self.kata.track]


@dataclass(frozen=True)
class Failing:
    """A test, the numbers of submissions that tried it and that failed it, and its most frequent diagnosis."""

    which: Property
    failed: int
    tried: int
    diagnosis: str
    diagnosed: int


def make_histogram(students: Sequence[SubmissionSummary]) -> list[Bin]:
    """Return a histogram of the shares of points."""
    counts = Counter(one.bin for one in students)
    fullest = max(counts.values(), default=1)
    return [Bin(place, counts[place], counts[place] / fullest) for place in range(BINS + 1)]


def compute_spread(students: Sequence[SubmissionSummary]) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile of the shares of points.

    Raises StatisticsError if there are no students.
    """
    shares = [one.share for one in students]
    low, _, high = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else shares * 3
    return low, median(shares), high


def summarize_katas(students: Sequence[SubmissionSummary], katas: Sequence[Kata]) -> list[KataSummary]:
    """Return a summary of each kata, computed from the submissions for which it was graded."""
    found = []
    for kata in katas:
        cells = [one.cells[kata.name] for one in students if kata.name in one.cells]
        counts = Counter(cell.status for cell in cells)
        graded = [cell.score for cell in cells if cell.status != "not_graded"]
        mean = sum(graded) / len(graded) / kata.max_score if graded and kata.max_score else 0.0
        found.append(KataSummary(kata, {status: counts[status] for status in reversed(LOOK_OF)}, mean))
    return found


def find_failing(students: Sequence[SubmissionSummary]) -> list[Failing]:
    """Return the tests that fail most often."""
    failed = Counter(which for one in students for which in one.failed)
    tried = Counter(which for one in students for which in one.tried)
    found = []
    for which, count in sorted(failed.items(), key=lambda item: -item[1])[:MOST]:
        answers = [one.answers[which] for one in students if which in one.answers]
        diagnoses = Counter(answer.diagnosis for answer in answers if answer.outcome == "failed" and answer.diagnosis)
        diagnosis, diagnosed = diagnoses.most_common(1)[0] if diagnoses else ("", 0)
        found.append(Failing(which, count, tried[which], diagnosis, diagnosed))
    return found


def group_findings(students: Sequence[SubmissionSummary]) -> dict[str, list[tuple[str, Finding]]]:
    """Return the findings, grouped by text, each paired with its submission."""
    found: dict[str, list[tuple[str, Finding]]] = {}
    for one in students:
        for finding in one.result.findings:
            found.setdefault(finding.text, []).append((one.result.submission, finding))
    return found


def describe_faults(students: Sequence[SubmissionSummary]) -> list[str]:
    """Return a line for each test that is broken, whether it is waived or not."""
    faults = {one.result.submission: one.faults for one in students}
    broken = {name: [fault for fault in each if fault.kind == "broken"] for name, each in faults.items()}
    return [*describe_waived(faults), *describe_open(broken)]


@dataclass(frozen=True)
class Analysis:
    """The statistics of each test, and the frequent diagnoses."""

    items: list[Item]
    diagnosed: list[Diagnosed]
    left_out: int  # number of tests that too few submissions have tried


def analyze(students: Sequence[SubmissionSummary]) -> Analysis:
    """Return the analysis of all tests of the graded katas, in course order."""
    graded = {which.kata for student in students for which in student.answers}
    tests = [Property(name, test) for name, kata in course().katas.items() if name in graded for test in kata.points]
    answers = [student.answers for student in students]
    found = items.analyze_tests(answers, tests)
    return Analysis(found, items.find_diagnoses(answers, tests), len(tests) - len(found))


def write_tables(found: Analysis, directory: Path) -> None:
    """Write `items.csv` and `diagnoses.csv` atomically. Raises OSError if they can't be written."""
    rows: list[list[CellValue]] = [
        [*item.which, item.n, *map(round_or_blank, (item.difficulty, item.discrimination, item.seconds))]
        for item in found.items
    ]
    head: list[CellValue] = ["kata", "test", "n", "difficulty", "discrimination", "seconds"]
    write_whole(directory / ITEMS, encode_csv([head, *rows]))
    looks: list[list[CellValue]] = [
        [one.kata, one.diagnosis, one.n, *(one.next or ("", "")), one.next_n] for one in found.diagnosed
    ]
    head = ["kata", "looks_like", "n", "next_kata", "next_test", "next_n"]
    write_whole(directory / DIAGNOSES, encode_csv([head, *looks]))


def round_or_blank(value: float | None) -> float | str:
    """Return a rounded number, or "" for None."""
    return "" if value is None else round(value, 4)
