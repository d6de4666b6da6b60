"""Writes `report.html` for the instructor and `feedback.html` for each student."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from markupsafe import Markup

from grader.base.errors import MachineError, convert_write_errors
from grader.base.files import write_whole
from grader.base.text import count
from grader.marks.compute import compute_marks
from grader.marks.pseudonyms import read_key
from grader.marks.rules import Mark
from grader.marks.waive import Waive, read_waivers, waive_nothing
from grader.output.names import shorten_names
from grader.output.page import overview
from grader.output.page.code import CodeListing, annotate_files, find_helpers
from grader.output.page.html import load_templates
from grader.output.page.overview import Analysis, analyze, write_tables
from grader.output.page.sections import Part, make_parts
from grader.output.page.speed import summarize_speed
from grader.output.page.student import SubmissionSummary, summarize_student
from grader.results.load import read_each
from grader.results.result import Finding, Result
from grader.results.source import StoredSubmission, load_submission
from grader.results.visibility import PERFORMANCE, VisibleTest, view_as_instructor, view_as_student
from torchkata.course import course

PAGE = "report.html"
FEEDBACK = "feedback.html"
ROWS = 500  # number of rows that are drawn at once in a browser
MOST_ON_PAGE = 2000  # maximum number of submissions whose details are on the page of the class
PIECES = 1000  # number of short texts of the class page that are written at once


@dataclass(frozen=True)
class ShownMark:
    """A mark. `who` is the name of the person if the submission is shared and the page may show names."""

    who: str
    mark: Mark
    max_score: float | None


Marks: TypeAlias = Mapping[str, tuple[ShownMark, ...]]  # keyed by submission


@dataclass(frozen=True)
class ClassFolder:
    """What the folder of the class adds to the pages, apart from marks."""

    names: Mapping[str, str] = field(default_factory=dict)  # names of people, keyed by submission
    missing: tuple[str, ...] = ()  # people without a submission
    waive: Waive = waive_nothing


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

    def codes(self, findings: Sequence[Finding] = ()) -> dict[str, CodeListing]:
        """Return the submitted files, annotated with the visible tests and these findings."""
        return annotate_files(self.submission, [test for part in self.parts for test in part.tests], findings)


def write_report(
    directory: Path, submissions: Sequence[str], marks: Marks, people: ClassFolder = ClassFolder()
) -> list[str]:
    """Write `report.html` and the tables of tests. Return a line for each result that cannot be shown.

    The page of a large class has links to `<submission>/report.html`, which are written as well. Submissions are read
    and written one by one, so that memory does not grow with their details. Raises MachineError if a file can't be
    written.
    """
    problems, students = list[str](), list[SubmissionSummary]()
    linked = len(submissions) > MOST_ON_PAGE
    names = shorten_names(submissions, people.names)
    with (
        convert_write_errors(directory, MachineError),
        tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=directory) as details,
    ):
        for shown in load_shown(directory, submissions, view_as_instructor, problems, people.waive):
            name = shown.result.submission
            student = summarize_student(shown.result, shown.parts, shown.graded)
            if linked:
                page = render_feedback(shown, marks.get(name, ()), names[name], instructor=True)
                write_whole(directory / name / PAGE, page.encode())
            else:
                html = render_submission(shown, marks.get(name, ()))
                details.write(f'<template id="details-{len(students)}">{html}</template>\n')
            students.append(student)
        details.seek(0)
        found = analyze(students)
        report = render_report(students, map(Markup, details), found, names, marks, people.missing, linked=linked)
        write_whole(directory / PAGE, map(str.encode, report))
        write_tables(found, directory)
    return problems


def write_feedback(
    directory: Path, submissions: Sequence[str], to: Path, marks: Marks, people: ClassFolder = ClassFolder()
) -> None:
    """Write `TO/<submission>/feedback.html`. Raises CallError if a page can't be written.

    A result that cannot be shown has no page. `write_report` returns a line about it.
    """
    names = shorten_names(submissions, people.names)
    view = partial(view_as_student, platform_hides=False)
    for shown in load_shown(directory, submissions, view, [], people.waive):
        folder = to / shown.result.submission
        with convert_write_errors(f"--out {to}"):
            folder.mkdir(parents=True, exist_ok=True)
            mark = find_shared_mark(marks, shown.result.submission)
            write_whole(folder / FEEDBACK, render_feedback(shown, mark, names[shown.result.submission]).encode())


def read_marks(directory: Path, folder: Path) -> tuple[Marks, ClassFolder, list[str], list[str]]:
    """Return the marks, keyed by stored submission, the people, and the problems and warnings of `ClassMarks`.

    Raises CallError if there are no results, or if a file of the class is invalid.
    """
    marks = compute_marks(directory, folder, accept=True)
    rows = marks.rows
    key = read_key(folder / "pseudonyms.json")
    pseudonyms = {submission: pseudonym for pseudonym, submission in key.items()}
    sizes = Counter(row.submission for row in rows)
    found: dict[str, tuple[ShownMark, ...]] = {}
    for row in rows:
        if row.submission:
            name = pseudonyms.get(row.submission, row.submission)
            who = row.person.id if sizes[row.submission] > 1 and not key else ""
            found[name] = (*found.get(name, ()), ShownMark(who, row.mark, row.out_of))
    alone = [row for row in rows if row.person.name and sizes[row.submission] == 1 and not key]
    missing = tuple(row.person.name or row.person.id for row in rows if not row.submission)
    names = {row.submission: row.person.name for row in alone}
    return found, ClassFolder(names, missing, read_waivers(folder)), marks.problems, marks.warnings


def list_late(marks: Marks) -> Iterator[tuple[str, str]]:
    """Yield each late submission, with a text for the instructor."""
    for submission, shown in marks.items():
        days = max(one.mark.days_late for one in shown)
        if days or any(one.mark.final is None for one in shown):
            yield submission, f"{count(days, 'day')} late" if days else "late; the time of submission is not known"


def find_shared_mark(marks: Mapping[str, Sequence[ShownMark]], submission: str) -> tuple[ShownMark, ...]:
    """Return the mark that all members of a group may see.

    If their marks differ, return an empty tuple, because the reasons for a person's mark are private.
    """
    found = marks.get(submission, ())
    return (ShownMark("", found[0].mark, found[0].max_score),) if len({one.mark for one in found}) == 1 else ()


def load_shown(
    directory: Path,
    submissions: Sequence[str],
    view: Callable[[Result], Sequence[VisibleTest]],
    problems: list[str],
    waive: Waive,
) -> Iterator[Shown]:
    """Yield the results one by one, as selected by `view`. Append a line to `problems` for each unreadable result."""

    def show(stored: Result) -> Shown:
        result = waive(stored)
        parts = make_parts(result, view(result))
        return Shown(result, parts, load_submission(directory, result.submission, result.hand_in))

    return (shown for _, shown in read_each(directory, show, problems, submissions))


def render_report(
    students: Sequence[SubmissionSummary],
    details: Iterable[Markup],
    found: Analysis,
    names: Mapping[str, str],
    marks: Marks,
    missing: Sequence[str],
    *,
    linked: bool,
) -> Iterator[str]:
    """Yield the HTML of the class page piece by piece.

    `details` is the HTML of all submissions. It is empty if `linked`, which means that submissions have own pages.
    """
    graded = {name for one in students for name in one.cells}
    katas = [kata for name, kata in course().katas.items() if name in graded]
    days = sorted({one.graded for one in students if one.graded})
    failing = overview.find_failing(students)
    places = {each.which: place for place, each in enumerate(failing)}
    page = (
        load_templates()
        .get_template("report.html")
        .stream(
            students=students,
            graded=[*days[:1], *days[1:][-1:]],
            katas=katas,
            tracks=[(course().tracks[name], list(group)) for name, group in groupby(katas, attrgetter("track"))],
            timed=PERFORMANCE in graded,
            rows=ROWS,
            details=details,
            linked=linked,
            names=names,
            marks=marks,
            late=dict(list_late(marks)),
            missing=missing,
            bins=overview.make_histogram(students),
            spread=overview.compute_spread(students) if students else None,
            summaries=overview.summarize_katas(students, katas),
            failing=failing,
            analysis=found,
            fails={
                one.result.submission: sorted(places[which] for which in one.failed if which in places)
                for one in students
            },
            findings=overview.group_findings(students),
            faults=overview.describe_faults(students),
            speeds=summarize_speed(students),
        )
    )
    page.enable_buffering(PIECES)
    return page


def render_feedback(shown: Shown, marks: Sequence[ShownMark] = (), name: str = "", *, instructor: bool = False) -> str:
    """Return the page of a submission, for its student or for the instructor."""
    student = summarize_student(shown.result, [])
    return (
        load_templates()
        .get_template("feedback.html")
        .render(
            collect_details(shown, marks, instructor=instructor),
            submission=name or shown.result.submission,
            score=sum(part.result.score for part in shown.parts),
            max_score=sum(part.result.max_score for part in shown.parts),
            graded=shown.graded,
            how=student.how,
        )
    )


def render_submission(shown: Shown, marks: Sequence[ShownMark]) -> str:
    """Return the details of a submission for the page of the class."""
    details = collect_details(shown, marks, instructor=True)
    return load_templates().get_template("submission.html").render(details, anchored=False)


def collect_details(shown: Shown, marks: Sequence[ShownMark], *, instructor: bool) -> dict[str, Any]:
    """Return the values for `submission.html`. Only the instructor sees findings.

    To keep the page of a class small, the instructor sees no code of katas that are done, unless it has findings.
    """
    findings = shown.result.findings if instructor else []
    codes = shown.codes(findings)
    left_out = {part.file for part in shown.parts if instructor and part.passed}
    return {
        "instructor": instructor,
        "marks": marks,
        "near_misses": shown.result.near_misses,
        "findings": findings,
        "parts": shown.parts,
        "codes": {file: code for file, code in codes.items() if file not in left_out or code.notes},
        "helpers": find_helpers(codes),
    }
