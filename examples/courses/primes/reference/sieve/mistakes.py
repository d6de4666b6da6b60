"""Mistakes in a sieve."""

from math import isqrt

from torchkata import instead_of
from reference.sieve import oracle


@instead_of(oracle.primes, "n itself is listed if it is prime")
def up_to_n(n: int) -> list[int]:
    return oracle.primes(n + 1)


@instead_of(oracle.primes, "1 is listed as a prime")
def with_one(n: int) -> list[int]:
    return [1, *oracle.primes(n)] if n > 1 else []


@instead_of(oracle.primes, "2, the only even prime, is missing")
def without_two(n: int) -> list[int]:
    return oracle.primes(n)[1:]


@instead_of(oracle.primes, "all odd numbers are listed: only the multiples of 2 are crossed out")
def odd_numbers(n: int) -> list[int]:
    return [number for number in range(2, n) if number == 2 or number % 2]


@instead_of(oracle.primes, "the search for divisors stops before the square root, so 4, 6 and 9 are listed")
def stops_before_the_root(n: int) -> list[int]:
    return [k for k in range(2, n) if all(k % d for d in range(2, isqrt(k)))]


@instead_of(oracle.primes, "squares of primes are listed: crossing out starts after the square")
def squares_remain(n: int) -> list[int]:
    return [k for k in range(2, n) if all(k % d for d in range(2, isqrt(k - 1) + 1) if d * d != k)]


@instead_of(oracle.primes, "multiples of the largest prime below the square root of n are not crossed out")
def last_round_missing(n: int) -> list[int]:
    divisors = oracle.primes(isqrt(max(n - 1, 0)))
    return [k for k in range(2, n) if all(k == p or k % p for p in divisors)]


@instead_of(oracle.primes, "each prime is crossed out along with its multiples")
def primes_crossed_out(n: int) -> list[int]:
    return [p for p in oracle.primes(n) if p * p > n]


@instead_of(oracle.primes, "the primes are in descending order")
def descending(n: int) -> list[int]:
    return oracle.primes(n)[::-1]


@instead_of(oracle.primes, "a negative n is treated as positive")
def of_the_absolute_value(n: int) -> list[int]:
    return oracle.primes(abs(n))
