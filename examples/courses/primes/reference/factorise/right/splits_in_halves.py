"""Splits a number into two factors and factors both recursively."""

from math import isqrt


def factorise(n: int) -> list[int]:
    if n == 1:
        return []
    divisor = next((d for d in range(2, isqrt(n) + 1) if n % d == 0), None)
    if divisor is None:
        return [n]
    return sorted(factorise(divisor) + factorise(n // divisor))
