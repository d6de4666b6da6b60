"""Prime factorization."""

from math import isqrt


def factors(n: int) -> list[int]:
    """Return the prime factors of `n` in ascending order, by trial division."""
    found, divisor, root = [], 2, isqrt(n)
    while divisor <= root:
        if n % divisor == 0:
            found.append(divisor)
            n //= divisor
            root = isqrt(n)
        else:
            divisor += 1
    return [*found, n] if n > 1 else found
