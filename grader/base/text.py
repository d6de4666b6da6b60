"""Displays untrusted text safely: text from students, their file names, and the output of other programs.

All such text is passed to `printable` before it is displayed. `printable` removes characters that a terminal or a web
page would interpret, and limits the length of the text.
"""

import re
from collections.abc import Sequence

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except newline and tab
HALVES = r"\ud800-\udfff"  # surrogates, which represent bytes of a file name that are not UTF-8
NO_CHARACTERS = "".join(chr(plane | last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
HARMFUL = re.compile(f"[{CONTROLS}{HALVES}{NO_CHARACTERS}]")
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # text direction marks
SHOWN = {ord(mark): f"<U+{ord(mark):04X}>" for mark in TURNING} | {0x2028: "\n", 0x2029: "\n"}

MOST = 32 * 2**10  # maximum number of characters that are shown of a text
MOST_LINE = 2000  # maximum number of characters that are shown of a single line
MOST_QUOTED = 200  # maximum number of characters that are shown of a name or of another program's error
MOST_NAMES = 10  # maximum number of names in a list that are shown


def printable(text: str, most: int = MOST) -> str:
    """Remove control characters and characters forbidden in XML, and truncate the text to `most` characters.

    Characters that change the text direction are replaced by their code points.
    """
    if len(text) <= most and text.isprintable():
        return text
    shown = HARMFUL.sub("", text[:most]).translate(SHOWN)
    return shown if len(text) <= most and len(shown) <= most else f"{shown[: most - 1]}…"


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
