"""Stands in for `sieve` while what builds on it is graded."""


def sieve(n: int) -> list[int]:
    """Take the smallest number left, and drop its multiples."""
    primes, left = [], list(range(2, n))
    while left and left[0] ** 2 < n:
        primes.append(left[0])
        left = [number for number in left if number % primes[-1]]
    return primes + left
