"""Primes by trial division."""

from itertools import takewhile


def primes(n: int) -> list[int]:
    """Return the numbers from 2 to n - 1 that are not divisible by any prime up to their square root."""
    found: list[int] = []
    for number in range(2, n):
        if all(number % prime for prime in takewhile(lambda prime: prime * prime <= number, found)):
            found.append(number)
    return found
