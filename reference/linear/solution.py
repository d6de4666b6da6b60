"""Reference solution for linear."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Module):
    """`x @ weight`, initialized so that the outputs are about as large as the inputs."""

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(input_dim, output_dim) / input_dim**0.5)

    def forward(self, x: Float[Tensor, "... input_dim"]) -> Float[Tensor, "... output_dim"]:
        """Return `x @ weight`."""
        return x @ self.weight
