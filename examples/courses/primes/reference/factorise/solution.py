"""Prime factorization with a sieve."""

from math import isqrt

from .sieve import sieve


def factorise(n: int) -> list[int]:
    """Divide n by the primes up to its square root; a remaining quotient above 1 is prime."""
    factors = []
    for p in sieve(isqrt(n) + 1):
        while n % p == 0:
            factors.append(p)
            n //= p
    if n > 1:
        factors.append(n)
    return factors
