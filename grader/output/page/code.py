"""A student's source file, annotated with failed tests and findings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from grader.base.text import one_line
from grader.output.page.sections import SETTLED
from grader.results.result import Finding
from grader.results.source import StoredSubmission
from grader.results.visibility import VisibleTest, outcome_text
from torchkata.course import course
from torchkata.result import LOOKS

FINDING = "finding"


@dataclass(frozen=True)
class Note:
    """A note on a line. `mark` is `FINDING`, or the status of a kata with a test that failed at this line."""

    line: int
    mark: str
    text: str


@dataclass(frozen=True)
class CodeListing:
    """A source file with its notes."""

    file: str
    lines: tuple[str, ...]
    whole: bool
    notes: tuple[Note, ...]

    @property
    def digits(self) -> int:
        """The number of digits in the last line number."""
        return len(str(len(self.lines)))

    @property
    def noted(self) -> dict[int, list[Note]]:
        """The notes, grouped by line."""
        return {line: list(notes) for line, notes in groupby(self.notes, key=lambda note: note.line)}


def annotate_files(
    submission: StoredSubmission | None, tests: Sequence[VisibleTest], findings: Sequence[Finding] = ()
) -> dict[str, CodeListing]:
    """Return the files of a submission, keyed by name and annotated with these tests and findings."""
    found = {}
    for file, source in (submission.files if submission else {}).items():
        lines = tuple(source.lines)
        notes = note_outcomes(file, tests)
        notes += [Note(one.line, FINDING, one_line(one.text)) for one in findings if f"{one.kata}.py" == file]
        shown = sorted((note for note in notes if note.line <= len(lines)), key=lambda note: note.line)
        found[file] = CodeListing(file, lines, source.whole, tuple(shown))
    return found


def note_outcomes(file: str, tests: Iterable[VisibleTest]) -> list[Note]:
    """Return the notes on lines at which tests failed, one for each line and status."""
    found: dict[tuple[int, str], list[str]] = {}
    for test in tests:
        if test.result.file == file and test.result.line > 0:
            look = LOOKS[test.result.outcome]
            text = outcome_text(test.result.outcome)
            found.setdefault((test.result.line, look.status), []).append(
                text if test.result.outcome in SETTLED else f"{text} · {test.title}"
            )
    return [
        Note(line, status, first + (f" (+{len(others)})" if others else ""))
        for (line, status), (first, *others) in found.items()
    ]


def find_helpers(codes: dict[str, CodeListing]) -> list[CodeListing]:
    """Return the files that do not belong to a kata."""
    return [code for file, code in codes.items() if file.removesuffix(".py") not in course().katas]
