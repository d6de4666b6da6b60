"""What yours has to do with what is expected, where one formula says it of every comparison that was seen.

A formula is told if it holds everywhere, and if it explains so many different numbers that it is no accident.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from torchkata.compare.assertions import same
from torchkata.compare.show import dtype_name
from torchkata.i18n import words
from torchkata.i18n.notes import translate
from torchkata.seam.values import Plain

from .formulas import (
    CLOSE,
    ENOUGH,
    FORMULAS,
    OF_SHAPES,
    Numbers,
    Pair,
    agree,
    eps_of,
    fitted,
    given_back,
    holds,
    most,
    numbers,
)

CALLS = 8  # answers that are compared before one is called the same in all
FORMATS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}  # bits of a number's significand


@dataclass(frozen=True)
class Compared:
    """An answer, what was expected, and what the student's code had been given."""

    yours: Plain
    expected: Plain
    given: Mapping[str, Plain] = field(default_factory=dict)


class Holds(NamedTuple):
    """A sentence that is true of all answers; a rule says of each of them what it is, and so what the code does."""

    sentence: str = ""
    is_rule: bool = False


def relation(seen: Sequence[Compared], *, of_shapes: bool = False) -> Holds:
    """Return what holds in all of these comparisons of one thing, whose numbers may be the sizes of shapes."""
    if not seen:
        return Holds()
    if told := keys(seen) or constant_answer(seen) or opposite(seen):
        return Holds(told, is_rule=True)
    prefix, parts = unpacked(seen)
    pairs = [pair_of(one) for one in parts]
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return Holds()
    for formula in chain(OF_SHAPES if of_shapes else FORMULAS, given_back(known), fitted(known)):
        if holds(formula, known):
            return Holds(prefix + words(formula.key, **formula.values), formula.is_rule)
    told = precision(known) or type_alone(parts, known) or one_form(parts)
    return Holds(prefix + told, is_rule=True) if told else Holds()


def pair_of(one: Compared) -> Pair | None:
    """The numbers of both sides, None where one has none."""
    yours, expected = numbers(one.yours), numbers(one.expected)
    if yours is None or expected is None:
        return None
    return Pair(yours, expected, max(eps_of(one.yours), eps_of(one.expected)), one.given)


def precision(pairs: Sequence[Pair]) -> str:
    """Numbers that are close, and have no more bits than a narrower format holds."""
    for name, bits in FORMATS.items():
        lost: set[float] = set()
        for pair in pairs:
            if pair.yours.shape != pair.expected.shape or not np.all(has_bits(pair.yours, bits)):
                break
            if np.any(abs(pair.yours - pair.expected) > CLOSE * 2.0**-bits * most(pair.expected)):
                break
            lost.update(pair.expected[~has_bits(pair.expected, bits)].tolist())
        else:
            if len(lost) >= 2 * ENOUGH:
                return words("relation.precision", format=name)
    return ""


def has_bits(values: Numbers, bits: int) -> Any:
    """Which numbers have a significand of so many bits."""
    significand, _ = np.frexp(values)
    return np.ldexp(significand, bits) % 1 == 0


def type_alone(parts: Sequence[Compared], pairs: Sequence[Pair]) -> str:
    """The right numbers in another type."""
    other = [not alike_in_type(one) for one in parts]
    shown = {number for pair, differs in zip(pairs, other, strict=True) if differs for number in pair.yours.flat}
    right = all(
        pair.yours.shape == pair.expected.shape and agree(pair.yours, pair.expected, pair.eps) for pair in pairs
    )
    found = {form_of(one.yours) for one, differs in zip(parts, other, strict=True) if differs}
    if not right or len(shown) < ENOUGH:
        return ""
    return words("relation.this_type", type=found.pop()) if len(found) == 1 else words("relation.type")


def one_form(parts: Sequence[Compared]) -> str:
    """The same type in all answers, where several are asked for."""
    found, asked = (
        {form_of(side) for side in sides} for sides in zip(*((p.yours, p.expected) for p in parts), strict=True)
    )
    return words("relation.one_type", type=found.pop()) if len(found) == 1 < len(asked) else ""


def form_of(value: Plain) -> str:
    """The dtype of what has one, the type of anything else."""
    return dtype_name(value) if hasattr(value, "dtype") else type(value).__name__


def alike_in_type(one: Compared) -> bool:
    """Whether both are of one type, and of one dtype if they have any."""
    dtypes = [getattr(value, "dtype", None) for value in (one.yours, one.expected)]
    return type(one.yours) is type(one.expected) and dtypes[0] == dtypes[1]


def unpacked(seen: Sequence[Compared]) -> tuple[str, list[Compared]]:
    """Of dicts what stands at the key that differs, of lists that are no numbers all items: with what to say before."""
    prefix, parts = "", list(seen)
    while parts and numbers(parts[0].expected) is None:
        first = next((one for one in parts if not same(one.yours, one.expected)), parts[0])
        if not all(alike(one) for one in parts):
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


def alike(one: Compared) -> bool:
    """Whether both are dicts of the same keys, or lists of one length."""
    if isinstance(one.expected, dict):
        return isinstance(one.yours, dict) and one.yours.keys() == one.expected.keys()
    return isinstance(one.expected, list) and isinstance(one.yours, list) and len(one.yours) == len(one.expected)


def keys(seen: Sequence[Compared]) -> str:
    """The keys that are missing or too many in every dict that is wrong."""
    found = set()
    for one in seen:
        if not (isinstance(one.expected, dict) and isinstance(one.yours, dict)):
            return ""
        missing = ", ".join(key for key in one.expected if key not in one.yours)
        further = ", ".join(key for key in one.yours if key not in one.expected)
        if missing or further:
            found.add((missing, further))
        elif not same(one.yours, one.expected):
            return ""
    if len(found) != 1:
        return ""
    ((missing, further),) = found
    if not further:
        return words("relation.missing", missing=missing)
    return words("relation.renamed" if missing else "relation.further", missing=missing, further=further)


def constant_answer(seen: Sequence[Compared]) -> str:
    """One answer to all calls, which ask for several."""
    answer, few = seen[0].yours, 2 if isinstance(seen[0].expected, (bool, str)) else ENOUGH
    if len(seen) < CALLS or not all(same(one.yours, answer) and alike_in_type(one) for one in seen):
        return ""
    asked: list[Plain] = []
    for one in seen:
        if len(asked) < few and not any(same(one.expected, other) for other in asked):
            asked.append(one.expected)
    return words("relation.constant", count=len(seen)) if len(asked) >= few else ""


def opposite(seen: Sequence[Compared]) -> str:
    """Always True where it should be False, and the other way round."""
    if len(seen) < CALLS or len({repr(one.expected) for one in seen}) < 2:
        return ""
    other = all(type(one.yours) is type(one.expected) is bool and one.yours != one.expected for one in seen)
    return words("relation.opposite") if other else ""


def first_wrong(parts: Sequence[Sequence[str]]) -> str:
    """The part that is the first wrong one in each of these answers, and the one before it, which is right."""
    found = {tuple(part[-2:]) for part in parts}
    if len(parts) < CALLS or len(found) != 1 or len(set(*found)) < 2 or not all(*found):
        return ""
    ((right, wrong),) = found
    return words("relation.first_wrong", right=translate(right), wrong=translate(wrong))
