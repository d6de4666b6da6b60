"""Safe display of text from submissions, and outcomes in words."""

import re

from torchkata.i18n import class_words
from torchkata.result import LOOKS, Outcome

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except newline and tab
HALVES = r"\ud800-\udfff"  # halves of surrogate pairs
NO_CHARACTERS = "".join(chr(plane | last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
HARMFUL = re.compile(f"[{CONTROLS}{HALVES}{NO_CHARACTERS}]")
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # reverse the text that follows
SHOWN = {ord(mark): f"<U+{ord(mark):04X}>" for mark in TURNING} | {0x2028: "\n", 0x2029: "\n"}


def printable(text: str) -> str:
    """Remove control characters and those that XML forbids; show marks that change the text direction by name."""
    return HARMFUL.sub("", text).translate(SHOWN)


def one_line(text: str) -> str:
    """Return printable text on a single line."""
    return " ".join(printable(text).split())


def make_title(test: str) -> str:
    """Return a test's name as words."""
    return test.removeprefix("test_").replace("_", " ")


def outcome_text(outcome: Outcome) -> str:
    """Return the outcome of a test or workload in the class's language."""
    return class_words("feedback.passed" if outcome == "passed" else f"status.{LOOKS[outcome].status}")
