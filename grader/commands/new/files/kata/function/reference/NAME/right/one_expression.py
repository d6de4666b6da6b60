"""Adds the products of the numbers with themselves in one expression."""


def NAME(numbers: list[int]) -> int:
    return sum(number * number for number in numbers)
