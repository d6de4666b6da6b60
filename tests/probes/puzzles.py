"""Probe for the puzzle that returns a module."""

from typing import Any

from torch import Tensor, nn

from torchkata import typed

from .loading import load


@typed(
    lambda n, channels, dim: "\n".join(
        [
            f"model = patch_embedding({n}, {channels}, {dim})",
            "model.load_state_dict({'1.weight': weight, '1.bias': bias})",
            "model(images)",
        ]
    )
)
def embed(
    assignment: Any, n: int, channels: int, dim: int, weight: Tensor, bias: Tensor, images: Tensor
) -> dict[str, object]:
    """Load a weight and a bias into the linear layer, and apply the module to images."""
    model = assignment.puzzles.patch_embedding(n, channels, dim)
    load(model, {"1.weight": weight, "1.bias": bias})
    return {"is a Sequential": isinstance(model, nn.Sequential), "y": model(images)}
