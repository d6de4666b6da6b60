"""The sieve of Eratosthenes on a bytearray."""

from math import isqrt


def sieve(n: int) -> list[int]:
    """Cross out the multiples of each prime by slice assignment."""
    remains = bytearray([1]) * max(n, 0)
    remains[:2] = bytes(len(remains[:2]))
    for p in range(2, isqrt(max(n, 1)) + 1):
        if p < n and remains[p]:
            crossed_out = range(p * p, n, p)
            remains[p * p :: p] = bytes(len(crossed_out))
    return [number for number in range(n) if remains[number]]
