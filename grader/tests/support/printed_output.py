"""Compare what a page or docstring shows with what is printed: text exactly, floating-point numbers nearly.

Which digits a computation ends with depends on the processor. So a number with a decimal point or an exponent may
differ in its last written digit, or by `TOLERANCE` of its size where it has many digits. Its second digit has to be
right. Counts, shapes and line numbers are whole numbers, and have to be equal.

A figure that an author has rounded (a stub's example, `docs/katas.md`) has few digits, and all of them have to be
right: `rounds_to` in `grader/proof/examples.py` compares it.
"""

import re
from collections.abc import Iterable
from decimal import Decimal

TOLERANCE = Decimal("1e-4")  # relative; float32 has seven digits, and a sum may cancel some
LAST_DIGIT = Decimal("9.5")  # units of it: any other digit may stand there, and the one before it has to be right
OPEN_END = "…"
NUMBER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?!\.?\w)")


def numbers_agree(shown: str, printed: str) -> bool:
    """Return whether a printed number is the one shown: equal for whole numbers, nearly equal for others."""
    if shown == printed or not re.search(r"[.e]", shown + printed):
        return shown == printed
    wanted, found = Decimal(shown), Decimal(printed)
    room = TOLERANCE * abs(wanted)
    if len(wanted.as_tuple().digits) > 2:  # of two, the last is the second one
        room = max(room, LAST_DIGIT * Decimal(1).scaleb(int(wanted.as_tuple().exponent)))
    return abs(found - wanted) <= room


def lines_agree(shown: str, printed: str) -> bool:
    """Return whether a printed line is the one shown, which may go on where that ends in "…".

    Blanks in a row count as one: a column is as wide as its numbers.
    """
    if shown.endswith(OPEN_END) and not printed.endswith(OPEN_END):
        wanted, found = split(shown.removesuffix(OPEN_END)), split(printed)
        found = found[: len(wanted)]
        if len(found) == len(wanted):
            found[-1] = found[-1][: len(wanted[-1])]
    else:
        wanted, found = split(shown), split(printed)
    if len(wanted) != len(found):
        return False
    pairs = list(zip(wanted, found, strict=True))
    return all(a == b for a, b in pairs[::2]) and all(numbers_agree(a, b) for a, b in pairs[1::2])


def split(line: str) -> list[str]:
    """Split a line into text and numbers, which take turns; the text comes first and last."""
    return NUMBER.split(re.sub(r" +", " ", line.rstrip()))


def assert_shown(shown: Iterable[str], printed: Iterable[str]) -> None:
    """Demand that the lines shown are printed, one after the other, but for empty ones; "…" stands for any lines."""
    lines = [line for line in printed if line.strip()]
    place, anywhere = 0, True
    for line in filter(str.strip, shown):
        if line.strip() == OPEN_END:
            anywhere = True
            continue
        candidates = range(place, len(lines)) if anywhere else range(place, min(place + 1, len(lines)))
        found = next((number for number in candidates if lines_agree(line, lines[number])), None)
        if found is None:
            after = "\n".join(lines[place:] if anywhere else lines[place : place + 1]) or "(the end)"
            raise AssertionError(f"{line}\nis shown, and this is printed:\n{after}")
        place, anywhere = found + 1, False
