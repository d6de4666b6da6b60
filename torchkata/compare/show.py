"""Formats values for failure messages: type and shape first, followed by as many numbers as fit."""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from torchkata.i18n import _, translate
from torchkata.inside.values import Opaque, Plain, is_array, is_tensor

MAX_ITEMS = 8
MAX_WIDTH = 86  # characters; including its label, a line has fewer than 100 characters
MIN_WIDTH = 30
MAX_COMPARED = 64  # maximum number of elements that are compared as text
MIN_DIGITS = 4
DIGITS = 7  # significant digits; enough to show any difference between float32 values that a test detects
ALL_DIGITS = 17


def format_dtype(value: Any) -> str:
    """Return the name of the dtype without `torch.`, such as `float32`."""
    return str(value.dtype).removeprefix("torch.")


def describe_type(value: Plain) -> str:
    """Return `float32[2, 3]` for a tensor, `array float32[2, 3]` for an array, and otherwise the name of the type."""
    if is_tensor(value) or is_array(value):
        prefix = "array " if is_array(value) else ""
        return f"{prefix}{format_dtype(value)}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, Opaque):
        return f"({translate(value.type_name)})"
    return "None" if value is None else type(value).__name__


def format_number(value: float, digits: int = DIGITS) -> str:
    """Format a float with at most `digits` significant digits, and any other number in full."""
    is_finite_float = isinstance(value, float) and math.isfinite(value)
    return f"{value:.{digits}g}" if is_finite_float else str(value)


def format_array(value: Any, digits: int = DIGITS) -> Iterator[str]:
    """Yield a tensor as nested brackets, piece by piece. A long row shows only its first elements and the last one."""
    if value.ndim == 0:
        yield format_number(value.tolist(), digits)
        return
    last = len(value) - 1
    few: list[int | None] = [*range(last + 1)] if last < MAX_ITEMS else [*range(MAX_ITEMS - 2), None, last]
    yield from format_items("[", (["…"] if place is None else format_array(value[place], digits) for place in few), "]")


def format_pieces(value: Plain, digits: int = DIGITS) -> Iterator[str]:
    """Yield the text of a value piece by piece. For a large tensor in a list, only its type and shape are shown."""
    more = [["…"]] if isinstance(value, (list, dict)) and len(value) > MAX_ITEMS else []
    if is_tensor(value) or is_array(value):
        yield describe_type(value) if count_elements(value) > MAX_ITEMS else show(value, digits)
    elif isinstance(value, list):
        yield from format_items("[", chain((format_pieces(item, digits) for item in value[:MAX_ITEMS]), more), "]")
    elif isinstance(value, dict):
        pairs = (chain([f"{key!r}: "], format_pieces(item, digits)) for key, item in islice(value.items(), MAX_ITEMS))
        yield from format_items("{", chain(pairs, more), "}")
    elif isinstance(value, str):
        yield repr(value)
    else:
        yield describe_type(value) if isinstance(value, Opaque) else format_number(value, digits)


def format_items(begin: str, items: Iterable[Iterable[str]], end: str) -> Iterator[str]:
    """Yield the pieces of all items, separated by commas."""
    yield begin
    for place, item in enumerate(items):
        yield ", " if place else ""
        yield from item
    yield end


def show(value: Plain, digits: int = DIGITS, width: int = MAX_WIDTH) -> str:
    """Format a value as a single line of at most `width` columns: its type and shape, then as many numbers as fit.

    Example:
        show(torch.zeros(2))    # "float32[2]  [0.0, 0.0]"
    """
    if not (is_tensor(value) or is_array(value)):
        return join_pieces(format_pieces(value, digits), width)
    form = describe_type(value)
    if not count_elements(value):
        return _("{form}  (empty)", form=form)
    return f"{form}  {join_pieces(format_array(value, digits), width - len(form) - 2)}"


def show_both(one: Plain, other: Plain, width: int = MAX_WIDTH, preferred: int = DIGITS) -> tuple[str, str]:
    """Format two values. If they would look the same, show all digits or, if that does not help, their types."""
    for digits in (preferred, DIGITS, ALL_DIGITS):
        shown = show(one, digits, width), show(other, digits, width)
        if shown[0] != shown[1]:
            return shown
    if type(one) is type(other):
        return shown
    return f"{shown[0]} ({describe_type(one)})", f"{shown[1]} ({describe_type(other)})"


def find_digits(one: Any, other: Any, excess: Any) -> int:
    """Return the number of digits with which exactly the elements in `excess` look different, or else `DIGITS`."""
    if excess is not None and excess.size <= MAX_COMPARED:
        rows = [*zip(one.flatten().tolist(), other.flatten().tolist(), excess.flatten().tolist(), strict=True)]
        for n in range(DIGITS, MIN_DIGITS - 1, -1):
            if all((format_number(a, n) != format_number(b, n)) == differs for a, b, differs in rows):
                return n
    return DIGITS


def count_elements(value: Plain) -> int:
    """Return the number of elements of a tensor or an array, or 0 for anything else."""
    return math.prod(value.shape) if is_tensor(value) or is_array(value) else 0


def join_pieces(pieces: Iterable[str], width: int = MAX_WIDTH) -> str:
    """Join as many pieces as fit into a line of this width."""
    text, most = "", max(width, MIN_WIDTH)
    for piece in pieces:
        text += piece
        if len(text) > most:
            break
    return shorten(text, most)


def shorten(text: str, width: int = MAX_WIDTH) -> str:
    """Truncate a text to this width, if possible after a comma."""
    if len(text) <= width:
        return text
    items, comma, _ = text[: width - 2].rpartition(", ")
    return f"{items}{comma}…" if comma else f"{text[: width - 1]}…"
