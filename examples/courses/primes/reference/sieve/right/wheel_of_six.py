"""Trial division by 2, 3 and the numbers 6k - 1 and 6k + 1."""

from itertools import takewhile


def sieve(n: int) -> list[int]:
    primes = [p for p in (2, 3) if p < n]
    for number in (k + offset for k in range(6, n + 2, 6) for offset in (-1, 1)):
        if number < n and all(number % p for p in takewhile(lambda p: p * p <= number, primes)):
            primes.append(number)
    return primes
