"""An incremental sieve that stores the next multiple of each prime."""


def sieve(n: int) -> list[int]:
    primes, due = [], {}
    for number in range(2, n):
        divisors = due.pop(number, None)
        if divisors is None:
            primes.append(number)
            due[number * number] = [number]
        else:
            for p in divisors:
                due.setdefault(number + p, []).append(p)
    return primes
