"""Takes the place of `linear` while what builds on it is graded."""

from torch import Tensor, nn


class Linear(nn.Module):
    """A linear map whose weight is (input_dim, output_dim)."""

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        made = nn.Linear(output_dim, input_dim, bias=False)
        nn.init.normal_(made.weight, std=input_dim**-0.5)
        self.weight = made.weight

    def forward(self, x: Tensor) -> Tensor:
        """Torch's own product."""
        return nn.functional.linear(x, self.weight.t())
