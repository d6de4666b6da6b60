"""Assertions on single numbers."""

import math
import sys

from torchkata.seam.values import Plain

from .assertions import compared, differs

ROUNDINGS = 256  # of float64: products of up to eight numbers take 16; a sum of their logarithms, up to 200


def assert_number(yours: Plain, expected: float, *, relative: float = 0.0, what: str = "", note: str = "") -> None:
    """Demand an int or a float within `relative` of `expected`, which is positive or 0, and within some roundings."""
    if type(yours) not in (int, float):
        raise differs(yours, float(expected), what, "this should be a number")
    slack = (relative + ROUNDINGS * sys.float_info.epsilon) * abs(expected)
    if not (math.isfinite(yours) and abs(yours - expected) <= slack):
        raise differs(yours, expected, what, note)
    compared(yours, expected, what)


def assert_count(yours: Plain, expected: int, *, what: str = "", note: str = "") -> None:
    """Demand exactly this int; where a float is expected, as a known mistake may, exactly this float."""
    if type(yours) is not (float if type(expected) is float else int) or yours != expected:
        other = type(yours) is float and yours == expected
        raise differs(yours, expected, what, "a count of ints is an int, and exact" if other else note)
    compared(yours, expected, what)
