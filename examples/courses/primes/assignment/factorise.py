"""Kata 2: the prime factors of a number."""


def factorise(n: int) -> list[int]:
    """Return the prime factors of `n` in ascending order, each repeated as often as it divides n.

    Divide n by one prime after another. Once the square of the prime exceeds the remaining quotient, this quotient is
    1 or a prime. The kata `sieve` lists the primes: `from .sieve import sieve`.

    Example:
        factorise(360)    # [2, 2, 2, 3, 3, 5]
        factorise(97)     # [97]
        factorise(1)      # []: the empty product

    Details:
    - `n` is between 1 and 10**10.
    - Return a list of ints.
    """
    raise NotImplementedError
