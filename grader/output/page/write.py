"""Writes `report.html` for the instructor, and a `feedback.html` for each student."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TypeAlias

from markupsafe import Markup

from grader.base.errors import CallError, MachineError
from grader.output.page import overview, speed
from grader.output.page.code import Code, codes_of, helpers
from grader.output.page.html import templates
from grader.output.page.items import Analysis, analysis, write_tables
from grader.output.page.marks import Marked, for_all
from grader.output.page.parts import Part, parts_of
from grader.output.page.student import Student, student_of
from grader.results.result import Finding, Result, ResultError, read, write_whole
from grader.results.source import HandIn, hand_in_of
from grader.results.view import PERFORMANCE, VisibleTest, unredacted, visible
from torchkata.course import course

PAGE = "report.html"
FEEDBACK = "feedback.html"

Marks: TypeAlias = Mapping[str, tuple[Marked, ...]]  # by submission


@dataclass(frozen=True)
class Shown:
    """A submission, and what of it may be seen."""

    result: Result
    parts: Sequence[Part]
    hand_in: HandIn | None

    @property
    def graded(self) -> str:
        """The day, where it is known."""
        return self.hand_in.graded.astimezone().date().isoformat() if self.hand_in else ""

    def codes(self, findings: Sequence[Finding] = ()) -> dict[str, Code]:
        """The files that were handed in, with notes of what may be seen and of these findings."""
        return codes_of(self.hand_in, [test for part in self.parts for test in part.tests], findings)


class Blocks:
    """What the submissions' pages are made of, each block only once: most of a class did one of a few things."""

    def __init__(self) -> None:
        self.places: dict[Hashable, int] = {}
        self.html: list[Markup] = []

    def of(self, one: Shown, marks: tuple[Marked, ...] = ()) -> tuple[str, ...]:
        """Where the blocks of a submission stand, with the code within each; those that are new are added."""
        findings, codes = tuple(one.result.findings), one.codes(one.result.findings)
        places = [str(self.place("marks.html", marks=marks))] if marks else []
        places += [str(self.place("findings.html", findings=findings))] if findings else []
        places += [self.part(part, codes.get(part.file)) for part in one.parts]
        others = tuple(helpers(codes))
        return (*places, *([str(self.place("helpers.html", helpers=others))] if others else []))

    def part(self, part: Part, code: Code | None) -> str:
        """Where a part stands, and the code within it: what is passed, and nothing found in it, needs none here."""
        place = self.place("part.html", part=part, instructor=True, code=None)
        shown = code is not None and (not part.passed or code.notes)
        return f"{place}+{self.place('code.html', code=code)}" if shown else str(place)

    def place(self, template: str, **data: Hashable) -> int:
        """Where the block that this template makes of these data stands."""
        key = (template, *data.values())
        if key not in self.places:
            self.places[key] = len(self.html)
            self.html.append(Markup(templates().get_template(template).render(data)))
        return self.places[key]


def write_report(directory: Path, submissions: Sequence[str], marks: Marks) -> list[str]:
    """Write `report.html` of these results, and the tests' figures as tables; a line for each that can't be shown.

    Raises MachineError.
    """
    blocks, problems = Blocks(), list[str]()
    students = [
        student_of(one.result, one.parts, blocks.of(one, marks.get(one.result.submission, ())), one.graded)
        for one in shown_in(directory, submissions, unredacted, problems)
    ]
    found = analysis(students)
    try:
        write_whole(directory / PAGE, page(students, blocks, found).encode())
        write_tables(found, directory)
    except OSError as error:
        raise MachineError(f"can't write into {directory} ({error.strerror})") from None
    return problems


def write_feedback(directory: Path, submissions: Sequence[str], to: Path, marks: Marks) -> list[str]:
    """Write `TO/<submission>/feedback.html` for each; a line for each that can't be shown. Raises CallError."""
    problems = list[str]()
    for one in shown_in(directory, submissions, partial(visible, platform_hides=False), problems):
        folder = to / one.result.submission
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / FEEDBACK, feedback(one, for_all(marks, one.result.submission)).encode())
        except OSError as error:
            raise CallError(f"--feedback {to}: can't write there ({error.strerror})") from None
    return problems


def shown_in(
    directory: Path, submissions: Sequence[str], view: Callable[[Result], Sequence[VisibleTest]], problems: list[str]
) -> Iterator[Shown]:
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
            yield Shown(result, parts, hand_in_of(directory, submission, result.fingerprint))


def page(students: Sequence[Student], blocks: Blocks, found: Analysis) -> str:
    """Return the page of a class."""
    graded = {name for one in students for name in one.cells}
    katas = [kata for name, kata in course().katas.items() if name in graded]
    days = sorted({one.graded for one in students if one.graded})
    failing = overview.failing(students)
    return (
        templates()
        .get_template("report.html")
        .render(
            students=students,
            graded=[*days[:1], *days[1:][-1:]],
            katas=katas,
            tracks=[(course().tracks[name], list(group)) for name, group in groupby(katas, attrgetter("track"))],
            timed=PERFORMANCE in graded,
            blocks=blocks.html,
            bins=overview.bins(students),
            spread=overview.spread(students) if students else None,
            ended=overview.ended(students, katas),
            failing=failing,
            analysis=found,
            fails={
                one.submission: [place for place, each in enumerate(failing) if each.which in one.failed]
                for one in students
            },
            findings=overview.findings(students),
            strips=speed.strips(students),
            roofs=[Markup(svg) for svg in speed.roofs(students)],
        )
    )


def feedback(shown: Shown, marks: Sequence[Marked] = ()) -> str:
    """The page of one submission, for whoever handed it in."""
    codes, parts = shown.codes(), shown.parts
    return (
        templates()
        .get_template("feedback.html")
        .render(
            submission=shown.result.submission,
            score=sum(part.result.score for part in parts),
            max_score=sum(part.result.max_score for part in parts),
            parts=parts,
            graded=shown.graded,
            codes=codes,
            helpers=helpers(codes),
            marks=marks,
            roofs=[Markup(svg) for svg in speed.roofs([student_of(shown.result, [], ())])],
        )
    )
