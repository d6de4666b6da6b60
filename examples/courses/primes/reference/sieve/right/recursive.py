"""Computes the primes up to the square root recursively and removes their multiples."""

from math import isqrt


def sieve(n: int) -> list[int]:
    if n <= 2:
        return []
    divisors = sieve(isqrt(n - 1) + 1)
    crossed_out = {multiple for p in divisors for multiple in range(p * p, n, p)}
    return sorted({*range(2, n)} - crossed_out)
