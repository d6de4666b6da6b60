"""Mistakes in prime factorization."""

from math import isqrt, prod

from torchkata import instead_of
from reference.factorise import oracle


@instead_of(oracle.factors, "each prime is listed only once, even if it divides n several times")
def without_multiplicity(n: int) -> list[int]:
    return sorted({*oracle.factors(n)})


@instead_of(oracle.factors, "the prime that remains at the end is missing")
def without_the_last(n: int) -> list[int]:
    return [p for p in oracle.factors(n) if p <= isqrt(n)]


@instead_of(oracle.factors, "1 is listed as a factor")
def with_one(n: int) -> list[int]:
    return [1, *oracle.factors(n)]


@instead_of(oracle.factors, "all divisors are listed, not only the primes")
def divisors(n: int) -> list[int]:
    small = [d for d in range(1, isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})[1:]


@instead_of(oracle.factors, "the factors are in descending order")
def descending(n: int) -> list[int]:
    return oracle.factors(n)[::-1]


@instead_of(oracle.factors, "n itself is listed in addition to its factors")
def with_n(n: int) -> list[int]:
    return sorted({*oracle.factors(n), n})


@instead_of(oracle.factors, "each prime is divided out only once, and the remainder is listed although it is not prime")
def divided_once(n: int) -> list[int]:
    found = []
    for p in without_multiplicity.mistaken(n):
        if p * p <= n * prod(found):
            found.append(p)
            n //= p
    return found + [n] * (n > 1)


@instead_of(oracle.factors, "the search stops before the square root, so the square of a prime is listed as a prime")
def without_the_root(n: int) -> list[int]:
    tried = [p for p in oracle.factors(n) if p < isqrt(n)]
    remainder = n // prod(tried)
    return tried + [remainder] * (remainder > 1)


@instead_of(oracle.factors, "the remainder at the end is listed even if it is 1")
def rest_of_one(n: int) -> list[int]:
    found = oracle.factors(n)
    return found if found and found[-1] > isqrt(n) else [*found, 1]


@instead_of(oracle.factors, "only primes below 100 are tried")
def small_primes_only(n: int) -> list[int]:
    found = [p for p in oracle.factors(n) if p < 100]
    remainder = n // prod(found)
    return found + [remainder] * (remainder > 1)
