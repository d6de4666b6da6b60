"""Mistakes in taking a number apart."""

from math import isqrt, prod

from torchkata import instead_of
from reference.factorise import oracle


@instead_of(oracle.factors, "each prime is listed once, however often it divides n")
def without_multiplicity(n: int) -> list[int]:
    """A set of primes."""
    return sorted({*oracle.factors(n)})


@instead_of(oracle.factors, "the prime that is left at the end is lost")
def without_the_last(n: int) -> list[int]:
    """What is left after all primes up to the root of n have been divided out."""
    return [p for p in oracle.factors(n) if p <= isqrt(n)]


@instead_of(oracle.factors, "1 is listed as a factor")
def with_one(n: int) -> list[int]:
    """1 is no prime."""
    return [1, *oracle.factors(n)]


@instead_of(oracle.factors, "all divisors are listed, not the primes alone")
def divisors(n: int) -> list[int]:
    """4 divides 12, and is no prime."""
    small = [d for d in range(1, isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})[1:]


@instead_of(oracle.factors, "the factors come in descending order")
def descending(n: int) -> list[int]:
    """The largest first."""
    return oracle.factors(n)[::-1]


@instead_of(oracle.factors, "n itself is listed beside its factors")
def with_n(n: int) -> list[int]:
    """The product is no longer n."""
    return sorted({*oracle.factors(n), n})


@instead_of(oracle.factors, "each prime is divided out once only: what is left is listed as it is")
def divided_once(n: int) -> list[int]:
    """The rest may still be composite."""
    found = []
    for p in without_multiplicity.mistaken(n):
        if p * p <= n * prod(found):
            found.append(p)
            n //= p
    return found + [n] * (n > 1)


@instead_of(oracle.factors, "the search stops just before the square root: the square of a prime is taken for a prime")
def without_the_root(n: int) -> list[int]:
    """One number too few is tried."""
    tried = [p for p in oracle.factors(n) if p < isqrt(n)]
    left = n // prod(tried)
    return tried + [left] * (left > 1)


@instead_of(oracle.factors, "what is left at the end is listed even where it is 1")
def rest_of_one(n: int) -> list[int]:
    """Nothing is left where no prime is above the root."""
    found = oracle.factors(n)
    return found if found and found[-1] > isqrt(n) else [*found, 1]


@instead_of(oracle.factors, "only primes below 100 are tried, however large n is")
def small_primes_only(n: int) -> list[int]:
    """Two large primes stay together."""
    found = [p for p in oracle.factors(n) if p < 100]
    left = n // prod(found)
    return found + [left] * (left > 1)
