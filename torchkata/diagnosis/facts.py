"""What is true of all inputs whose answers are wrong, and of no others."""

from collections.abc import Mapping, Sequence

from torchkata.i18n import words
from torchkata.seam.values import Plain, is_array, is_tensor

MIN_ANSWERS = 8  # wrong answers, and right ones, before anything is said of them all
NOT_ZERO = " != 0"


def find_common_fact(trials: Sequence[tuple[Mapping[str, Plain], bool]]) -> str:
    """What is true of all inputs whose answers are wrong, and of no other; each comes with whether it is right.

    Where 0 is right, and everything else wrong, other facts hold by accident.
    """
    telling = [(given, right) for given, right in trials if not any(map(is_empty, given.values()))]
    wrong, right = (
        [collect_facts(given) for given, is_right in telling if is_right is asked] for asked in (False, True)
    )
    if len(wrong) < MIN_ANSWERS or len(right) < MIN_ANSWERS:
        return ""
    apart = [
        fact for fact in wrong[0] if all(one.get(fact) for one in wrong) and not any(one.get(fact) for one in right)
    ]
    if not apart or any(fact.endswith(NOT_ZERO) for fact in apart):
        return ""
    return words("relation.common", fact=apart[0])


def is_empty(value: Plain) -> bool:
    """Whether it is a tensor or an array of no elements: hardly an answer to that can be wrong."""
    return (is_tensor(value) or is_array(value)) and 0 in value.shape


def collect_facts(given: Mapping[str, Plain]) -> dict[str, bool]:
    """What may make inputs special, as a student would type it."""
    found: dict[str, bool] = {}
    for name, value in given.items():
        found |= describe_input(name, value)
    whole = {name: value for name, value in given.items() if type(value) is int}
    for a, first in whole.items():
        for b, second in whole.items():
            if a < b:
                found |= {f"{a} < {b}": first < second, f"{a} > {b}": first > second, f"{a} == {b}": first == second}
                found |= {
                    f"{a} <= {b}": first <= second,
                    f"{a} >= {b}": first >= second,
                    f"{a} != {b}": first != second,
                }
            if a != b and second:
                found[f"{a} % {b} > 0"] = first % second > 0
    return found


def describe_input(name: str, value: Plain) -> dict[str, bool]:
    """Those of one input."""
    if value is None or isinstance(value, bool):
        return {name: bool(value), f"not {name}": not value}
    if isinstance(value, str):
        return {f"{name} == {value!r}": True}
    if isinstance(value, (int, float)):
        special = {
            f"{name}{NOT_ZERO}": value != 0,
            f"{name} == 0": value == 0,
            f"{name} == 1": value == 1,
            f"{name} < 0": value < 0,
        }
        odd = {f"{name} % 2 == 1": value % 2 == 1, f"{name} % 2 == 0": value % 2 == 0} if type(value) is int else {}
        return {**special, f"{name} > 1": value > 1, **odd}
    if isinstance(value, (list, tuple)):
        return {f"len({name}) == {count}": len(value) == count for count in (0, 1)} | {
            f"len({name}) > 1": len(value) > 1
        }
    if not (is_tensor(value) or is_array(value)):
        return {}
    shape = list(value.shape)
    found = {f"{name}.ndim == {count}": len(shape) == count for count in range(4)}
    found |= {f"{name}.ndim > {count}": len(shape) > count for count in (1, 2)}
    found[f"1 in {name}.shape"] = 1 in shape
    for axis in {0, -1} if shape else ():
        found |= {f"{name}.shape[{axis}] == 1": shape[axis] == 1, f"{name}.shape[{axis}] > 1": shape[axis] > 1}
    return {**found, f"{name}.dtype == {value.dtype}": True}
