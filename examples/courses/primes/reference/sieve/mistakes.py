"""Mistakes in a sieve."""

from math import isqrt

from torchkata import instead_of
from reference.sieve import oracle


@instead_of(oracle.primes, "n itself is listed where it is prime")
def up_to_n(n: int) -> list[int]:
    return oracle.primes(n + 1)


@instead_of(oracle.primes, "1 is taken for a prime")
def with_one(n: int) -> list[int]:
    return [1, *oracle.primes(n)] if n > 1 else []


@instead_of(oracle.primes, "2 is missing: it is the one even prime")
def without_two(n: int) -> list[int]:
    return oracle.primes(n)[1:]


@instead_of(oracle.primes, "all odd numbers are listed: only the multiples of 2 are crossed out")
def odd_numbers(n: int) -> list[int]:
    return [number for number in range(2, n) if number == 2 or number % 2]


@instead_of(oracle.primes, "the search for divisors stops before the square root, so that 4, 6 and 9 remain")
def stops_before_the_root(n: int) -> list[int]:
    return [k for k in range(2, n) if all(k % d for d in range(2, isqrt(k)))]


@instead_of(oracle.primes, "the squares of primes remain: crossing out begins behind the square")
def squares_remain(n: int) -> list[int]:
    return [k for k in range(2, n) if all(k % d for d in range(2, isqrt(k - 1) + 1) if d * d != k)]


@instead_of(oracle.primes, "the last prime to cross out by is left out: the one whose square is just below n")
def last_round_missing(n: int) -> list[int]:
    divisors = oracle.primes(isqrt(max(n - 1, 0)))
    return [k for k in range(2, n) if all(k == p or k % p for p in divisors)]


@instead_of(oracle.primes, "each prime is crossed out together with its multiples")
def primes_crossed_out(n: int) -> list[int]:
    return [p for p in oracle.primes(n) if p * p > n]


@instead_of(oracle.primes, "the list is descending")
def descending(n: int) -> list[int]:
    return oracle.primes(n)[::-1]


@instead_of(oracle.primes, "a negative n is taken for a positive one")
def of_the_absolute_value(n: int) -> list[int]:
    return oracle.primes(abs(n))
