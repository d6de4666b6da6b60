"""Kata 2: the prime factors of a number."""


def factorise(n: int) -> list[int]:
    """Return the prime factors of `n` in ascending order, each repeated as often as it divides n.

    Divide out one prime after another. Once the square of the prime exceeds what remains of n, the remainder is 1 or
    a prime. `from .sieve import sieve` lists the primes.

    Example:
        factorise(360)    # [2, 2, 2, 3, 3, 5]
        factorise(97)     # [97]
        factorise(1)      # []: the empty product

    Details:
    - `n` is between 1 and 10**10.
    - Return a list of ints.
    """
    raise NotImplementedError
