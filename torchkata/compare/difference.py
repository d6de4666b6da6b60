"""Describes how an answer differs from the expected value: the failure that a student reads, and its notes."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from torchkata.i18n import _, translate
from torchkata.inside.text import Message
from torchkata.inside.values import Plain, is_array
from torchkata.seam.failures import Wrong

from .equality import same
from .show import MAX_ITEMS, MAX_WIDTH, count_elements, describe_type, find_digits, format_dtype, show, show_both


def describe_difference(yours: Plain, expected: Plain, what: Message, note: Message, excess: Any = None) -> Wrong:
    """Return the exception for a failed comparison. `excess` says which elements of an array differ by too much.

    It shows each value on one line, or only the first difference if the values are too long. If lists have different
    lengths or dicts have different keys, a note says so.
    """
    label, note = translate(what), translate(note)
    digits = find_digits(expected, yours, excess)
    shown = show_both(expected, yours, MAX_WIDTH - len(label) - 2, digits)
    if shown[0] == shown[1] or any("…" in side for side in shown):
        path, expected, yours = find_first_difference(expected, yours)
        label += path
        if looks_alike(expected, yours, MAX_WIDTH - len(label) - 2):
            index = find_first_element(expected, yours, excess)
            label, expected, yours = f"{label}{list(index)}", expected[index].item(), yours[index].item()
        shown = show_both(expected, yours, MAX_WIDTH - len(label) - 2, digits)
        note = note or explain_length(yours, expected)
    named = [_("{name}: {value}", name=label, value=value) if label else value for value in shown]
    return Wrong(expected=named[0], yours=named[1], note=note)


def find_first_difference(expected: Plain, yours: Plain, path: str = "") -> tuple[str, Plain, Plain]:
    """Find the first difference within lists and dicts. Return its subscripts as code, and the two values there."""
    if isinstance(expected, list) and isinstance(yours, list):
        keys: Iterable[Any] = range(min(len(expected), len(yours)))
    elif isinstance(expected, dict) and isinstance(yours, dict) and expected.keys() == yours.keys():
        keys = expected
    else:
        return path, expected, yours
    for key in keys:
        if not same(yours[key], expected[key]):
            return find_first_difference(expected[key], yours[key], f"{path}[{key!r}]")
    return path, expected, yours


def looks_alike(expected: Plain, yours: Plain, width: int) -> bool:
    """Return whether two arrays or tensors of the same form differ only in elements that are not shown."""
    one, other = (show(value, width=width) for value in (expected, yours))
    return one == other and "…" in one and count_elements(expected) > 0


def find_first_element(expected: Any, yours: Any, excess: Any) -> tuple[int, ...]:
    """Return the index of the first element that differs. `excess` says which elements differ, if that is known."""
    if excess is None:
        pairs = zip(expected.flatten().tolist(), yours.flatten().tolist(), strict=True)
        excess = np.array([repr(one) != repr(other) for one, other in pairs]).reshape(expected.shape)
    return tuple(int(i) for i in np.argwhere(excess)[0])


def explain_length(yours: Plain, expected: Plain) -> str:
    """Return a note about lists of different lengths or dicts with different keys, or "" for any other values."""
    if isinstance(yours, list) and isinstance(expected, list) and len(yours) != len(expected):
        return _("expected length {wanted}, got {found}", wanted=len(expected), found=len(yours))
    if isinstance(yours, dict) and isinstance(expected, dict) and yours.keys() != expected.keys():
        missing, further = (
            ", ".join(map(repr, one.keys() - other.keys())) for one, other in ((expected, yours), (yours, expected))
        )
        sentences = [_("missing keys: {keys}", keys=missing)] if missing else []
        return "; ".join(sentences + ([_("unexpected keys: {keys}", keys=further)] if further else []))
    return ""


def explain_form(yours: Any, wanted: Any, *, numeric: bool) -> str:
    """Return a note about a wrong type, dtype or shape."""
    if type(yours) is not type(wanted):
        if numeric:
            return (
                _("expected a list of numbers with the shape {shape}", shape=[*wanted.shape])
                if wanted.ndim
                else _("expected a number")
            )
        return _(
            "expected an array, got {found}" if is_array(wanted) else "expected a tensor, got {found}",
            found=describe_type(yours),
        )
    if yours.shape != wanted.shape:
        return _("expected shape {wanted}, got {found}", wanted=list(wanted.shape), found=list(yours.shape))
    return _("expected dtype {wanted}, got {found}", wanted=format_dtype(wanted), found=format_dtype(yours))


def explain_elements(excess: Any, wanted: Any, yours: Any, invalid: int = 0, label: str = "") -> str:
    """Return a note with the number of wrong elements and the index of the first, or of `invalid` ones, which are NaN.

    If the values that follow the `label` don't show all elements, the note contains the first wrong one.
    """
    if invalid:
        return _(
            "NaN in {count} of {all} elements, as after 0 / 0, inf - inf or the root of a negative number",
            count=invalid,
            all=excess.size,
        )
    if excess.size == 1:
        return ""
    index = find_first_element(wanted, yours, excess)
    place, width = str(list(index)), MAX_WIDTH - len(label) - 2
    if excess.size > MAX_ITEMS or any("…" in show(side, width=width) for side in (wanted, yours)):
        shown = show_both(wanted[index].item(), yours[index].item(), preferred=find_digits(wanted, yours, excess))
        place = _("{index}: expected {expected}, got {yours}", index=place, expected=shown[0], yours=shown[1])
    count = {"wrong": int(excess.sum()), "all": excess.size}
    return _("{wrong} of {all} elements differ by more than the tolerance (first at {place})", **count, place=place)
