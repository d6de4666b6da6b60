"""Finds facts that hold for all inputs with wrong answers and for no input with a correct answer."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence

from torchkata.i18n import _
from torchkata.inside.values import Plain, is_array, is_tensor

MIN_ANSWERS = 8  # minimum number both of wrong answers and of right answers
MIN_TIMES = 3  # minimum number of trials for each value of an input
NOT_ZERO = " != 0"
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
}


def find_common_fact(trials: Sequence[tuple[Mapping[str, Plain], bool]]) -> str:
    """Return a sentence with a fact that holds for exactly the inputs with wrong answers, or "" if there is none.

    `trials` contains each input and whether its answer is correct. If a separating fact is that an input is not 0,
    return "", because wrong code is often correct for the input 0.
    """
    telling = [(given, right) for given, right in trials if not any(map(is_empty, given.values()))]
    wrong, right = (
        [collect_facts(given) for given, is_right in telling if is_right is asked] for asked in (False, True)
    )
    if len(wrong) < MIN_ANSWERS or len(right) < MIN_ANSWERS:
        return ""
    of_all = [fact for fact in wrong[0] if all(facts.get(fact) for facts in wrong)]
    separating = [fact for fact in of_all if not any(facts.get(fact) for facts in right)]
    separating = separating or find_separating_names(telling)
    if not separating or any(fact.endswith(NOT_ZERO) for fact in separating):
        return ""
    counts = {"wrong": len(wrong), "right": len(right)}
    return _("wrong in all {wrong} cases where {fact}, right in the {right} others", fact=separating[0], **counts)


def find_separating_names(trials: Sequence[tuple[Mapping[str, Plain], bool]]) -> list[str]:
    """Return conditions on inputs that are strings or have a dtype, and that have few values in many trials."""
    names = [(dict(list_names(given)), is_right) for given, is_right in trials]
    found = []
    for name in names[0][0]:
        if not all(name in given for given, _ in names):
            continue
        wrong, right = ({given[name] for given, is_right in names if is_right is asked} for asked in (False, True))
        if wrong.isdisjoint(right) and MIN_TIMES * len(wrong | right) <= len(names):
            found.append(f"{name} != {right.pop()}" if len(right) == 1 else f"{name} in ({', '.join(sorted(wrong))})")
    return found


def list_names(given: Mapping[str, Plain]) -> Iterator[tuple[str, str]]:
    """Yield the code of each string and dtype among the inputs, with its value as code."""
    for name, value in given.items():
        if isinstance(value, str):
            yield name, repr(value)
        elif is_tensor(value) or is_array(value):
            yield f"{name}.dtype", str(value.dtype)


def is_empty(value: Plain) -> bool:
    """Return whether a value is an empty tensor or its sizes, for which almost any answer is correct."""
    if isinstance(value, list):
        return any(type(size) is int and size == 0 for size in value)
    return (is_tensor(value) or is_array(value)) and 0 in value.shape


def collect_facts(given: Mapping[str, Plain]) -> dict[str, bool]:
    """Return conditions on the inputs, written as code, and whether each of them holds."""
    found: dict[str, bool] = {}
    for name, value in given.items():
        found |= describe_input(name, value)
    whole = {name: value for name, value in given.items() if type(value) is int}
    for a, first in whole.items():
        for b, second in whole.items():
            if a < b:
                found |= {f"{a} {symbol} {b}": compare(first, second) for symbol, compare in OPERATORS.items()}
            if a != b and second:
                found[f"{a} % {b} > 0"] = first % second > 0
    return found


def describe_input(name: str, value: Plain) -> dict[str, bool]:
    """Return conditions on a single input."""
    if value is None or isinstance(value, bool):
        return {name: bool(value), f"not {name}": not value}
    if isinstance(value, str):
        return {f"{name} == {value!r}": True}
    if isinstance(value, (int, float)):
        odd = compare_to(f"{name} % 2", value % 2, ("==", 1), ("==", 0)) if type(value) is int else {}
        return compare_to(name, value, ("!=", 0), ("==", 0), ("==", 1), ("<", 0), (">", 1)) | odd
    if isinstance(value, (list, tuple)):
        return compare_to(f"len({name})", len(value), ("==", 0), ("==", 1), (">", 1))
    if not (is_tensor(value) or is_array(value)):
        return {}
    shape = list(value.shape)
    found = compare_to(f"{name}.ndim", len(shape), *(("==", count) for count in range(4)), (">", 1), (">", 2))
    found[f"1 in {name}.shape"] = 1 in shape
    for axis in (0, -1) if shape else ():
        found |= compare_to(f"{name}.shape[{axis}]", shape[axis], ("==", 1), (">", 1))
    return {**found, f"{name}.dtype == {value.dtype}": True}


def compare_to(name: str, value: float, *conditions: tuple[str, int]) -> dict[str, bool]:
    """Return conditions on a number, one for each pair of an operator and a number to compare with."""
    return {f"{name} {symbol} {number}": OPERATORS[symbol](value, number) for symbol, number in conditions}
