"""A linear layer's forward pass: one product for each call."""

import torch

from torchkata.speed.freivalds import floor, relative_error
from torchkata.speed.layout import Memory
from torchkata.speed.seeded import SeededInputs
from torchkata.speed.sizes import Size


class ProductCheck:
    """y = x @ weight.

    x: [calls, B, D]   weight: [D, K]   y: [calls, B, K]
    """

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.inputs = SeededInputs(memory["x"].device)
        self.floor = floor(memory["x"].dtype, size.width)

    def prepare(self) -> None:
        """The weight, which a layer has one of."""
        self.weight = self.inputs.fill(torch.empty_like(self.memory["weight"]))
        self.memory["weight"].copy_(self.weight)

    def begun(self) -> None:
        """Nothing to take in."""

    def refresh(self) -> None:
        """A new x for each call."""
        self.inputs.draw_new()
        for x in self.memory["x"]:
            self.inputs.fill(x)
        self.memory["y"].fill_(torch.nan)

    def error(self) -> float:
        """The largest of all calls."""
        self.inputs.rewind()
        x = torch.empty_like(self.memory["x"][0])
        return max(relative_error(self.inputs.fill(x), self.weight, y) for y in self.results["y"])
