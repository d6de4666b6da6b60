"""Translates notes (remarks that tests make about results) into the student's language.

Notes are English sentences that contain values, such as `"gradient of weight 0"`. Their translations are the `note`
entries of all catalogues. A name in braces stands for a value: "gradient of {name}" is translated as "{name} 的梯度".
"""

import re
import string
from functools import cache
from pathlib import Path

from torchkata.course import CourseError, course

from . import Language, engine_catalogue, language
from .catalogues import find_catalogue


def translate(english: str, *, by_us: bool = True) -> str:
    """Translate a sentence and the values in it. A sentence without a translation is returned unchanged.

    Use `by_us=False` for messages that may come from the student's code. Only the engine's notes are used for them.
    """
    try:
        notes = read_notes(language(), course_root() if by_us else None)
    except CourseError:  # a catalogue can't be read, which may be the message itself
        return english
    for pattern, translation in notes:
        if found := pattern.fullmatch(english):
            values = {name: translate(value, by_us=by_us) for name, value in found.groupdict().items()}
            return translation.format(**values)
    return english


def course_root() -> Path | None:
    """Return the root of the course, or None if there is no valid course."""
    try:
        return course().root if course().katas else None
    except CourseError:
        return None


@cache
def read_notes(chosen: Language, where: Path | None) -> list[tuple[re.Pattern[str], str]]:
    """Return a pattern and a translation for each note in a language, most specific first."""
    table = {**engine_catalogue(chosen).notes}
    for kata in ("", *course().katas) if where is not None else ():
        table |= find_catalogue(chosen, kata).notes
    ordered = sorted(table, key=lambda english: (-len("".join(split_literals(english))), english))
    return [(compile_pattern(english), table[english]) for english in ordered]


def split_literals(english: str) -> list[str]:
    """Return the constant parts of a note, between its values."""
    return [text for text, *_ in string.Formatter().parse(english)]


def compile_pattern(english: str) -> re.Pattern[str]:
    """Compile a pattern that matches the note with arbitrary values."""
    parts = [
        re.escape(text) + (f"(?P<{name}>.*?)" if name else "") for text, name, *_ in string.Formatter().parse(english)
    ]
    return re.compile("".join(parts), re.DOTALL)
