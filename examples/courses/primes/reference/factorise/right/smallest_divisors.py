"""Repeatedly searches for the smallest prime divisor."""

from math import isqrt

from .sieve import sieve


def factorise(n: int) -> list[int]:
    primes, factors = sieve(isqrt(n) + 1), []
    while (p := next((p for p in primes if p * p <= n and n % p == 0), None)) is not None:
        factors.append(p)
        n //= p
    factors.extend(number for number in (n,) if number != 1)
    return factors
