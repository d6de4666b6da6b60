"""Which katas a command is for: `--kata`, `--track`, or what the course grades when neither is given."""

from collections.abc import Sequence

from grader.base.errors import CallError
from torchkata.course import Kata, course


def wanted(names: Sequence[str], tracks: Sequence[str]) -> tuple[str, ...]:
    """The names of these katas and of all in these tracks, of those that the course grades for neither.

    Raises CallError.
    """
    return tuple(kata.name for kata in choose(names, tracks if names or tracks else course().graded))


def choose(names: Sequence[str], tracks: Sequence[str] = ()) -> tuple[Kata, ...]:
    """These katas and those of these tracks, all for neither. Raises CallError."""
    try:
        return tuple(course().choose(names, tracks))
    except ValueError as error:
        raise CallError(str(error)) from None
