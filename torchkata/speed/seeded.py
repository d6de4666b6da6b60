"""Random inputs that can't be predicted: the seed of each block is drawn just before the block."""

import secrets

import torch
from torch import Tensor


class SeededInputs:
    """A random generator that can be rewound, so that inputs can be regenerated to check results."""

    def __init__(self, device: torch.device) -> None:
        self.generator = torch.Generator(device)
        self.draw_new()

    def draw_new(self) -> None:
        """Draw a new seed."""
        self.seed = secrets.randbits(62)
        self.rewind()

    def rewind(self) -> None:
        """Restart the same sequence of numbers."""
        self.generator.manual_seed(self.seed)

    def fill(self, tensor: Tensor) -> Tensor:
        """Fill a tensor with the next numbers, uniform in [−1, 1)."""
        return tensor.uniform_(-1, 1, generator=self.generator)
