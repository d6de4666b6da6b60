"""Probe of NAME, with the functions that a student's tests should tell apart."""

from typing import Any

from torchkata import typed


def sorts_first(numbers: list[float]) -> float:
    """Return the median."""
    ordered = sorted(numbers)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def counts_smaller(numbers: list[float]) -> float:
    """Return the median, by counting the smaller numbers of each number."""
    middle = [(len(numbers) - 1) // 2, len(numbers) // 2]
    ranks = {
        place: number
        for number in numbers
        for place in range(sum(n < number for n in numbers), sum(n <= number for n in numbers))
    }
    return sum(ranks[place] for place in middle) / 2


def keeps_the_order(numbers: list[float]) -> float:
    """Return the middle of the list without sorting it."""
    return (numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2


def lower_middle(numbers: list[float]) -> float:
    """Return the lower of the two middle numbers."""
    return sorted(numbers)[(len(numbers) - 1) // 2]


def mean(numbers: list[float]) -> float:
    """Return the mean."""
    return sum(numbers) / len(numbers)


@typed(lambda function: f"from tests.probes.NAME import {function}\nNAME({function})")
def run_tests(assignment: Any, function: str) -> bool:
    """Return what the student's tests say about a function of this module."""
    result: bool = assignment.NAME.NAME(globals()[function])
    return result
