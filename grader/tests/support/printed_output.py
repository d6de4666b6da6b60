"""Compares the output shown in the documentation with a program's actual output.

Text and integers must be equal. Floating-point numbers depend on the processor, so they may differ in the last
shown digit, or by `TOLERANCE` if they have many digits, but not in the second digit. For figures that were
rounded by hand, use `rounds_to` in `grader/tests/support/examples.py`, which is exact.
"""

import re
from collections.abc import Iterable
from decimal import Decimal

TOLERANCE = Decimal("1e-4")  # relative; float32 has seven digits, and a sum may cancel some
LAST_DIGIT = Decimal("9.5")  # in units of this digit: it may have any value, but the digit before it must be right
OPEN_END = "…"
NUMBER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?!\.?\w)")


def numbers_agree(shown: str, printed: str) -> bool:
    """Return whether a printed number agrees with the documented one."""
    if shown == printed or not re.search(r"[.e]", shown + printed):
        return shown == printed
    wanted, found = Decimal(shown), Decimal(printed)
    room = TOLERANCE * abs(wanted)
    if len(wanted.as_tuple().digits) > 2:  # of two digits, the last one is also the second
        room = max(room, LAST_DIGIT * Decimal(1).scaleb(int(wanted.as_tuple().exponent)))
    return abs(found - wanted) <= room


def lines_agree(shown: str, printed: str) -> bool:
    """Return whether a printed line agrees with a documented one, which may end in "…". Whitespace may differ."""
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
    """Split a line into alternating text and numbers, starting and ending with text."""
    return NUMBER.split(re.sub(r" +", " ", line.rstrip()))


def assert_shown(shown: Iterable[str], printed: Iterable[str]) -> None:
    """Assert that the shown lines are printed in this order. Empty lines are ignored, and "…" matches any lines."""
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
            raise AssertionError(f"{line}\nis shown, but this is printed:\n{after}")
        place, anywhere = found + 1, False
