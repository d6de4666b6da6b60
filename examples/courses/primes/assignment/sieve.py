"""Kata 1: all primes below a number."""


def sieve(n: int) -> list[int]:
    """List the primes below `n` in ascending order.

    The sieve of Eratosthenes: write down all numbers below n, and cross out the multiples of each prime in turn,
    beginning at its square. What is never crossed out is prime.

    Example:
        sieve(12)    # [2, 3, 5, 7, 11]
        sieve(11)    # [2, 3, 5, 7]: n itself does not belong
        sieve(2)     # []

    `n` is any integer; below 2, and of a negative one, there are none. The answer is a list of ints.
    For n = 100 000 it takes well below two seconds.
    """
    raise NotImplementedError
