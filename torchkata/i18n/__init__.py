"""Texts for students in English or Chinese. The language is set by KATA_LANG, or else by the locale or the course.

The English texts are where they are used: the sentences of messages in the calls of `_` and `Text`, claims in the
docstrings of tests, titles and hints in `kata.toml`, and diagnoses next to the mistakes.

Translations are in gettext catalogues: `reference/<kata>/<language>.po`, `reference/<language>.po` for texts that are
defined outside the folders of katas, and `zh.po` for the engine's texts. A text without a translation is shown in
English.

Results and feedback must not depend on the reader. Therefore, they are written in the language of the class, which is
the first of the course's `languages`.
"""

import locale
import os
import re
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from torchkata.course import CourseError, course
from torchkata.inside.text import Message, Text, fill

from .catalogues import find_catalogue, read_catalogue

Language: TypeAlias = Literal["en", "zh"]

LANGUAGES: tuple[Language, ...] = get_args(Language)
VARIABLES = ("KATA_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
LABEL_COLUMNS = 9
LABEL = re.compile(r" {12}| {2}\S.{0,8}? {2,}")  # a label and the spaces before its text
WORD = re.compile(r" *(?:[\u2e80-\u9fff\uff00-\uffef][，。；：、）？！]*|[^ \u2e80-\u9fff\uff00-\uffef]+)")


def language() -> Language:
    """Return the student's language, given by a variable in `VARIABLES`, by the locale, or else by the class."""
    name = next((os.environ[key] for key in VARIABLES if os.environ.get(key)), None) or locale.getlocale()[0] or ""
    if name.lower().startswith(("zh", "chinese")):
        return "zh"
    return "en" if name.lower().startswith("en") else class_language()


def class_language() -> Language:
    """Return the first language of the course, or English if the engine does not support it or there is no course."""
    try:
        return next((known for known in LANGUAGES if known == course().languages[0]), "en")
    except CourseError:
        return "en"


def _(english: str, /, **values: object) -> str:
    """Return a sentence in the student's language, with these values in place of its `{names}`."""
    return translate(Text(english, **values))


def translate_for_class(english: str, /, **values: object) -> str:
    """Return a sentence in the language of the class, with these values in place of its `{names}`."""
    return translate(Text(english, **values), class_language())


def ngettext(one: str, several: str, number: int, /) -> str:
    """Return the English singular or plural, which are a single entry in a catalogue."""
    return one if number == 1 else several


def translate(message: Message | Exception, chosen: Language | None = None) -> str:
    """Return a `Text`, or an exception with one, in a language (default: the student's).

    A string remains as it is, because it may be the student's.
    """
    if isinstance(message, Exception):
        message = next((one for one in message.args if isinstance(one, Text)), str(message))
    if isinstance(message, str):
        return message
    into = chosen or language()
    values = {name: translate(one, into) if isinstance(one, Text) else one for name, one in message.values.items()}
    return fill(find_message(message.english, into), values)


def find_message(english: str, chosen: Language) -> str:
    """Return the translation of a sentence of the engine or of the course, or the English sentence if it has none."""
    if chosen == "en":
        return english
    if english in (engine := read_catalogue(Path(__file__).with_name(f"{chosen}.po")).messages):
        return engine[english]
    with suppress(CourseError):  # a catalogue can't be read, which may be the message itself
        catalogues = (find_catalogue(chosen, kata) for kata in ("", *course().katas))
        return next((each.messages[english] for each in catalogues if english in each.messages), english)
    return english


def first_translation(english: str, *texts: str) -> str:
    """Return the first of these translations that is not empty, or the English text if all are empty."""
    return next((text for text in texts if text), english)


def find_text(kata: str, key: str, chosen: str | None = None) -> str:
    """Return a translated text of a kata. If the kata has no such text, return the shared translation, or "".

    By default, the student's language is used.
    """
    own = find_catalogue(chosen or language(), kata).texts
    return own[key] if key in own else find_shared_text(key, chosen)


def find_shared_text(key: str, chosen: str | None = None) -> str:
    """Return a translated text that is shared by all katas, or "" if it is not translated."""
    return find_catalogue(chosen or language()).texts.get(key, "")


def find_texts(kata: str, group: str, chosen: str | None = None) -> dict[str, str]:
    """Return a kata's translated texts in a group such as `stub`, without the prefix: `stub.SGD` becomes `SGD`."""
    found = find_catalogue(chosen or language(), kata).texts
    return {key.removeprefix(f"{group}."): text for key, text in found.items() if text and key.startswith(f"{group}.")}


def preload_texts() -> None:
    """Read the texts now, so that processes that are forked later do not have to read them."""
    find_message("", language())


def count_columns(text: str) -> int:
    """Return the width of a text in a terminal. Chinese characters take up two columns."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def pad(text: str, width: int) -> str:
    """Pad a text with spaces to this many columns."""
    return text + " " * (width - count_columns(text))


def format_label(label: str, text: str) -> str:
    """Return a line of a message: two spaces, the label (padded to nine columns), and the text."""
    return f"  {pad(label, LABEL_COLUMNS)} {text}"


def split_label(line: str) -> tuple[str, str] | None:
    """Return the label and text of a line, or None if the line has no label column.

    The label is empty if the line is a continuation of the previous line.
    """
    width = LABEL_COLUMNS + 3
    place = next((place for place in range(width + 1) if count_columns(line[:place]) == width), 0)
    label, text = line[:place], line[place:]
    return (label.strip(), text) if label.startswith("  ") and label.endswith(" ") else None


def wrap(line: str, width: int, hanging: int = 4) -> list[str]:
    """Wrap a line of a message, aligning continuation lines with its text.

    If there is no label, they are indented by `hanging` columns. Commands are not wrapped, so that they can be copied.
    """
    if count_columns(line) <= width or line.lstrip().startswith(_("again: ")):
        return [line]
    label = LABEL.match(line)
    indent = " " * (count_columns(label[0]) if label else hanging)
    lines = [""]
    for word in WORD.findall(line):
        if count_columns(lines[-1] + word) > width and lines[-1].strip():
            lines.append(indent + word.lstrip())
        else:
            lines[-1] += word
    return lines
