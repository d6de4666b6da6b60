"""Item analysis on the class's page, and the same as two tables, `items.csv` and `diagnoses.csv`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from grader.output.gradebook import Cell, csv_of
from grader.output.page.student import Student
from grader.results import items
from grader.results.items import FEWEST, Diagnosed, Item, Property
from grader.results.result import write_whole
from grader.results.text import words
from torchkata.course import course

ITEMS = "items.csv"
DIAGNOSES = "diagnoses.csv"


@dataclass(frozen=True)
class Analysis:
    """What the tests say of a class: the figures of each, and what many failures look like."""

    items: list[Item]
    diagnosed: list[Diagnosed]
    tests: int  # that were graded
    fewest: ClassVar[int] = FEWEST

    @property
    def left_out(self) -> int:
        """How many tests too few have tried."""
        return self.tests - len(self.items)

    def title(self, which: Property) -> str:
        """The test's name as words."""
        return words(which.test)


def analysis(students: Sequence[Student]) -> Analysis:
    """Of all tests of the katas that were graded, in the course's order."""
    graded = {which.kata for one in students for which in one.answers}
    tests = [Property(name, test) for name, kata in course().katas.items() if name in graded for test in kata.points]
    answers = [one.answers for one in students]
    return Analysis(items.items(answers, tests), items.diagnosed(answers, tests), len(tests))


def write_tables(found: Analysis, directory: Path) -> None:
    """Store both tables, whole or not at all. Raises OSError."""
    rows: list[list[Cell]] = [
        [*item.which, item.n, *map(cell, (item.difficulty, item.discrimination, item.seconds))] for item in found.items
    ]
    head: list[Cell] = ["kata", "test", "n", "difficulty", "discrimination", "seconds"]
    write_whole(directory / ITEMS, csv_of([head, *rows]))
    looks: list[list[Cell]] = [
        [one.kata, one.diagnosis, one.n, *(one.next or ("", "")), one.next_n] for one in found.diagnosed
    ]
    head = ["kata", "looks_like", "n", "next_kata", "next_test", "next_n"]
    write_whole(directory / DIAGNOSES, csv_of([head, *looks]))


def cell(figure: float | None) -> float | str:
    """Empty where there is none."""
    return "" if figure is None else round(figure, 4)
