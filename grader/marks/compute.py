"""Everybody's mark: the stored results of a class, and the rules of its instructor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from grader.base.errors import CallError
from grader.marks.roster import Person, match
from grader.marks.rulebook import Rulebook, read_rulebook
from grader.marks.rules import Mark, Override, Points, mark, now
from grader.results.load import demand_results, stored_in
from grader.results.result import Result, ResultError, read


@dataclass(frozen=True)
class Row:
    """Somebody in the class, and what they get."""

    person: Person
    submission: str
    max_score: float | None
    mark: Mark


@dataclass(frozen=True)
class Stored:
    """What is needed of a result: without messages, so that a large class stays small in memory."""

    points: Points
    max_score: float
    unreadable: bool
    conclusive: bool
    handed_in: datetime | None  # by what its own commits say


def marks_of(directory: Path, folder: Path) -> tuple[list[Row], list[str]]:
    """A row for each in the class list, and a line for whatever is to be settled by hand. Raises CallError."""
    demand_results(directory)
    book = read_rulebook(folder)
    results, problems = results_in(directory, book.names)
    committed = {name: one.handed_in for name, one in results.items() if one.handed_in}
    book = replace(book, times={**committed, **book.times})
    matching = match(book.people, sorted(results), book.submitters)
    rows = list(marked(book, matching.submissions, results))
    return rows, [*problems, *matching.problems, *settled_by_hand(rows, book, results)]


def results_in(directory: Path, names: Mapping[str, str]) -> tuple[dict[str, Stored], list[str]]:
    """By submission, whatever pseudonym it was graded under, and a line for each that can't be read."""
    found: dict[str, Stored] = {}
    problems: list[str] = []
    for submission, path in stored_in(directory).items():
        try:
            found[names.get(submission, submission)] = stored(read(path))
        except ResultError as error:
            problems.append(str(error))
    return found, problems


def marked(book: Rulebook, submissions: Mapping[str, str], results: Mapping[str, Stored]) -> Iterator[Row]:
    """Everybody in the class list, in its order. Raises CallError for an override of what is not graded."""
    for person in book.people:
        submission = submissions.get(person.id, "")
        result = results.get(submission)
        overrides = book.overrides.get(person.id, ())
        points = result.points if result else None
        for one in overrides:
            if points and one.kata and one.kata not in points.katas:
                raise CallError(f"overrides.csv: {person.id} has no kata {one.kata} among the results")
            if points and one.test and (one.kata, one.test) not in points.tests:
                raise CallError(f"overrides.csv: {person.id} has no test {one.test} in {one.kata}")
        extension = book.extensions.get(person.id)
        got = mark(points, book.times.get(submission), book.policy, book.zone, extension, overrides)
        yield Row(person, submission, result.max_score if result else None, got)


def stored(result: Result) -> Stored:
    """What was graded, by kata and test."""
    katas = {kata.kata: kata.score for kata in result.katas}
    tests = {(kata.kata, test.name): test.score for kata in result.katas for test in kata.tests}
    points = Points(result.score, katas, tests)
    committed = datetime.fromisoformat(result.handed_in) if result.handed_in else None
    return Stored(points, result.max_score, bool(result.unreadable), result.conclusive, committed)


def settled_by_hand(rows: Sequence[Row], book: Rulebook, results: Mapping[str, Stored]) -> Iterator[str]:
    """A line for each time that is not known, and for each override that changes nothing any more."""
    for row in rows:
        result = results.get(row.submission)
        if result and result.unreadable:
            yield f"{row.submission}: could not be read when it was graded"
        if result and not result.conclusive:
            yield f"{row.submission}: not all of it could be graded; grade it again"
        if row.submission and book.policy.due and row.submission not in book.times:
            yield f"{row.submission}: its time is not known (times.csv), so it counts as handed in on time"
        for one in book.overrides.get(row.person.id, ()):
            points = result.points if result else None
            if points and one.points == (now(points, one) if one.kata else points.score - row.mark.late):
                yield f"{told(row.person, one)} anyway; the row is not needed"


def overtaken(folder: Path, before: Mapping[str, Stored], after: Mapping[str, Stored]) -> list[str]:
    """A line for each override whose points a regrade has reached or gone past. Raises CallError."""
    book = read_rulebook(folder)
    submissions = match(book.people, sorted(after), book.submitters).submissions
    found = []
    for person in book.people:
        old, new = (results.get(submissions.get(person.id, "")) for results in (before, after))
        if old is None or new is None:
            continue
        for one in book.overrides.get(person.id, ()):
            was, graded = graded_with(old, one), graded_with(new, one)
            if one.points != was and min(was, graded) <= one.points <= max(was, graded):
                found.append(f"{told(person, one)}, which was graded {was:g} and is {graded:g} now; is it needed?")
    return found


def told(person: Person, one: Override) -> str:
    """Which row of the file it is."""
    return f"overrides.csv: {person.id} has {one.points:g} for {one.target}"


def graded_with(result: Stored, one: Override) -> float:
    """The points that an override is about."""
    return now(result.points, one) if one.kata else result.points.score


def by_result(rows: Sequence[Row], names: Mapping[str, str]) -> dict[str, tuple[Row, ...]]:
    """The rows of each stored result, which may bear a pseudonym."""
    shown = {submission: pseudonym for pseudonym, submission in names.items()}
    found: dict[str, tuple[Row, ...]] = {}
    for row in rows:
        if row.submission:
            name = shown.get(row.submission, row.submission)
            found[name] = (*found.get(name, ()), row)
    return found
