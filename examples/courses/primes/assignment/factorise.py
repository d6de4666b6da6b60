"""Kata 2: the prime factors of a number."""


def factorise(n: int) -> list[int]:
    """List the prime factors of `n` in ascending order, each as often as it divides n.

    Divide out one prime after the other. Once the prime's square is above what is left of n, what is left is 1 or
    a prime itself: no search has to go beyond the square root. `from .sieve import sieve` lists the primes.

    Example:
        factorise(360)    # [2, 2, 2, 3, 3, 5]
        factorise(97)     # [97]
        factorise(1)      # []: the empty product

    `n` is at least 1 and at most 10**10. The answer is a list of ints, whose product is n.
    """
    raise NotImplementedError
