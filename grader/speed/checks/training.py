"""Training steps of a deep linear model, replayed in float64 without any product of two matrices.

The model maps to one number, so the gradient of every weight is an outer product of two vectors, and what a step does
to all of the weights takes O(B D + L D²) operations to find out. With v_l = W_{l+1} … W_L w the rest of the model from
layer l on, r = 2 (x v_0 − target) / B and u_l = W_lᵀ … W_1ᵀ xᵀ r, the gradient of W_l is u_{l−1} v_lᵀ, and that of the
final weight w is u_L.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from torchkata.speed.freivalds import floor
from torchkata.speed.layout import Memory
from torchkata.speed.seeded import SeededInputs
from torchkata.speed.sizes import Size


@dataclass
class Weights:
    """float64 copies.

    layers: [L, D, D]   final: [D, 1]
    """

    layers: Tensor
    final: Tensor

    @classmethod
    def of(cls, layers: Tensor, final: Tensor) -> "Weights":
        """Copies of any dtype."""
        return cls(layers.to(torch.float64, copy=True), final.to(torch.float64, copy=True))

    def step(self, x: Tensor, target: Tensor, rate: float) -> None:
        """Descend the mean squared error of one batch.

        x: [B, D]   target: [B]
        """
        x, target = x.double(), target.double()
        rest = [self.final.squeeze(-1)]
        for weight in self.layers.flip(0):
            rest.append(weight @ rest[-1])
        back = x.T @ ((x @ rest.pop() - target) * (2 / len(x)))
        for weight in self.layers:
            onward = weight.T @ back
            weight.addr_(back, rest.pop(), alpha=-rate)
            back = onward
        self.final.sub_(back.unsqueeze(-1), alpha=rate)

    def error(self, start: "Weights", layers: Tensor, final: Tensor) -> float:
        """How far off the change of a weight is, relative to it: the largest of all; `self` is what is right."""
        pairs = [*zip(self.layers, start.layers, layers, strict=True), (self.final, start.final, final)]
        return max(relative(found.double() - right, right - before) for right, before, found in pairs)


def relative(difference: Tensor, change: Tensor) -> float:
    """Norm by norm; infinite for what is no number, and where nothing had to change."""
    off, size = float(difference.square().sum()), float(change.square().sum())
    return math.sqrt(off / size) if size > 0 and math.isfinite(off) else math.inf


class TrainingCheck:
    """Steps that follow each other, from the start that the worker has chosen, as a student's `train` does."""

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.size = size
        self.inputs = SeededInputs(memory["x"].device)
        self.floor = self.least_error()

    def least_error(self) -> float:
        """What rounding does to the change of the weights: that of the weights, and that of the products on the way.

        A step changes weights by about `rate / √D` of their size. Products are summed in float32, 2 L one after the
        other, whose errors know nothing of each other.
        """
        smallest_change = self.size.rate / math.sqrt(self.size.width)
        of_weights = torch.finfo(self.memory["x"].dtype).eps / min(1.0, smallest_change)
        return of_weights + floor(torch.float32, self.size.width) * math.sqrt(2 * self.size.layers)

    def prepare(self) -> None:
        """Nothing stays the same but what the worker will choose."""
        self.spoil()

    def begun(self) -> None:
        """The start."""
        self.start = Weights.of(self.memory["layers"], self.memory["final"])

    def refresh(self) -> None:
        """A new batch for each step."""
        self.inputs.draw_new()
        for x, target in zip(self.memory["x"], self.memory["target"], strict=True):
            self.inputs.fill(x)
            self.inputs.fill(target)
        self.spoil()

    def spoil(self) -> None:
        """No result is there yet."""
        for name in ("new_layers", "new_final"):
            self.memory[name].fill_(torch.nan)

    def batches(self) -> list[tuple[Tensor, Tensor]]:
        """The batches again, as they were laid out."""
        self.inputs.rewind()
        x, target = self.memory["x"][0], self.memory["target"][0]
        return [
            (self.inputs.fill(torch.empty_like(x)), self.inputs.fill(torch.empty_like(target)))
            for _ in self.memory["x"]
        ]

    def error(self) -> float:
        """Of the weights after the last step."""
        batches = self.batches()
        if not self.a_fair_start() or not self.untouched(batches):
            return math.inf
        right = Weights.of(self.start.layers, self.start.final)
        for x, target in batches:
            right.step(x, target, self.size.rate)
        return right.error(self.start, self.results["new_layers"], self.results["new_final"])

    def a_fair_start(self) -> bool:
        """Whether the weights have the size that `linear` asks for: from zeros, say, nothing would have to be done."""
        allowed = (*((layer, 0.1) for layer in self.start.layers), (self.start.final, 0.5))
        return all(abs(float(weight.std()) * self.size.width**0.5 - 1) < slack for weight, slack in allowed)

    def untouched(self, batches: list[tuple[Tensor, Tensor]]) -> bool:
        """Whether the inputs are what they were: they are no room for anything else, which would not be counted."""
        return all(torch.equal(x, found) for (x, _), found in zip(batches, self.memory["x"], strict=True))


class StepCheck(TrainingCheck):
    """One step for each call, each from weights that are given."""

    def prepare(self) -> None:
        """The weights."""
        for name in ("layers", "final"):
            self.inputs.fill(self.memory[name]).mul_(3**0.5 * self.size.width**-0.5)
        super().prepare()

    def error(self) -> float:
        """The largest of all calls."""
        errors = []
        results = zip(self.batches(), self.results["new_layers"], self.results["new_final"], strict=True)
        for (x, target), layers, final in results:
            right = Weights.of(self.start.layers, self.start.final)
            right.step(x, target, self.size.rate)
            errors.append(right.error(self.start, layers, final))
        return max(errors)
