"""Asks itself for the primes up to the root, and keeps what none of them divides."""

from math import isqrt


def sieve(n: int) -> list[int]:
    if n <= 2:
        return []
    divisors = sieve(isqrt(n - 1) + 1)
    crossed_out = {multiple for p in divisors for multiple in range(p * p, n, p)}
    return sorted({*range(2, n)} - crossed_out)
