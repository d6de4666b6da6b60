"""Numbers that nobody could know before: each block's inputs come from a seed that is drawn when the block is."""

import secrets

import torch
from torch import Tensor


class SeededInputs:
    """Draws the same numbers again when it is rewound, so that inputs need not be kept to check what came of them."""

    def __init__(self, device: torch.device) -> None:
        self.generator = torch.Generator(device)
        self.draw_new()

    def draw_new(self) -> None:
        """Begin new numbers."""
        self.seed = secrets.randbits(62)
        self.rewind()

    def rewind(self) -> None:
        """Begin the same numbers again."""
        self.generator.manual_seed(self.seed)

    def fill(self, tensor: Tensor) -> Tensor:
        """The next numbers, uniform in [−1, 1)."""
        return tensor.uniform_(-1, 1, generator=self.generator)
