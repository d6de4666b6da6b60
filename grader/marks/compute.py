"""Computes the marks of a class from stored results and the instructor's rules."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import CallError
from grader.base.text import condense, one_line
from grader.marks.roster import Matching, Person, is_named_late, match_submissions
from grader.marks.rulebook import Rulebook, read_rulebook
from grader.marks.rules import Mark, Override, Points, Policy, compute_mark, graded_points
from grader.results.faults import Fault, demand_settled, describe_open, describe_waived, list_faults
from grader.results.load import demand_results, read_all, share
from grader.results.result import Result
from torchkata.i18n import translate_for_class as _


@dataclass(frozen=True)
class PersonMark:
    """A person in the class and their mark."""

    person: Person
    submission: str
    max_score: float | None
    mark: Mark
    out_of: float | None = None  # the maximum of the mark


@dataclass(frozen=True)
class ClassMarks:
    """The marks of a class, and lines: for each problem to resolve by hand, each unknown time, and each remark."""

    rows: list[PersonMark]
    problems: list[str]
    warnings: list[str]
    notes: list[str]


@dataclass(frozen=True)
class MarkedResult:
    """The values of a result that affect marks. To save memory, messages are omitted."""

    points: Points
    max_score: float
    unreadable: bool
    faults: tuple[Fault, ...]


def compute_marks(directory: Path, folder: Path, *, accept: bool = False) -> ClassMarks:
    """Return a row for each person in the class.

    Raises CallError if there are no results, if a file of the class is invalid, or if a test could not be graded and
    the instructor does not `accept` that it earns no points.
    """
    demand_results(directory)
    book = read_rulebook(folder)
    results, problems = read_graded(directory, book)
    faults = {name: graded.faults for name, graded in results.items()}
    demand_settled(faults, accept=accept)
    matching = match_results(book, results)
    rows = list(compute_rows(book, matching.submissions, results))
    problems = condense([*problems, *matching.problems, *find_problems(rows, book, results)])
    warnings = condense([*find_untimed(rows, book, results, late=False)])
    return ClassMarks(rows, problems, warnings, [*describe_waived(faults), *describe_open(faults)])


def read_graded(directory: Path, book: Rulebook) -> tuple[dict[str, MarkedResult], list[str]]:
    """Return the results, keyed by real name, and a line for each unreadable result.

    Only the points of tests with an override are kept, so that a large class fits in memory.
    """
    tests = {(override.kata, override.test) for overrides in book.overrides.values() for override in overrides}
    found, problems = read_all(directory, lambda result: summarize(book.waive(result), tests, book.policy))
    return {book.names.get(submission, submission): graded for submission, graded in found.items()}, problems


def summarize(result: Result, tests: Collection[tuple[str, str]], policy: Policy) -> MarkedResult:
    """Return the points of a result in total, per kata and for these tests."""
    undone = [kata.kata for kata in result.katas if kata.score and kata.status != "done"] if policy.only_done else []
    katas = {share(kata.kata): share(0.0 if kata.kata in undone else kata.score) for kata in result.katas}
    scores = {
        (kata.kata, test.name): 0.0 if kata.kata in undone else test.score
        for kata in (result.katas if tests else ())
        for test in kata.tests
        if (kata.kata, test.name) in tests
    }
    faults = tuple(map(share, list_faults(result)))
    waived = ", ".join(fault.test for fault in faults if fault.kind == "waived")
    remarks = [_("waived, with full points: {tests}", tests=waived)] if waived else []
    remarks += [_("without points, because it is not done: {katas}", katas=", ".join(undone))] if undone else []
    if result.unreadable:
        remark = _(
            "these are the points of an earlier submission; the last one can't be read: {why}"
            if result.katas
            else "not graded, because the submission can't be read: {why}",
            why=one_line(result.unreadable),
        )
        remarks.append(remark)
    score = result.score - sum(kata.score for kata in result.katas if kata.kata in undone)
    late = result.late_by_platform or is_named_late(result.submission)
    points = Points(score, katas, scores, result.max_score, tuple(map(share, remarks)), late)
    return MarkedResult(points, result.max_score, bool(result.unreadable), faults)


def match_results(book: Rulebook, results: Mapping[str, MarkedResult]) -> Matching:
    """Match the results to the people of the class."""
    unreadable = {name for name, graded in results.items() if graded.unreadable}
    return match_submissions(book.people, sorted(results), book.submitters, unreadable)


def compute_rows(
    book: Rulebook, submissions: Mapping[str, str], results: Mapping[str, MarkedResult]
) -> Iterator[PersonMark]:
    """Yield a row for each person. Raises CallError if an override is for a kata or test that was not graded."""
    for person in book.people:
        submission = submissions.get(person.id, "")
        result = results.get(submission)
        overrides = book.overrides.get(person.id, ())
        points = result.points if result else None
        for override in overrides:
            if points and override.kata and override.kata not in points.katas:
                raise CallError(f"overrides.csv: {person.id} has no result for the kata {override.kata}")
            if points and override.test and (override.kata, override.test) not in points.tests:
                raise CallError(f"overrides.csv: {person.id} has no test {override.test} in {override.kata}")
        extension = book.extensions.get(person.id)
        time = book.find_time(submission, person)
        mark = compute_mark(points, time, book.policy, book.zone, extension, overrides)
        most = result.max_score if result else None
        yield PersonMark(person, submission, most, mark, most and (book.policy.out_of or most))


def find_problems(rows: Sequence[PersonMark], book: Rulebook, results: Mapping[str, MarkedResult]) -> Iterator[str]:
    """Yield a line for each unreadable submission, each late one of unknown time, and each override without effect."""
    yield from find_untimed(rows, book, results, late=True)
    for row in rows:
        result = results.get(row.submission)
        if result and result.unreadable:
            yield f"{row.submission}: could not be read when it was graded"
        for override in book.overrides.get(row.person.id, ()):
            late, scale = (0.0, 1.0) if override.kata else (row.mark.late, (row.out_of or 1.0) / (row.max_score or 1.0))
            if result and override.points == (graded_points(result.points, override) - late) * scale:
                yield f"{describe(row.person, override)}, which they would have anyway; delete the row"


def find_untimed(
    rows: Sequence[PersonMark], book: Rulebook, results: Mapping[str, MarkedResult], *, late: bool
) -> Iterator[str]:
    """Yield a line for each submission of unknown time that the platform has marked as late, or for each other one."""
    what = "late by Canvas, so there is no mark yet; enter the time in times.csv"
    what = what if late else "submission time unknown, counted as on time; add it to times.csv"
    for row in rows if book.policy.due else ():
        result = results.get(row.submission)
        if result and result.points.late_by_platform == late and book.find_time(row.submission, row.person) is None:
            yield f"{row.submission}: {what}"


def describe(person: Person, override: Override) -> str:
    """Return a description of an override that identifies its row in overrides.csv."""
    return f"overrides.csv: {person.id} has {override.points:g} for {override.target}"
