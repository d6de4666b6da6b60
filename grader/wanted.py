"""Which katas a command is for: `--kata`, `--track`, or what it takes when neither is given."""

from collections.abc import Sequence

from grader.errors import CallError
from torchkata.catalog import Kata, catalog


def wanted(names: Sequence[str], tracks: Sequence[str], otherwise: Sequence[str]) -> tuple[str, ...]:
    """The names of these katas and of all in these tracks, of the tracks `otherwise` for neither. Raises CallError."""
    return tuple(kata.name for kata in choose(names, tracks if names or tracks else otherwise))


def choose(names: Sequence[str], tracks: Sequence[str] = ()) -> tuple[Kata, ...]:
    """These katas and those of these tracks, all for neither. Raises CallError."""
    try:
        return tuple(catalog().choose(names, tracks))
    except ValueError as error:
        raise CallError(str(error)) from None
