"""Values as a failure shows them: type and shape first, then as many numbers as fit."""

import math
from typing import Any

from .values import Opaque, Plain, is_array, is_tensor

MAX_ITEMS = 8
MAX_WIDTH = 160


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


def number(value: float) -> str:
    """Enough digits to tell apart what a float32 test tells apart."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return f"{value:.7g}" if math.isfinite(value) else str(value)


def numbers(value: Plain) -> str:
    """Nested lists of numbers, the long ones cut in the middle."""
    if isinstance(value, list):
        items = [numbers(item) for item in (value if len(value) <= MAX_ITEMS else value[: MAX_ITEMS - 2])]
        if len(value) > MAX_ITEMS:
            items += ["…", numbers(value[-1])]
        return f"[{', '.join(items)}]"
    return number(value)


def show(value: Plain) -> str:
    """A value on one line."""
    if is_tensor(value) or is_array(value):
        if elements(value) == 0:
            return f"{kind(value)}  (empty)"
        return f"{kind(value)}  {short(numbers(value.tolist()))}"
    if isinstance(value, list):
        return short(
            f"[{', '.join(show_item(item) for item in value[:MAX_ITEMS])}{', …' if len(value) > MAX_ITEMS else ''}]"
        )
    if isinstance(value, dict):
        return short(
            "{" + ", ".join(f"{key}: {show_item(item)}" for key, item in list(value.items())[:MAX_ITEMS]) + "}"
        )
    if isinstance(value, str):
        return short(repr(value))
    return kind(value) if isinstance(value, Opaque) else number(value)


def show_item(value: Plain) -> str:
    """A value within another: tensors by their kind alone."""
    return kind(value) if elements(value) > MAX_ITEMS else show(value)


def elements(value: Plain) -> int:
    """How many numbers a tensor or an array has; 0 for anything else."""
    return math.prod(value.shape) if is_tensor(value) or is_array(value) else 0


def short(text: str) -> str:
    """Cut to the width of a line."""
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 1] + "…"
