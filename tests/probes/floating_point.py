"""Probes for floating_point that receive dtypes by name."""

from typing import Any

import torch

from torchkata import typed

from .sequences import make


@typed(lambda value, dtypes, literal: "\n".join(f"underflows({literal(value)}, torch.{name})" for name in dtypes))
def underflows(assignment: Any, value: float, dtypes: list[str]) -> dict[str, object]:
    """Call `underflows` for each dtype."""
    return {name: assignment.floating_point.underflows(value, getattr(torch, name)) for name in dtypes}


@typed(lambda dtype: f"largest(torch.{dtype})")
def largest(assignment: Any, dtype: str) -> object:
    """Call `largest`."""
    return assignment.floating_point.largest(getattr(torch, dtype))


@typed(lambda shape, dtype, kind: f"storage_bytes({make(kind, shape)}, torch.{dtype})")
def storage_bytes(assignment: Any, shape: list[int], dtype: str, kind: str) -> object:
    """Call `storage_bytes` with a shape of the given sequence type."""
    return assignment.floating_point.storage_bytes(make(kind, shape), getattr(torch, dtype))
