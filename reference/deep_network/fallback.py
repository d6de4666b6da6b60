"""Takes the place of `deep_network` while what builds on it is graded."""

from torch import Tensor, nn


class Block(nn.Module):
    """A linear map without bias, then a ReLU."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        made = nn.Linear(dim, dim, bias=False)
        nn.init.normal_(made.weight, std=dim**-0.5)
        self.weight = made.weight

    def forward(self, x: Tensor) -> Tensor:
        """Torch's own functions."""
        return nn.functional.relu(nn.functional.linear(x, self.weight.t()))


class DeepNetwork(nn.Module):
    """Blocks in an `nn.ModuleList`."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(dim) for _ in range(num_layers))

    def forward(self, x: Tensor) -> Tensor:
        """One after the other."""
        for layer in self.layers:
            x = layer(x)
        return x
