"""Replaces the student's `linear` in katas that build on it, if the student's version fails its tests."""

from torch import Tensor, nn


class Linear(nn.Module):
    """`x @ weight`."""

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        layer = nn.Linear(output_dim, input_dim, bias=False)
        nn.init.normal_(layer.weight, std=input_dim**-0.5)
        self.weight = layer.weight

    def forward(self, x: Tensor) -> Tensor:
        """Return `x @ weight`."""
        return nn.functional.linear(x, self.weight.t())
