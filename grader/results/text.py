"""A student's words as text that no reader takes for anything else; an outcome in words."""

import re

from torchkata.i18n import class_words
from torchkata.result import LOOKS, Outcome

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but lines and tabs
HALVES = r"\ud800-\udfff"  # of a surrogate pair
NO_CHARACTERS = "".join(chr(plane | last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
HARMFUL = re.compile(f"[{CONTROLS}{HALVES}{NO_CHARACTERS}]")
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # what follows reads another way
SHOWN = {ord(mark): f"<U+{ord(mark):04X}>" for mark in TURNING} | {0x2028: "\n", 0x2029: "\n"}


def printable(text: str) -> str:
    """Without control characters and what XML forbids; lines and tabs stay, and what turns the direction is named."""
    return HARMFUL.sub("", text).translate(SHOWN)


def one_line(text: str) -> str:
    """Printable, on a single line."""
    return " ".join(printable(text).split())


def words(test: str) -> str:
    """A test's name, as a sentence."""
    return test.removeprefix("test_").replace("_", " ")


def in_words(outcome: Outcome) -> str:
    """How a test or a workload ended."""
    return class_words("feedback.passed" if outcome == "passed" else f"status.{LOOKS[outcome].status}")
