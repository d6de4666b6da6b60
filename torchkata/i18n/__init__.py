"""What a student reads, in English or Chinese: `KATA_LANG` says which, else the locale does, else the course.

English texts stand where they belong: a claim above its test, titles and hints in `kata.toml`, a diagnosis beside its
mistake, what a stub asks for in the stub. Other languages have all of them in `reference/<kata>/<language>.toml`, and
in `reference/<language>.toml` what several katas share. The words around them are the engine's: `en.toml` and
`zh.toml`.

What is the same for all, as results and feedback, is in the class's language: the first of the course's `languages`.
"""

import locale
import os
import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from torchkata.course import CourseError, course

Language: TypeAlias = Literal["en", "zh"]

LANGUAGES: tuple[Language, ...] = get_args(Language)
VARIABLES = ("KATA_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
LABEL_COLUMNS = 9
LABEL = re.compile(r" {12}| {2}\S.{0,8}? {2,}")  # with the spaces up to what it is the label of
WORD = re.compile(r" *(?:[\u2e80-\u9fff\uff00-\uffef][，。；：、）？！]*|[^ \u2e80-\u9fff\uff00-\uffef]+)")


def language() -> Language:
    """The first of these variables that is set decides, then what the platform says; the class's for any other."""
    asked = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None) or locale.getlocale()[0] or ""
    if asked.lower().startswith(("zh", "chinese")):
        return "zh"
    return "en" if asked.lower().startswith("en") else class_language()


def class_language() -> Language:
    """The first language of the course, English where there is no course, and for one without words of the engine."""
    try:
        return next((one for one in LANGUAGES if one == course().languages[0]), "en")
    except CourseError:
        return "en"


def words(key: str, **values: object) -> str:
    """The words of a key, with these values in it."""
    text: str = texts(language())["words"][key]
    return text.format(**values)


def to_the_class(key: str, **values: object) -> str:
    """The words of a key in the class's language, whoever reads: for what is the same wherever it is made."""
    text: str = texts(class_language())["words"][key]
    return text.format(**values)


def translated(english: str, *texts: Any) -> str:
    """An English text, or the first of these that there is in the student's language."""
    return next((text for text in texts if text), english)


def said_of(kata: str, *path: str, chosen: Language | None = None) -> Any:
    """What stands at this path for a kata, or for all that share it, in a language; None for nothing.

    It is the student's unless given.
    """
    own = course().katas[kata].languages.get(chosen or language())
    return at(own, path) or shared(*path, chosen=chosen)


def shared(*path: str, chosen: Language | None = None) -> Any:
    """What stands at this path of the texts that katas share, in a language; None for nothing."""
    return at(course().shared_texts.get(chosen or language()), path)


def at(table: Any, path: tuple[str, ...]) -> Any:
    """What a table of tables holds at this path, None for nothing."""
    for name in path:
        table = table.get(name) if isinstance(table, dict) else None
    return table


def read_ahead() -> None:
    """Read what any message is made of, once for all processes that are forked from now on."""
    texts(language())
    shared()


@cache
def texts(chosen: Language) -> dict[str, Any]:
    """The engine's own words in a language."""
    return tomllib.loads(Path(__file__).with_name(f"{chosen}.toml").read_text("utf-8"))


def columns(text: str) -> int:
    """How wide a terminal shows it: a Chinese character takes two columns."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def padded(text: str, width: int) -> str:
    """The text, and spaces up to so many columns."""
    return text + " " * (width - columns(text))


def labelled(label: str, text: str) -> str:
    """A line of a message: its label in two columns of space and nine of its own, then the text."""
    return f"  {padded(label, LABEL_COLUMNS)} {text}"


def parted(line: str) -> tuple[str, str] | None:
    """The label and the text of such a line, the label empty where it goes on with what is above; None for another."""
    width = LABEL_COLUMNS + 3
    place = next((place for place in range(width + 1) if columns(line[:place]) == width), 0)
    label, text = line[:place], line[place:]
    return (label.strip(), text) if label.startswith("  ") and label.endswith(" ") else None


def wrapped(line: str, width: int, hanging: int = 4) -> list[str]:
    """A line of a message broken between words; what follows the first break begins where its text does.

    Without a label that is at column `hanging`. A command stays whole: it is there to be copied.
    """
    if columns(line) <= width or line.lstrip().startswith(words("label.again")):
        return [line]
    label = LABEL.match(line)
    indent = " " * (columns(label[0]) if label else hanging)
    lines = [""]
    for word in WORD.findall(line):
        if columns(lines[-1] + word) > width and lines[-1].strip():
            lines.append(indent + word.lstrip())
        else:
            lines[-1] += word
    return lines
