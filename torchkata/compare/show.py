"""Values as a failure shows them: type and shape first, then as many numbers as fit."""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from torchkata.seam.values import Opaque, Plain, is_array, is_tensor

MAX_ITEMS = 8
MAX_WIDTH = 86  # characters: with the label before it a line has fewer than 100
LEAST_WIDTH = 30  # whatever stands before the value
DIGITS = 7  # tell apart what a float32 test tells apart
ALL_DIGITS = 17


def dtype_name(value: Any) -> str:
    """`float32`, of a tensor without `torch.`."""
    return str(value.dtype).removeprefix("torch.")


def kind(value: Plain) -> str:
    """`float32[2, 3]` for a tensor, `array float32[2, 3]` for an array, else the name of the type."""
    if is_tensor(value) or is_array(value):
        prefix = "array " if is_array(value) else ""
        return f"{prefix}{dtype_name(value)}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, Opaque):
        return f"({value.type_name})"
    return "None" if value is None else type(value).__name__


def number(value: float, digits: int = DIGITS) -> str:
    """So many digits of a floating-point number."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return f"{value:.{digits}g}" if math.isfinite(value) else str(value)


def numbers(value: Any, digits: int = DIGITS) -> Iterator[str]:
    """Nested brackets of a tensor's numbers, piece by piece; of a long row the first ones and the last."""
    if value.ndim == 0:
        yield number(value.tolist(), digits)
        return
    last = len(value) - 1
    few: list[int | None] = [*range(last + 1)] if last < MAX_ITEMS else [*range(MAX_ITEMS - 2), None, last]
    yield from listed("[", (["…"] if place is None else numbers(value[place], digits) for place in few), "]")


def pieces(value: Plain, digits: int = DIGITS) -> Iterator[str]:
    """The text of any value but a tensor, piece by piece; tensors in it by their kind alone, unless they are small."""
    more = [["…"]] if isinstance(value, (list, dict)) and len(value) > MAX_ITEMS else []
    if is_tensor(value) or is_array(value):
        yield kind(value) if elements(value) > MAX_ITEMS else show(value, digits)
    elif isinstance(value, list):
        yield from listed("[", chain((pieces(item, digits) for item in value[:MAX_ITEMS]), more), "]")
    elif isinstance(value, dict):
        items = islice(value.items(), MAX_ITEMS)
        yield from listed("{", chain((chain([f"{key!r}: "], pieces(item, digits)) for key, item in items), more), "}")
    elif isinstance(value, str):
        yield repr(value)
    else:
        yield kind(value) if isinstance(value, Opaque) else number(value, digits)


def listed(begin: str, items: Iterable[Iterable[str]], end: str) -> Iterator[str]:
    """The pieces of all items, with commas in between."""
    yield begin
    for place, item in enumerate(items):
        yield ", " if place else ""
        yield from item
    yield end


def show(value: Plain, digits: int = DIGITS, width: int = MAX_WIDTH) -> str:
    """Return a value as one line of at most `width` columns: its type and shape, then as many numbers as fit.

    Example:
        show(torch.zeros(2))    # "float32[2]  [0.0, 0.0]"
    """
    if is_tensor(value) or is_array(value):
        form = kind(value)
        return f"{form}  {cut(numbers(value, digits), width - len(form) - 2) if elements(value) else '(empty)'}"
    return cut(pieces(value, digits), width)


def show_both(one: Plain, other: Plain, width: int = MAX_WIDTH) -> tuple[str, str]:
    """Two values, with all digits where they would look the same without, and with their types where that is all."""
    for digits in (DIGITS, ALL_DIGITS):
        shown = show(one, digits, width), show(other, digits, width)
        if shown[0] != shown[1]:
            return shown
    return (f"{shown[0]} ({kind(one)})", f"{shown[1]} ({kind(other)})") if type(one) is not type(other) else shown


def elements(value: Plain) -> int:
    """How many numbers a tensor or an array has; 0 for anything else."""
    return math.prod(value.shape) if is_tensor(value) or is_array(value) else 0


def cut(text: Iterable[str], width: int = MAX_WIDTH) -> str:
    """So many pieces of a text as fill a line."""
    found, most = "", max(width, LEAST_WIDTH)
    for piece in text:
        found += piece
        if len(found) > most:
            break
    return short(found, most)


def short(text: str, width: int = MAX_WIDTH) -> str:
    """Cut to the width of a line, between two items where there are any."""
    if len(text) <= width:
        return text
    items, comma, _ = text[: width - 2].rpartition(", ")
    return f"{items}{comma}…" if comma else f"{text[: width - 1]}…"
