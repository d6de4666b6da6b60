"""Tries 2 and all odd numbers, without a sieve."""


def factorise(n: int) -> list[int]:
    factors, divisor = [], 2
    while divisor * divisor <= n:
        if n % divisor:
            divisor += 1 if divisor == 2 else 2
        else:
            factors.append(divisor)
            n //= divisor
    return factors + [n] * (n > 1)
