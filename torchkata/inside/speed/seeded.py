"""Random inputs that cannot be predicted, because a new seed is drawn immediately before each block."""

import secrets

import torch
from torch import Tensor


class SeededInputs:
    """A random generator that can be rewound, so that the check of the results can generate the same inputs again."""

    def __init__(self, device: torch.device) -> None:
        self.generator = torch.Generator(device)
        self.draw_new()

    def draw_new(self) -> None:
        """Draw a new seed."""
        self.seed = secrets.randbits(62)
        self.rewind()

    def rewind(self) -> None:
        """Restart the sequence of random numbers."""
        self.generator.manual_seed(self.seed)

    def fill(self, tensor: Tensor) -> Tensor:
        """Fill a tensor with the next random numbers, uniformly distributed in [−1, 1)."""
        return tensor.uniform_(-1, 1, generator=self.generator)
