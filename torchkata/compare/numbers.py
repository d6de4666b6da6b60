"""Assertions about single numbers."""

import math
import sys

from torchkata.inside.text import Message, Text
from torchkata.inside.values import Plain
from torchkata.seam.comparisons import count_comparison

from .assertions import make_failure, report_comparison

EXACT = 2**53  # the largest number up to which every int is a float
ROUNDINGS = 256  # allowed float64 roundings; a product of eight numbers needs 16, a sum of their logarithms up to 200


def assert_number(
    yours: Plain, expected: float, *, relative: float = 0.0, what: Message = "", note: Message = ""
) -> None:
    """Assert that `yours` is an int or a float that equals `expected` within a relative tolerance.

    Args:
        yours: The student's answer.
        expected: The exact value.
        relative: The relative tolerance, in addition to a few float64 roundings.
        what: The name of the compared value, for the message.
        note: A sentence that explains the difference.

    Raises:
        Wrong: `yours` is not a number, or differs by more than the tolerance.

    Example:
        assert_number(seconds, 2.5e-3, relative=0.01, what="seconds")
    """
    count_comparison()
    if type(yours) not in (int, float):
        raise make_failure(yours, float(expected), what, Text("expected a number"))
    slack = (relative + ROUNDINGS * sys.float_info.epsilon) * abs(expected)
    if not (math.isfinite(yours) and abs(yours - expected) <= slack):
        raise make_failure(yours, expected, what, note)
    report_comparison(yours, expected, what)


def assert_count(yours: Plain, expected: int, *, what: Message = "", note: Message = "") -> None:
    """Assert that `yours` is exactly this int, or exactly this float if a known mistake expects a float.

    Raises:
        Wrong: `yours` is a different number or has a different type.

    Example:
        assert_count(flops, 2 * B * D * K, what="flops")
    """
    count_comparison()
    if type(yours) is not (float if type(expected) is float else int) or yours != expected:
        if type(yours) is float and yours == expected:
            note = Text("a count must be an int, not a float")
        elif type(yours) is int and yours == float(yours) and abs(yours - expected) * EXACT <= 8 * abs(expected):
            note = note or Text(
                "only the last digits differ, as if a float had been used, for example by math.pow, or / instead of //"
            )
        raise make_failure(yours, expected, what, note)
    report_comparison(yours, expected, what)
