"""Displays untrusted text safely: text from students, their file names, and the output of other programs.

All such text is passed to `printable` before it is displayed. `printable` removes characters that a terminal or a web
page would interpret, and limits the length of the text.
"""

from collections.abc import Sequence

from torchkata.result import printable as printable

MOST_LINE = 2000  # maximum number of characters that are shown of a single line
MOST_QUOTED = 200  # maximum number of characters that are shown of a name or of another program's error
MOST_NAMES = 10  # maximum number of names in a list that are shown


def one_line(text: str, most: int = MOST_LINE) -> str:
    """Return printable text as a single line."""
    return " ".join(printable(text, most).split())


def quote(text: str, most: int = MOST_QUOTED) -> str:
    """Return a name or path for use in a message, with unprintable characters escaped."""
    return one_line(text if text.isprintable() else repr(text[:most]), most)


def count(number: int, noun: str) -> str:
    """Return a number with a regular noun, such as `1 kata` or `2 katas`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def condense(lines: Sequence[str]) -> list[str]:
    """Merge lines such as `ada: no time` that differ only in the name before the colon into one line with a count."""
    groups: dict[str, list[str]] = {}
    for line in lines:
        name, _, text = line.partition(": ")
        groups.setdefault(text or line, []).append(name)
    names_of = {text: f"{list_names(names)} ({len(names)} in all)" for text, names in groups.items() if len(names) > 1}
    alone = [line for line in lines if (line.partition(": ")[2] or line) not in names_of]
    return [*alone, *(f"{names}: {text}" for text, names in names_of.items())]


def list_names(names: list[str]) -> str:
    """List the first few names, followed by the number of remaining names."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(map(quote, names[:MOST_NAMES]))}{more}"
