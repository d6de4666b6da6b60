"""Replacement for a wrong `sieve` when the katas that build on it are graded."""


def sieve(n: int) -> list[int]:
    """Repeatedly take the smallest remaining number and drop its multiples."""
    primes, left = [], list(range(2, n))
    while left and left[0] ** 2 < n:
        primes.append(left[0])
        left = [number for number in left if number % primes[-1]]
    return primes + left
