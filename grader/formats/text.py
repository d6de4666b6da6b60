"""A student's words as text that no reader takes for anything else."""

KEPT = "\n\t"
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # what follows reads another way
SHOWN = {ord(mark): f"<U+{ord(mark):04X}>" for mark in TURNING} | {0x2028: "\n", 0x2029: "\n"}


def printable(text: str) -> str:
    """Without control characters, and without what XML forbids; lines and tabs stay."""
    return "".join(c for c in text if c in KEPT or is_harmless(ord(c)))


def in_order(text: str) -> str:
    """Printable, and read in the order in which it stands: a mark that turns the direction is named instead."""
    return printable(text).translate(SHOWN)


def is_harmless(code: int) -> bool:
    """Neither a control character, nor half a surrogate pair, nor one of the two that are no characters at all."""
    return code >= 0x20 and not 0x7F <= code < 0xA0 and not 0xD800 <= code < 0xE000 and code & 0xFFFE != 0xFFFE


def one_line(text: str) -> str:
    """Printable, on a single line."""
    return " ".join(printable(text).split())
