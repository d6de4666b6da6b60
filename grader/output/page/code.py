"""A student's file as a page shows it: its lines by number, and at some of them what is to be said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from grader.output.page.parts import SETTLED
from grader.results.result import Finding
from grader.results.source import HandIn
from grader.results.text import in_words, one_line
from grader.results.view import VisibleTest
from torchkata.course import course
from torchkata.result import LOOKS

FINDING = "finding"


@dataclass(frozen=True)
class Note:
    """What is to be said of a line; `mark` is the status of a kata whose test ended there, or `FINDING`."""

    line: int
    mark: str
    text: str


@dataclass(frozen=True)
class Code:
    """One file."""

    file: str
    lines: tuple[str, ...]
    whole: bool
    notes: tuple[Note, ...]

    @property
    def digits(self) -> int:
        """Of the last line's number."""
        return len(str(len(self.lines)))

    @property
    def noted(self) -> dict[int, list[Note]]:
        """The notes by line."""
        return {line: list(notes) for line, notes in groupby(self.notes, key=lambda note: note.line)}


def codes_of(hand_in: HandIn | None, tests: Sequence[VisibleTest], findings: Sequence[Finding] = ()) -> dict[str, Code]:
    """The files that were handed in, by name, with notes where these tests ended and where something was found."""
    found = {}
    for file, source in (hand_in.files if hand_in else {}).items():
        lines = tuple(source.lines)
        notes = [*ends(file, tests), *(remark(one) for one in findings if f"{one.kata}.py" == file)]
        shown = sorted((note for note in notes if note.line <= len(lines)), key=lambda note: note.line)
        found[file] = Code(file, lines, source.whole, tuple(shown))
    return found


def ends(file: str, tests: Iterable[VisibleTest]) -> list[Note]:
    """A note for each line of a file at which tests ended, and for each way in which they did."""
    found: dict[tuple[int, str], list[str]] = {}
    for test in tests:
        if test.result.file == file and test.result.line > 0:
            look = LOOKS[test.result.outcome]
            words = in_words(test.result.outcome)
            found.setdefault((test.result.line, look.status), []).append(
                words if test.result.outcome in SETTLED else f"{words} · {test.title}"
            )
    return [
        Note(line, status, first + (f" (+{len(others)})" if others else ""))
        for (line, status), (first, *others) in found.items()
    ]


def remark(finding: Finding) -> Note:
    """A finding's note."""
    return Note(finding.line, FINDING, one_line(finding.text))


def helpers(codes: dict[str, Code]) -> list[Code]:
    """The files that are no kata's."""
    return [code for file, code in codes.items() if file.removesuffix(".py") not in course().katas]
