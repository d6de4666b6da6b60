"""Writes `report.html` for the instructor, and a `feedback.html` for each student."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from markupsafe import Markup

from grader.base.errors import CallError, MachineError
from grader.output.page import overview, speed
from grader.output.page.html import templates
from grader.output.page.items import Analysis, analysis, write_tables
from grader.output.page.parts import Part, parts_of
from grader.output.page.similar import PAGE as SIMILAR
from grader.output.page.student import Student, student_of
from grader.results.result import Result, ResultError, read, write_whole
from grader.results.view import PERFORMANCE, VisibleTest, unredacted, visible
from torchkata.course import course

PAGE = "report.html"
FEEDBACK = "feedback.html"


class Blocks:
    """What the submissions' pages are made of, each block only once: most of a class did one of a few things."""

    def __init__(self) -> None:
        self.places: dict[Hashable, int] = {}
        self.html: list[Markup] = []

    def of(self, result: Result, parts: Sequence[Part]) -> tuple[int, ...]:
        """Where the blocks of a submission stand; those that are new are added."""
        linted = [self.place("findings.html", findings=tuple(result.findings))] if result.findings else []
        return (*linted, *(self.place("part.html", part=part, instructor=True) for part in parts))

    def place(self, template: str, **data: Hashable) -> int:
        """Where the block that this template makes of these data stands."""
        key = (template, *data.values())
        if key not in self.places:
            self.places[key] = len(self.html)
            self.html.append(Markup(templates().get_template(template).render(data)))
        return self.places[key]


def write_report(directory: Path, submissions: Sequence[str]) -> list[str]:
    """Write `report.html` of these results, and the tests' figures as tables; a line for each that can't be shown.

    Raises MachineError.
    """
    blocks, problems = Blocks(), list[str]()
    students = [
        student_of(result, parts, blocks.of(result, parts))
        for result, parts in shown_in(directory, submissions, unredacted, problems)
    ]
    found = analysis(students)
    try:
        similar = SIMILAR if (directory / SIMILAR).exists() else ""
        write_whole(directory / PAGE, page(students, blocks, found, similar).encode())
        write_tables(found, directory)
    except OSError as error:
        raise MachineError(f"can't write into {directory} ({error.strerror})") from None
    return problems


def write_feedback(directory: Path, submissions: Sequence[str], to: Path) -> list[str]:
    """Write `TO/<submission>/feedback.html` for each; a line for each that can't be shown. Raises CallError."""
    problems = list[str]()
    for result, parts in shown_in(directory, submissions, partial(visible, platform_hides=False), problems):
        try:
            (to / result.submission).mkdir(parents=True, exist_ok=True)
            write_whole(to / result.submission / FEEDBACK, feedback(result, parts).encode())
        except OSError as error:
            raise CallError(f"--feedback {to}: can't write there ({error.strerror})") from None
    return problems


def shown_in(
    directory: Path, submissions: Sequence[str], view: Callable[[Result], Sequence[VisibleTest]], problems: list[str]
) -> Iterator[tuple[Result, list[Part]]]:
    """One result after the other, and of it what this view lets be seen; what can't be shown goes to `problems`."""
    for submission in submissions:
        path = directory / submission / "result.json"
        try:
            result = read(path)
            parts = parts_of(result, view(result))
        except ResultError as error:
            problems.append(str(error))
        except ValueError as error:
            problems.append(f"{path}: {error}")
        else:
            yield result, parts


def page(students: Sequence[Student], blocks: Blocks, found: Analysis, similar: str) -> str:
    """The page of a class, and beside it the page of who hands in the same, if there is one."""
    graded = {name for one in students for name in one.cells}
    katas = [kata for name, kata in course().katas.items() if name in graded]
    failing = overview.failing(students)
    return (
        templates()
        .get_template("report.html")
        .render(
            students=students,
            katas=katas,
            tracks=[(course().tracks[name], list(group)) for name, group in groupby(katas, attrgetter("track"))],
            timed=PERFORMANCE in graded,
            blocks=blocks.html,
            bins=overview.bins(students),
            spread=overview.spread(students) if students else None,
            ended=overview.ended(students, katas),
            failing=failing,
            analysis=found,
            similar=similar,
            fails={
                one.submission: [place for place, each in enumerate(failing) if each.which in one.failed]
                for one in students
            },
            findings=overview.findings(students),
            strips=speed.strips(students),
            roofs=[Markup(svg) for svg in speed.roofs(students)],
        )
    )


def feedback(result: Result, parts: Sequence[Part]) -> str:
    """The page of one submission, for whoever handed it in."""
    return (
        templates()
        .get_template("feedback.html")
        .render(
            submission=result.submission,
            score=sum(part.result.score for part in parts),
            max_score=sum(part.result.max_score for part in parts),
            parts=parts,
            roofs=[Markup(svg) for svg in speed.roofs([student_of(result, [], ())])],
        )
    )
