"""The prime factors of a number, the smallest first."""

from math import isqrt


def factors(n: int) -> list[int]:
    """The smallest divisor is prime; then those of what is left."""
    found, divisor, root = [], 2, isqrt(n)
    while divisor <= root:
        if n % divisor == 0:
            found.append(divisor)
            n //= divisor
            root = isqrt(n)
        else:
            divisor += 1
    return [*found, n] if n > 1 else found
