"""Finds relations between the wrong answers and the expected values of a test, such as "yours = expected / x.shape[0]".

A relation is reported only if it holds in every comparison and explains enough distinct numbers to rule out a
coincidence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np

from torchkata.compare.equality import same
from torchkata.compare.show import format_dtype, shorten, show
from torchkata.i18n import _, translate
from torchkata.inside.text import Message, Text
from torchkata.inside.values import Plain

from .formulas import (
    CLOSE,
    FORMULAS,
    MIN_NUMBERS,
    REVERSED,
    Numbers,
    Pair,
    agrees,
    find_largest,
    fit_formulas,
    fits,
    get_eps,
    to_numbers,
)

STORED_TRANSPOSED = Text(
    "stored transposed, as nn.Linear stores its weight (your shape is the expected shape reversed)"
)
SHAPES = ("shape", "state_dict")  # the names that tests use for comparisons of shapes
MAX_NAME = 80  # maximum number of characters of a student's name for a parameter
MIN_CALLS = 8  # minimum number of calls before an answer is considered constant
FORMATS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}  # bits of the significand


@dataclass(frozen=True)
class Comparison:
    """An answer, the expected value, and the inputs of the call."""

    yours: Plain
    expected: Plain
    given: Mapping[str, Plain] = field(default_factory=dict)


class Relation(NamedTuple):
    """A sentence about how all answers are related to the expected values."""

    sentence: str = ""
    is_rule: bool = False  # whether the relation determines every answer, and therefore describes the code


def find_relation(seen: Sequence[Comparison], what: Message = "") -> Relation:
    """Return a relation that holds in all of these comparisons, or an empty relation if no relation does.

    `what` is the name that the test gives the compared values, such as "dtype".
    """
    if not seen:
        return Relation()
    if sentence := find_key_difference(seen) or find_constant_answer(seen, what) or find_opposite(seen):
        return Relation(sentence, is_rule=True)
    prefix, parts = unpack(seen)
    known = [pair for pair in map(make_pair, parts) if pair is not None]
    if not known or len(known) < len(parts):
        return Relation()
    for formula in chain(FORMULAS, fit_formulas(known)):
        if fits(formula, known):
            of_shapes = str(what).startswith(SHAPES) or prefix.startswith("shape")
            text = STORED_TRANSPOSED if of_shapes and formula.sentence is REVERSED else formula.sentence
            return Relation(prefix + translate(text), formula.is_rule)
    sentence = find_precision(known) or find_wrong_type(parts, known) or find_single_type(parts)
    return Relation(prefix + sentence, is_rule=True) if sentence else Relation()


def make_pair(one: Comparison) -> Pair | None:
    """Return both sides of a comparison as numbers, or None if one of them is not made of numbers."""
    yours, expected = to_numbers(one.yours), to_numbers(one.expected)
    if yours is None or expected is None:
        return None
    return Pair(yours, expected, max(get_eps(one.yours), get_eps(one.expected)), one.given)


def find_precision(pairs: Sequence[Pair]) -> str:
    """Return a sentence if all numbers are almost correct but have only the precision of a narrower format."""
    for name, bits in FORMATS.items():
        lost: set[float] = set()
        for pair in pairs:
            if pair.yours.shape != pair.expected.shape or not np.all(has_bits(pair.yours, bits)):
                break
            if np.any(abs(pair.yours - pair.expected) > CLOSE * 2.0**-bits * find_largest(pair.expected)):
                break
            lost.update(pair.expected[~has_bits(pair.expected, bits)].tolist())
        else:
            if len(lost) >= 2 * MIN_NUMBERS:
                return _("your result has only the precision of {format}", format=name)
    return ""


def has_bits(values: Numbers, bits: int) -> Any:
    """Return, for each number, whether a significand with this many bits can represent it."""
    significand, _ = np.frexp(values)
    return np.ldexp(significand, bits) % 1 == 0


def find_wrong_type(parts: Sequence[Comparison], pairs: Sequence[Pair]) -> str:
    """Return a sentence if all numbers are correct but have the wrong type."""
    if not all(p.yours.shape == p.expected.shape and agrees(p.yours, p.expected, p.eps) for p in pairs):
        return ""
    wrong = [(one, pair) for one, pair in zip(parts, pairs, strict=True) if not have_same_type(one)]
    if len({number for _, pair in wrong for number in pair.yours.flat}) < MIN_NUMBERS:
        return ""
    found = {name_type(one.yours) for one, _ in wrong}
    if len(found) == 1:
        return _("the numbers are right, but their type is {type}", type=found.pop())
    return _("the numbers are right, but the type is wrong")


def find_single_type(parts: Sequence[Comparison]) -> str:
    """Return a sentence if all answers have the same type although different types are expected."""
    found, expected = {name_type(one.yours) for one in parts}, {name_type(one.expected) for one in parts}
    if not len(found) == 1 < len(expected):
        return ""
    return _("all results in this test have the type {type}, even where another type is expected", type=found.pop())


def name_type(value: Plain) -> str:
    """Return the name of the dtype of a value, or of its type if it has no dtype."""
    return format_dtype(value) if hasattr(value, "dtype") else type(value).__name__


def have_same_type(one: Comparison) -> bool:
    """Return whether both sides of a comparison have the same type and dtype."""
    dtypes = [getattr(value, "dtype", None) for value in (one.yours, one.expected)]
    return type(one.yours) is type(one.expected) and dtypes[0] == dtypes[1]


def unpack(seen: Sequence[Comparison]) -> tuple[str, list[Comparison]]:
    """Replace each dict with its first differing value, and each list with its items. Return the keys as a prefix."""
    prefix, parts = "", list(seen)
    while parts and to_numbers(parts[0].expected) is None:
        first = next((one for one in parts if not same(one.yours, one.expected)), parts[0])
        if not all(have_same_structure(one) for one in parts):
            break
        if isinstance(first.expected, dict):
            differing = [key for key in first.expected if not same(first.yours[key], first.expected[key])]
            key = next(iter(differing or first.expected), None)
            if not all(key in one.expected for one in parts):
                break
            prefix += f"{key}: "
            parts = [replace(one, yours=one.yours[key], expected=one.expected[key]) for one in parts]
        elif isinstance(first.expected, list):
            parts = [
                replace(one, yours=yours, expected=expected)
                for one in parts
                for yours, expected in zip(one.yours, one.expected, strict=True)
            ]
        else:
            break
    return prefix, parts


def have_same_structure(one: Comparison) -> bool:
    """Return whether both sides of a comparison are dicts with the same keys, or lists of the same length."""
    if isinstance(one.expected, dict):
        return isinstance(one.yours, dict) and one.yours.keys() == one.expected.keys()
    return isinstance(one.expected, list) and isinstance(one.yours, list) and len(one.yours) == len(one.expected)


def find_key_difference(seen: Sequence[Comparison]) -> str:
    """Return a sentence if all wrong dicts have the same missing or unexpected keys, or if keys have been renamed."""
    found: set[tuple[str, str]] = set()
    renamed: dict[str, None] = {}
    for one in seen:
        if not (isinstance(one.expected, dict) and isinstance(one.yours, dict)):
            return ""
        missing = [key for key in one.expected if key not in one.yours]
        further = [key for key in one.yours if key not in one.expected]
        if missing or further:
            renamed |= dict.fromkeys(find_new_names(one, missing, further))
            found.add((join_names(missing), join_names(further)))
        elif not same(one.yours, one.expected):
            return ""
    if renamed and "" not in renamed:
        return "; ".join(renamed)
    if len(found) != 1:
        return ""
    ((absent, extra),) = found
    if not extra:
        return _("missing: {missing}", missing=absent)
    return _("got {further} instead of {missing}" if absent else "unexpected: {further}", missing=absent, further=extra)


def join_names(names: Sequence[str]) -> str:
    """Return the names, separated by commas. Some are the student's, and may contain anything."""
    return ", ".join(shorten(name, MAX_NAME) for name in names)


def find_new_names(one: Comparison, missing: Sequence[str], further: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each module or parameter that has another name in the student's `state_dict`.

    Keys such as `layers.0.weight` are compared name by name. The missing and the unexpected keys must have the same
    shapes in the same order. Yield "" for a key that cannot be matched.
    """
    for old, new in zip_longest(missing, further, fillvalue=""):
        names, others = old.split("."), new.split(".")
        if not (old and new and has_same_sizes(one.yours[new], one.expected[old])):
            yield ""
        elif len(names) != len(others):
            yield describe_new_name(old, new) if len(missing) == 1 else ""
        for name, other, following in zip(names, others, [*names[1:], None], strict=False):
            if name != other and len(names) == len(others):
                yield describe_new_name(name, other, following)


def describe_new_name(missing: str, further: str, following: str | None = None) -> str:
    """Return a sentence about a parameter or, if it is followed by another name, a list or module with a new name."""
    return _(
        "there is no `{missing}`; the parameter is called `{further}`"
        if not following
        else "there is no `{missing}`; the list is called `{further}`"
        if following.isdigit()
        else "there is no `{missing}`; the module is called `{further}`",
        missing=missing,
        further=shorten(further, MAX_NAME),
    )


def has_same_sizes(yours: Plain, expected: Plain) -> bool:
    """Return whether two shapes are equal, or one is the reverse of the other, as after a transpose."""
    return isinstance(yours, list) and isinstance(expected, list) and yours in (expected, expected[::-1])


def find_constant_answer(seen: Sequence[Comparison], what: Message) -> str:
    """Return a sentence if all calls return the same answer although different answers are expected."""
    answer, few = seen[0].yours, 2 if isinstance(seen[0].expected, (bool, str)) else MIN_NUMBERS
    if len(seen) < MIN_CALLS or not all(same(one.yours, answer) and have_same_type(one) for one in seen):
        return ""
    expected: list[Plain] = []
    for one in seen:
        if len(expected) < few and not any(same(one.expected, other) for other in expected):
            expected.append(one.expected)
    if len(expected) < few:
        return ""
    if not what:
        return _("all {count} calls return the same result", count=len(seen))
    value = shorten(show(answer), MAX_NAME)
    return _("{what} is {value} in all {count} calls", what=translate(what), value=value, count=len(seen))


def find_opposite(seen: Sequence[Comparison]) -> str:
    """Return a sentence if True and False are swapped in all answers."""
    if len(seen) < MIN_CALLS or len({repr(one.expected) for one in seen}) < 2:
        return ""
    other = all(type(one.yours) is type(one.expected) is bool and one.yours != one.expected for one in seen)
    return _("True and False are swapped") if other else ""


def find_first_wrong(parts: Sequence[Sequence[Message]]) -> str:
    """Return a sentence if the first wrong part is the same in all answers, and correct parts precede it.

    The last part is the wrong one. If an earlier one has its name, the names do not say which of them are still right.
    """
    found = {tuple(part[-2:]) for part in parts}
    if any(part[-1] in part[:-1] for part in parts if part):
        return ""
    if len(parts) < MIN_CALLS or any(len(set(pair)) < 2 or not all(pair) for pair in found):
        return ""
    (right, wrong), *others = found
    if others:
        names = {re.sub(r"\d", "", str(what)) for pair in found for what in pair}
        alike = len(names) == 1 and all(each == wrong for _, each in others)
        return _("first wrong result: {wrong}", wrong=translate(wrong)) if alike else ""
    return _("first wrong result: {wrong} ({right} is still right)", right=translate(right), wrong=translate(wrong))
