"""Divides out the primes up to the square root."""

from math import isqrt

from .sieve import sieve


def factorise(n: int) -> list[int]:
    """What is left at the end has no divisor up to its root."""
    factors = []
    for p in sieve(isqrt(n) + 1):
        while n % p == 0:
            factors.append(p)
            n //= p
    if n > 1:
        factors.append(n)
    return factors
