"""A student's words as text that no reader takes for anything else."""

KEPT = "\n\t"


def printable(text: str) -> str:
    """Without control characters, and without what XML forbids; lines and tabs stay."""
    return "".join(c for c in text if c in KEPT or is_harmless(ord(c)))


def is_harmless(code: int) -> bool:
    """Neither a control character, nor half a surrogate pair, nor one of the two that are no characters at all."""
    return code >= 0x20 and not 0x7F <= code < 0xA0 and not 0xD800 <= code < 0xE000 and code & 0xFFFE != 0xFFFE


def one_line(text: str) -> str:
    """Printable, on a single line."""
    return " ".join(printable(text).split())
