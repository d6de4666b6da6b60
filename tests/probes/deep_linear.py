"""A deep linear model for probes that records how it is called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Pass:
    """One call of the model: its number of rows, the dtype of each matmul, and the autocast dtype for CUDA."""

    rows: int
    products: list[str]
    cuda_dtype: torch.dtype


class DeepLinear(nn.Module):
    """The model `x @ W₀ @ W₁ … @ w`. The class stores the calls, so that calls of a copy are also recorded."""

    passes: ClassVar[list[Pass]] = []

    def __init__(self, weights: Sequence[Tensor]) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(weight.clone()) for weight in weights])
        DeepLinear.passes.clear()

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by all weights in order."""
        rows, products = len(x), []
        for weight in self.weights:
            x = x @ weight
            products.append(str(x.dtype).removeprefix("torch."))
        DeepLinear.passes.append(Pass(rows, products, torch.get_autocast_dtype("cuda")))
        return x.squeeze(-1)
