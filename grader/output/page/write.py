"""Writes `report.html` for the instructor and `feedback.html` for each student."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TypeAlias

from markupsafe import Markup

from grader.base.errors import MachineError, convert_write_errors
from grader.output.page import overview, speed
from grader.output.page.code import Code, annotate_files, find_helpers
from grader.output.page.html import load_templates
from grader.output.page.marks import ShownMark, find_shared_mark
from grader.output.page.overview import Analysis, analyze, write_tables
from grader.output.page.parts import Part, make_parts
from grader.output.page.student import Student, summarize_student
from grader.results.result import Finding, Result, ResultError, read, write_whole
from grader.results.source import StoredSubmission, load_submission
from grader.results.view import PERFORMANCE, VisibleTest, view_as_instructor, view_as_student
from torchkata.course import course

PAGE = "report.html"
FEEDBACK = "feedback.html"

Marks: TypeAlias = Mapping[str, tuple[ShownMark, ...]]  # keyed by submission


@dataclass(frozen=True)
class Shown:
    """A submission, and the parts of its result that the reader may see."""

    result: Result
    parts: Sequence[Part]
    submission: StoredSubmission | None

    @property
    def graded(self) -> str:
        """The date of grading, or "" if unknown."""
        return self.submission.graded.astimezone().date().isoformat() if self.submission else ""

    def codes(self, findings: Sequence[Finding] = ()) -> dict[str, Code]:
        """Return the submitted files, annotated with the visible tests and these findings."""
        return annotate_files(self.submission, [test for part in self.parts for test in part.tests], findings)


class Blocks:
    """The HTML blocks of all submissions.

    Identical blocks are stored only once, because many students make the same mistakes.
    """

    def __init__(self) -> None:
        self.places: dict[Hashable, int] = {}
        self.html: list[Markup] = []

    def add_submission(self, shown: Shown, marks: tuple[ShownMark, ...] = ()) -> tuple[str, ...]:
        """Add the blocks of a submission and return their indices (see `Student.blocks`)."""
        findings, codes = tuple(shown.result.findings), shown.codes(shown.result.findings)
        places = [str(self.add("marks.html", marks=marks))] if marks else []
        places += [str(self.add("findings.html", findings=findings))] if findings else []
        places += [self.add_part(part, codes.get(part.file)) for part in shown.parts]
        if shown.result.predictions:
            places.append(str(self.add("predictions.html", predictions=tuple(shown.result.predictions))))
        helpers = tuple(find_helpers(codes))
        return (*places, *([str(self.add("helpers.html", helpers=helpers))] if helpers else []))

    def add_part(self, part: Part, code: Code | None) -> str:
        """Add a part and return its index. The code is included unless the part passed without findings."""
        place = self.add("part.html", part=part, instructor=True, code=None)
        shown = code is not None and (not part.passed or code.notes)
        return f"{place}+{self.add('code.html', code=code)}" if shown else str(place)

    def add(self, template: str, **data: Hashable) -> int:
        """Render a block from this template and data, and return its index."""
        key = (template, *data.values())
        if key not in self.places:
            self.places[key] = len(self.html)
            self.html.append(Markup(load_templates().get_template(template).render(data)))
        return self.places[key]


def write_report(directory: Path, submissions: Sequence[str], marks: Marks) -> list[str]:
    """Write `report.html` and the tables of tests. Return a line for each result that cannot be shown.

    Raises MachineError.
    """
    blocks, problems = Blocks(), list[str]()
    students = [
        summarize_student(
            one.result, one.parts, blocks.add_submission(one, marks.get(one.result.submission, ())), one.graded
        )
        for one in load_shown(directory, submissions, view_as_instructor, problems)
    ]
    found = analyze(students)
    with convert_write_errors(directory, MachineError):
        write_whole(directory / PAGE, render_report(students, blocks, found).encode())
        write_tables(found, directory)
    return problems


def write_feedback(directory: Path, submissions: Sequence[str], to: Path, marks: Marks) -> list[str]:
    """Write `TO/<submission>/feedback.html`. Return a line for each result that cannot be shown. Raises CallError."""
    problems = list[str]()
    for shown in load_shown(directory, submissions, partial(view_as_student, platform_hides=False), problems):
        folder = to / shown.result.submission
        with convert_write_errors(f"--feedback {to}"):
            folder.mkdir(parents=True, exist_ok=True)
            mark = find_shared_mark(marks, shown.result.submission)
            write_whole(folder / FEEDBACK, render_feedback(shown, mark).encode())
    return problems


def load_shown(
    directory: Path, submissions: Sequence[str], view: Callable[[Result], Sequence[VisibleTest]], problems: list[str]
) -> Iterator[Shown]:
    """Yield the results one by one, as selected by `view`. Append a line to `problems` for each unreadable result."""
    for submission in submissions:
        path = directory / submission / "result.json"
        try:
            result = read(path)
            parts = make_parts(result, view(result))
        except ResultError as error:
            problems.append(str(error))
        except ValueError as error:
            problems.append(f"{path}: {error}")
        else:
            yield Shown(result, parts, load_submission(directory, submission, result.fingerprint))


def render_report(students: Sequence[Student], blocks: Blocks, found: Analysis) -> str:
    """Return the page of a class."""
    graded = {name for one in students for name in one.cells}
    katas = [kata for name, kata in course().katas.items() if name in graded]
    days = sorted({one.graded for one in students if one.graded})
    failing = overview.find_failing(students)
    places = {each.which: place for place, each in enumerate(failing)}
    return (
        load_templates()
        .get_template("report.html")
        .render(
            students=students,
            graded=[*days[:1], *days[1:][-1:]],
            katas=katas,
            tracks=[(course().tracks[name], list(group)) for name, group in groupby(katas, attrgetter("track"))],
            timed=PERFORMANCE in graded,
            blocks=blocks.html,
            bins=overview.make_histogram(students),
            spread=overview.compute_spread(students) if students else None,
            summaries=overview.summarize_katas(students, katas),
            failing=failing,
            analysis=found,
            fails={
                one.submission: sorted(places[which] for which in one.failed if which in places) for one in students
            },
            findings=overview.group_findings(students),
            strips=speed.make_strips(students),
            roofs=[Markup(svg) for svg in speed.draw_rooflines(students)],
        )
    )


def render_feedback(shown: Shown, marks: Sequence[ShownMark] = ()) -> str:
    """Return the page of a submission, for its student."""
    codes, parts = shown.codes(), shown.parts
    return (
        load_templates()
        .get_template("feedback.html")
        .render(
            submission=shown.result.submission,
            score=sum(part.result.score for part in parts),
            max_score=sum(part.result.max_score for part in parts),
            parts=parts,
            graded=shown.graded,
            codes=codes,
            helpers=find_helpers(codes),
            predictions=shown.result.predictions,
            marks=marks,
            roofs=[Markup(svg) for svg in speed.draw_rooflines([summarize_student(shown.result, [], ())])],
        )
    )
