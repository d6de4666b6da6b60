"""Reads translations from catalogues in gettext format, such as `reference/<kata>/zh.po`.

In a catalogue, `msgid` is the English text, which `make translations` copies from its source. `msgctxt` names a text of
a kata, such as `title` or `claims.test_forward`; the sentences of messages have none. A fuzzy entry is not used,
because its English text has changed since it was translated.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from torchkata.course import CourseError, course


@dataclass(frozen=True)
class Catalogue:
    """The translations in one file."""

    texts: dict[str, str] = field(default_factory=dict)  # by key; "" if there is no translation that can be used
    messages: dict[str, str] = field(default_factory=dict)  # by the English sentence


def find_catalogue(language: str, kata: str = "") -> Catalogue:
    """Return the translations of a kata, or shared ones if `kata` is "". Raises CourseError if they can't be read."""
    return Catalogue() if language == "en" else read_catalogue(course().reference / kata / f"{language}.po")


@cache
def read_catalogue(path: Path) -> Catalogue:
    """Read a catalogue. It is empty if the file or polib is missing. Raises CourseError if the file can't be read."""
    if not path.is_file():
        return Catalogue()
    try:
        import polib  # only needed for languages other than English
    except ImportError:  # after an update of a handout that did not need it
        return Catalogue()
    try:
        entries = [entry for entry in polib.pofile(str(path), encoding="utf-8") if not entry.obsolete]
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: can't be read ({error})") from None
    messages = [entry for entry in entries if entry.msgctxt is None and entry.translated()]
    return Catalogue(
        {entry.msgctxt: "" if entry.fuzzy else entry.msgstr for entry in entries if entry.msgctxt is not None},
        {entry.msgid: entry.msgstr or entry.msgstr_plural[0] for entry in messages}
        | {entry.msgid_plural: entry.msgstr_plural[0] for entry in messages if entry.msgid_plural},
    )
