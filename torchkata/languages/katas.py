"""What each kata says to a student, in the student's language."""

from ..course import Kata, Track
from . import said_of, shared, translated


def title_of(kata: Kata) -> str:
    """What there is to build."""
    return translated(kata.title, said_of(kata.name, "title"))


def title_of_track(track: Track) -> str:
    """What its katas have in common."""
    return translated(track.title, shared("tracks", track.name))


def hints_of(kata: Kata) -> list[str]:
    """From gentle to plain."""
    return said_of(kata.name, "hints") or list(kata.hints)


def about(kata: Kata) -> dict[str, str]:
    """What each name in the stub is to do; nothing in English, which the stub itself has."""
    return said_of(kata.name, "stub") or {}


def texts_of_command(kata: Kata) -> dict[str, str]:
    """What the command that it brings says, by key."""
    return kata.command | (said_of(kata.name, "command") or {})


def claim_of(kata: str, test: str, english: str) -> str:
    """The sentence that a test proves; several optimizers share some of theirs."""
    return translated(english, said_of(kata, "claims", test)).removesuffix("。")
