"""What tests say of answers, in the student's language.

They say it in English, with values in it: `"gradient of weight 0"`. The tables `[notes]` of each kata's `zh.toml` and
`[notes]` of `reference/zh.toml` translate it, with names for the values: `"gradient of {name}" = "{name} 的梯度"`.
The table `[notes]` of `zh.toml` has what the engine says beside a student's code, where it knows of no language.
"""

import re
import string
from functools import cache
from pathlib import Path

from torchkata.course import CourseError, course

from . import Language, language, texts


def said(english: str, *, by_us: bool = True) -> str:
    """The sentence in the student's language, and so the values in it; as it is where nobody has translated it.

    What the student's own code may say, and not a test, is translated only where the engine says it word for word.
    """
    for pattern, translation in notes(language(), here() if by_us else None):
        if found := pattern.fullmatch(english):
            values = {name: said(value, by_us=by_us) for name, value in found.groupdict().items()}
            return translation.format(**values)
    return english


def here() -> Path | None:
    """Where the course is that says something; None where there is none, or one that can't be read."""
    try:
        return course().root if course().katas else None
    except CourseError:
        return None


@cache
def notes(chosen: Language, where: Path | None) -> list[tuple[re.Pattern[str], str]]:
    """All that there is in a language, and by what to know each; the one that says most comes first."""
    found: dict[str, str] = dict(texts(chosen).get("notes", {}))
    if where is not None:
        found |= course().shared_texts.get(chosen, {}).get("notes", {})
        for kata in course().katas.values():
            found |= kata.languages.get(chosen, {}).get("notes", {})
    ordered = sorted(found, key=lambda english: (-len("".join(literals(english))), english))
    return [(pattern_of(english), found[english]) for english in ordered]


def literals(english: str) -> list[str]:
    """What stands between the values."""
    return [text for text, *_ in string.Formatter().parse(english)]


def pattern_of(english: str) -> re.Pattern[str]:
    """Matches the sentence with any values."""
    parts = [
        re.escape(text) + (f"(?P<{name}>.*?)" if name else "") for text, name, *_ in string.Formatter().parse(english)
    ]
    return re.compile("".join(parts), re.DOTALL)
