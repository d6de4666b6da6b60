"""The item analysis of the class's page, also written as the tables `items.csv` and `diagnoses.csv`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from grader.output.gradebook import Cell, encode_csv
from grader.output.page.student import Student
from grader.results import items
from grader.results.items import FEWEST, Diagnosed, Item, Property
from grader.results.result import write_whole
from grader.results.text import make_title
from torchkata.course import course

ITEMS = "items.csv"
DIAGNOSES = "diagnoses.csv"


@dataclass(frozen=True)
class Analysis:
    """The statistics of each test, and the frequent diagnoses."""

    items: list[Item]
    diagnosed: list[Diagnosed]
    tests: int  # number of graded tests
    fewest: ClassVar[int] = FEWEST

    @property
    def left_out(self) -> int:
        """The number of tests that too few submissions tried."""
        return self.tests - len(self.items)

    def title(self, which: Property) -> str:
        """Return a test's name as words."""
        return make_title(which.test)


def analyze(students: Sequence[Student]) -> Analysis:
    """Return the analysis of all tests of the graded katas, in the course's order."""
    graded = {which.kata for student in students for which in student.answers}
    tests = [Property(name, test) for name, kata in course().katas.items() if name in graded for test in kata.points]
    answers = [student.answers for student in students]
    return Analysis(items.analyze_tests(answers, tests), items.find_diagnoses(answers, tests), len(tests))


def write_tables(found: Analysis, directory: Path) -> None:
    """Write both tables atomically. Raises OSError."""
    rows: list[list[Cell]] = [
        [*item.which, item.n, *map(round_or_blank, (item.difficulty, item.discrimination, item.seconds))]
        for item in found.items
    ]
    head: list[Cell] = ["kata", "test", "n", "difficulty", "discrimination", "seconds"]
    write_whole(directory / ITEMS, encode_csv([head, *rows]))
    looks: list[list[Cell]] = [
        [one.kata, one.diagnosis, one.n, *(one.next or ("", "")), one.next_n] for one in found.diagnosed
    ]
    head = ["kata", "looks_like", "n", "next_kata", "next_test", "next_n"]
    write_whole(directory / DIAGNOSES, encode_csv([head, *looks]))


def round_or_blank(value: float | None) -> float | str:
    """Return a rounded number, "" for None."""
    return "" if value is None else round(value, 4)
