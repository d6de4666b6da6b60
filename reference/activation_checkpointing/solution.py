"""A deep network that saves only the input of each segment and recomputes the segment in the backward pass."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    """A linear layer followed by ReLU."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim) / dim**0.5)

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        """Return `relu(x @ weight)`."""
        return torch.relu(x @ self.weight)


class DeepNetworkCheckpointed(nn.Module):
    """A stack of blocks that saves only the activations at segment boundaries."""

    def __init__(self, dim: int, num_layers: int, segment: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(dim) for _ in range(num_layers)])
        self.segment = segment

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        """Apply all blocks in order, one segment at a time."""
        for start in range(0, len(self.layers), self.segment):
            x = checkpoint(run, self.layers[start : start + self.segment], x, use_reentrant=False)
        return x


def best_segment(num_layers: int, per_block: int = 1) -> int:
    """Return the segment length that keeps the fewest activations in memory."""
    return min(range(1, num_layers + 1), key=lambda segment: -(-num_layers // segment) + per_block * segment)


def run(layers: Iterable[nn.Module], x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
    """Apply a sequence of blocks in order."""
    for layer in layers:
        x = layer(x)
    return x
