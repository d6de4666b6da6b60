"""A deep linear model for probes that records how it is called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Pass:
    """One call of the model: its input, the dtype of each matmul, and the autocast dtype for CUDA."""

    x: Tensor
    products: list[str]
    cuda_dtype: torch.dtype


class DeepLinear(nn.Module):
    """The model `(x - shift) @ W₀ @ W₁ … @ w`. The class stores calls, also those of a copy."""

    passes: ClassVar[list[Pass]] = []

    def __init__(self, weights: Sequence[Tensor], shift: float = 0.0) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(weight.clone()) for weight in weights])
        self.shift = shift
        DeepLinear.passes.clear()

    def forward(self, x: Tensor) -> Tensor:
        """Subtract the shift, and multiply by all weights in order."""
        given, products = x.detach(), []
        x = x - self.shift if self.shift else x
        for weight in self.weights:
            x = x @ weight
            products.append(str(x.dtype).removeprefix("torch."))
        DeepLinear.passes.append(Pass(given, products, torch.get_autocast_dtype("cuda")))
        return x.squeeze(-1)
