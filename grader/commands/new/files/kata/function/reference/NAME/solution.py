"""NAME: the sum of the squares of some numbers."""


def NAME(numbers: list[int]) -> int:
    """Return the sum of the squares of `numbers`, or 0 if there are none."""
    total = 0
    for number in numbers:
        total += number**2
    return total
