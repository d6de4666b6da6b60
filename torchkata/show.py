"""Values as a failure shows them: type and shape first, then as many numbers as fit."""

import math
from typing import Any

from .values import Opaque, Plain, is_array, is_tensor

MAX_ITEMS = 8
MAX_WIDTH = 160
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


def numbers(value: Plain, digits: int = DIGITS) -> str:
    """Nested lists of numbers, the long ones cut in the middle."""
    if isinstance(value, list):
        items = [numbers(item, digits) for item in (value if len(value) <= MAX_ITEMS else value[: MAX_ITEMS - 2])]
        if len(value) > MAX_ITEMS:
            items += ["…", numbers(value[-1], digits)]
        return f"[{', '.join(items)}]"
    return number(value, digits)


def show(value: Plain, digits: int = DIGITS) -> str:
    """A value on one line."""
    if is_tensor(value) or is_array(value):
        if elements(value) == 0:
            return f"{kind(value)}  (empty)"
        return f"{kind(value)}  {short(numbers(value.tolist(), digits))}"
    if isinstance(value, list):
        items = ", ".join(show_item(item, digits) for item in value[:MAX_ITEMS])
        return short(f"[{items}{', …' if len(value) > MAX_ITEMS else ''}]")
    if isinstance(value, dict):
        items = ", ".join(f"{key}: {show_item(item, digits)}" for key, item in list(value.items())[:MAX_ITEMS])
        return short(f"{{{items}}}")
    if isinstance(value, str):
        return short(repr(value))
    return kind(value) if isinstance(value, Opaque) else number(value, digits)


def show_both(one: Plain, other: Plain) -> tuple[str, str]:
    """Two values, with all digits where they would look the same without, and with their types where that is all."""
    for digits in (DIGITS, ALL_DIGITS):
        shown = show(one, digits), show(other, digits)
        if shown[0] != shown[1]:
            return shown
    return (f"{shown[0]} ({kind(one)})", f"{shown[1]} ({kind(other)})") if type(one) is not type(other) else shown


def show_item(value: Plain, digits: int = DIGITS) -> str:
    """A value within another: tensors by their kind alone."""
    return kind(value) if elements(value) > MAX_ITEMS else show(value, digits)


def elements(value: Plain) -> int:
    """How many numbers a tensor or an array has; 0 for anything else."""
    return math.prod(value.shape) if is_tensor(value) or is_array(value) else 0


def short(text: str) -> str:
    """Cut to the width of a line."""
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 1] + "…"
