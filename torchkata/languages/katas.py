"""What each kata says to a student, in the student's language."""

from ..catalog import Kata, Track
from . import found, language, translated


def title_of(kata: Kata) -> str:
    """What there is to build."""
    return translated(kata.title, ("katas", kata.name, "title"))


def title_of_track(track: Track) -> str:
    """What its katas have in common."""
    return translated(track.title, ("tracks", track.name))


def hints_of(kata: Kata) -> list[str]:
    """From gentle to plain."""
    chosen = found(language(), "katas", kata.name, "hints")
    return chosen if chosen is not None else list(kata.hints)


def about(kata: Kata) -> dict[str, str]:
    """What each name in the stub is to do; nothing in English, which the stub itself has."""
    return found(language(), "katas", kata.name, "stub") or {}


def claim_of(kata: str, test: str, english: str) -> str:
    """The sentence that a test proves; several optimizers share some of theirs."""
    return translated(english, ("katas", kata, "claims", test), ("claims", test)).removesuffix("。")
