"""Assertions on single numbers."""

import math
import sys

from torchkata.seam.values import Plain

from .assertions import compared, differs

ROUNDINGS = 256  # of float64: products of up to eight numbers take 16; a sum of their logarithms, up to 200


def assert_number(yours: Plain, expected: float, *, relative: float = 0.0, what: str = "", note: str = "") -> None:
    """Assert that `yours` is an int or a float within a relative distance of a number that is positive or 0.

    Args:
        yours: The student's answer.
        expected: The exact value.
        relative: The distance that is allowed, as a share of `expected`, beside some roundings of float64.
        what: What is compared, for the message.
        note: A sentence that explains the difference.

    Raises:
        Wrong: It is no number, or too far away.

    Example:
        assert_number(seconds, 2.5e-3, relative=0.01, what="seconds")
    """
    if type(yours) not in (int, float):
        raise differs(yours, float(expected), what, "expected a number")
    slack = (relative + ROUNDINGS * sys.float_info.epsilon) * abs(expected)
    if not (math.isfinite(yours) and abs(yours - expected) <= slack):
        raise differs(yours, expected, what, note)
    compared(yours, expected, what)


def assert_count(yours: Plain, expected: int, *, what: str = "", note: str = "") -> None:
    """Assert that `yours` is exactly this int; if `expected` is a float, as of a known mistake, exactly this float.

    Raises:
        Wrong: It is another number, or a float.

    Example:
        assert_count(flops, 2 * B * D * K, what="flops")
    """
    if type(yours) is not (float if type(expected) is float else int) or yours != expected:
        other = type(yours) is float and yours == expected
        raise differs(yours, expected, what, "a count must be an int, not a float" if other else note)
    compared(yours, expected, what)
