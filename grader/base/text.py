"""Displays untrusted text safely: text from students, their file names, and the output of other programs.

All such text is passed to `printable` before it is displayed. `printable` removes characters that a terminal or a web
page would interpret, and limits the length of the text.
"""

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


def list_names(names: list[str]) -> str:
    """List the first few names, followed by the number of remaining names."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(map(quote, names[:MOST_NAMES]))}{more}"
