"""Texts for students in English or Chinese. The language is set by KATA_LANG, or else by the locale or the course.

The English texts of the course are in its source files: claims are the docstrings of tests, titles and hints are in
`kata.toml`, and diagnoses are defined together with the mistakes. The engine's own English texts are in `en.toml`.

Translations are in gettext catalogues: `reference/<kata>/<language>.po`, `reference/<language>.po` for texts that are
defined outside the folders of katas, and `zh.po` for the engine's texts. A text without a translation is shown in
English.

Results and feedback must not depend on the reader. Therefore, they are written in the language of the class, which is
the first of the course's `languages`.
"""

import locale
import os
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from torchkata.course import CourseError, course

from .catalogues import Catalogue, find_catalogue, read_catalogue

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


def words(key: str, **values: object) -> str:
    """Return the text for a key in the student's language, formatted with these values."""
    return texts(language())[key].format(**values)


def class_words(key: str, **values: object) -> str:
    """Return the text for a key in the language of the class, formatted with these values."""
    return texts(class_language())[key].format(**values)


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
    texts(language())
    for kata in ("", *course().katas):
        find_catalogue(language(), kata)


@cache
def texts(chosen: Language) -> Mapping[str, str]:
    """Return the texts of the engine in a language, by key."""
    english: dict[str, str] = tomllib.loads(Path(__file__).with_name("en.toml").read_text("utf-8"))["words"]
    translated = engine_catalogue(chosen).texts
    return {key: first_translation(text, translated.get(key, "")) for key, text in english.items()}


def engine_catalogue(chosen: Language) -> Catalogue:
    """Return the translations of the engine's texts into a language."""
    return read_catalogue(Path(__file__).with_name(f"{chosen}.po"))


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
    if count_columns(line) <= width or line.lstrip().startswith(words("label.again")):
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
