"""Finds out whether an answer depends on uninitialized memory, such as that of `torch.empty`.

While a student's code runs, torch fills such memory with NaN, or with the largest integer (`inside/reply.py`).
"""

import math

import numpy as np

from torchkata.inside.probes import call_with_zeroed_memory
from torchkata.inside.values import Plain, is_array, is_tensor
from torchkata.seam.student import Call, Student


def depends_on_memory(call: Call, student: Student) -> bool:
    """Return whether NaN or the largest integer disappears from the answer if new memory is filled with zeros."""
    if not has_fill(call.answer):
        return False
    return not has_fill(
        student.call(call_with_zeroed_memory, call.probe.__module__, call.probe.__qualname__, *call.args)
    )


def has_fill(value: Plain) -> bool:
    """Return whether a value contains NaN or the largest integer of its dtype."""
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, (list, dict)):
        return any(map(has_fill, value.values() if isinstance(value, dict) else value))
    if is_tensor(value):
        if value.dtype.is_floating_point or value.dtype.is_complex:
            return bool(value.isnan().any())
        value = value.numpy()
    if not is_array(value) or value.dtype.kind == "b":
        return False
    return bool((value == np.iinfo(value.dtype).max).any() if value.dtype.kind in "iu" else np.isnan(value).any())
