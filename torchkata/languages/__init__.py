"""What a student reads, in English or Chinese: `KATA_LANG` says which, else the locale does.

English texts stand where they belong: a claim above its test, titles and hints in `catalog.toml`, a diagnosis beside
its misconception, what a stub asks for in the stub; the words around them are in `en.toml`. `zh.toml` has all of them.
"""

import locale
import os
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

Language: TypeAlias = Literal["en", "zh"]

LANGUAGES: tuple[Language, ...] = get_args(Language)
VARIABLES = ("KATA_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


def language() -> Language:
    """The first of these variables that is set decides, then what the platform says; English for any other."""
    asked = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None) or locale.getlocale()[0] or ""
    return "zh" if asked.lower().startswith(("zh", "chinese")) else "en"


def words(key: str, **values: object) -> str:
    """The words of a key, with these values in it."""
    text: str = texts(language())["words"][key]
    return text.format(**values)


def translated(english: str, *paths: tuple[str, ...]) -> str:
    """An English text, or what stands in the student's language at the first of these paths where something does."""
    chosen = language()
    return english if chosen == "en" else next((text for path in paths if (text := found(chosen, *path))), english)


def found(chosen: Language, *path: str) -> Any:
    """What a catalog has at this path, None for nothing."""
    entry: Any = texts(chosen)
    for name in path:
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry


@cache
def texts(chosen: Language) -> dict[str, Any]:
    """A language's catalog."""
    return tomllib.loads(Path(__file__).with_name(f"{chosen}.toml").read_text("utf-8"))


def columns(text: str) -> int:
    """How wide a terminal shows it: a Chinese character takes two columns."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def padded(text: str, width: int) -> str:
    """The text, and spaces up to so many columns."""
    return text + " " * (width - columns(text))
