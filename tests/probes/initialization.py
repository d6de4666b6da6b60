"""Probes for initialization."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .default_dtype import default_dtype


@typed("torch.manual_seed(seed)\n[xavier_truncated_normal(input_dim, output_dim) for _ in range(count)]")
def weights(assignment: Any, input_dim: int, output_dim: int, count: int, seed: int) -> dict[str, object]:
    """Draw `count` consecutive weights and return them along with the torch seed."""
    torch.default_generator.manual_seed(seed)
    drawn = [assignment.initialization.xavier_truncated_normal(input_dim, output_dim) for _ in range(count)]
    return {"weights": drawn, "seed": torch.initial_seed()}


@typed("torch.set_default_dtype(getattr(torch, dtype))\nxavier_truncated_normal(input_dim, output_dim)")
def anatomy(assignment: Any, input_dim: int, output_dim: int, dtype: str) -> dict[str, object]:
    """Return the type, shape and dtype of a new weight."""
    with default_dtype(dtype):
        weight = assignment.initialization.xavier_truncated_normal(input_dim, output_dim)
    return {
        "is an nn.Parameter": isinstance(weight, nn.Parameter),
        "requires grad": isinstance(weight, Tensor) and weight.requires_grad,
        "shape": list(weight.shape) if isinstance(weight, Tensor) else None,
        "dtype": str(weight.dtype) if isinstance(weight, Tensor) else None,
    }
