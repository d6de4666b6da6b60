"""Kata 1: all primes below a number."""


def sieve(n: int) -> list[int]:
    """Return the primes below `n` in ascending order.

    The sieve of Eratosthenes: write down all numbers below n, then cross out the multiples of each prime, starting at
    its square. The numbers that remain are prime.

    Example:
        sieve(12)    # [2, 3, 5, 7, 11]
        sieve(11)    # [2, 3, 5, 7]: n itself is excluded
        sieve(2)     # []

    Details:
    - `n` is any integer, including 0 and negative integers.
    - Return a list of ints.
    - `sieve(100_000)` takes less than two seconds.
    """
    raise NotImplementedError
