"""A submission that has been read: its files, and what was left aside and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.base.text import quote

MAX_NOTES = 10  # maximum number of lines for the instructor about one submission
SHOWN = 5  # maximum number of names in a message
NOT_REGULAR = "not a regular file"  # why a link, pipe or device is left aside
LONGEST = 60  # maximum number of characters of such a name


@dataclass(frozen=True)
class LeftAside:
    """A file or folder that is not part of the submission, and the reason."""

    path: str
    why: str
    matters: bool = False  # it may contain katas, so the instructor is told

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@dataclass(frozen=True)
class Submission:
    """The id of a submission, and its files, keyed by name."""

    id: str
    files: dict[str, bytes]
    aside: tuple[LeftAside, ...] = ()
    near_misses: dict[str, str] = field(default_factory=dict)  # names that may be an unwritten kata, keyed by kata
    beside: dict[str, str] = field(default_factory=dict)  # names beside the katas that are not graded, by first word

    @property
    def judged(self) -> dict[str, bytes]:
        """The files, and everything else about the submission that a result depends on."""
        notes = [*self.near_misses.items(), *self.beside.items(), *self.list_notes()]
        return {**self.files, **({"left aside": repr(notes).encode()} if notes else {})}

    def list_notes(self) -> list[str]:
        """Return a line for each entry that was left aside and may contain katas."""
        return [str(one) for one in self.aside if one.matters][:MAX_NOTES]


def show_names(names: Sequence[str]) -> str:
    """Return the first few names for use in a message."""
    return " or ".join(quote(name, LONGEST) for name in names[:SHOWN])
