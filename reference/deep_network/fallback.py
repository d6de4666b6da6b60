"""Replaces the student's `deep_network` in katas that build on it, if the student's version fails its tests."""

from torch import Tensor, nn


class Block(nn.Module):
    """`relu(x @ weight)`."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        layer = nn.Linear(dim, dim, bias=False)
        nn.init.normal_(layer.weight, std=dim**-0.5)
        self.weight = layer.weight

    def forward(self, x: Tensor) -> Tensor:
        """Return `relu(x @ weight)`."""
        return nn.functional.relu(nn.functional.linear(x, self.weight.t()))


class DeepNetwork(nn.Module):
    """Blocks in an `nn.ModuleList`."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(dim) for _ in range(num_layers))

    def forward(self, x: Tensor) -> Tensor:
        """Apply all blocks in order."""
        for layer in self.layers:
            x = layer(x)
        return x
