"""The primes below a number, by their definition."""

from itertools import takewhile


def primes(n: int) -> list[int]:
    """The numbers from 2 to n - 1 that no smaller prime divides; looking up to the root is enough."""
    found: list[int] = []
    for number in range(2, n):
        if all(number % prime for prime in takewhile(lambda prime: prime * prime <= number, found)):
            found.append(number)
    return found
