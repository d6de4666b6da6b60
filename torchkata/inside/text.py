"""Sentences that are translated where they are displayed: an English sentence with `{names}`, and their values.

A `Text` is for sentences that are written in another process, or before the language is known. Everywhere else, use
`torchkata.i18n._`. A plain string is never translated, because it may be the student's.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

PLACEHOLDER = re.compile(r"\{(\w+)\}")
MOST = 4096  # maximum number of characters of a sentence and of a value, which a malicious process may have sent


@dataclass(frozen=True, init=False)
class Text:
    """A sentence that is translated where it is displayed. Its `str` is the English sentence.

    A value may be a `Text`, too. Do not insert a `Text` into an f-string, where it would remain English.

    Example:
        check(same(x, before), Text("{name} was modified", name="x"))
    """

    english: str
    values: Mapping[str, object]

    def __init__(self, english: str, /, **values: object) -> None:
        object.__setattr__(self, "english", english)
        object.__setattr__(self, "values", values)

    def __hash__(self) -> int:
        return hash(self.english)

    def __str__(self) -> str:
        return fill(self.english, self.values)


Message: TypeAlias = Text | str  # a string is not translated


def fill(sentence: str, values: Mapping[str, object]) -> str:
    """Replace each `{name}` by its value. All other braces remain, so there are no format specifications."""
    return PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0]))[:MOST], sentence[:MOST])
