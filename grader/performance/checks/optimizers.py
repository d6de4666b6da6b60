"""Steps of an optimizer, each with parameters and gradients of its own.

They are drawn once; for each block they are scaled and shifted by new numbers, which costs a pass over memory and
leaves nothing to be computed beforehand. Results are checked at every STRIDE-th element from a place that is drawn
after the block: whatever was left out, there is some of it.
"""

import secrets

import torch
from torch import Tensor

from grader.performance.checks.nonce import Nonce
from kata.speed.layout import Memory
from kata.speed.sizes import Size

STRIDE = 16
EPSILON = 1e-5  # AdaGrad's, inside the root


class SGDCheck:
    """p − lr · grad.

    p: [calls, P]   grad: [calls, P]
    """

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.rate = size.rate
        self.nonce = Nonce(memory["p"].device)
        self.p, self.grad = (self.nonce.fill(torch.empty_like(memory["p"][0])) for _ in range(2))
        self.floor = 16 * torch.finfo(self.p.dtype).eps / self.rate

    def prepare(self) -> None:
        """Gradients for a step before the first block."""
        self.refresh()

    def begun(self) -> None:
        """Nothing to take in."""

    def refresh(self) -> None:
        """New parameters and gradients."""
        calls = len(self.memory["p"])
        self.scale, self.shift = self.numbers(calls), self.numbers(calls)
        self.grad_scale = self.numbers(calls)
        for p, grad, *numbers in zip(
            self.memory["p"], self.memory["grad"], self.scale, self.shift, self.grad_scale, strict=True
        ):
            scale, shift, grad_scale = numbers
            torch.mul(self.p, scale, out=p).add_(shift)
            torch.mul(self.grad, grad_scale, out=grad)

    def numbers(self, count: int) -> list[float]:
        """Fresh ones, of either sign, neither large nor small."""
        chance = secrets.SystemRandom()
        return [chance.choice((-1, 1)) * chance.uniform(0.5, 1.5) for _ in range(count)]

    def error(self) -> float:
        """The relative error of the change of all parameters that are looked at."""
        place = secrets.randbelow(min(STRIDE, self.p.numel()))
        off = size = 0.0
        for call, found in enumerate(self.results["p"]):
            before = (self.p[place::STRIDE] * self.scale[call]).add_(self.shift[call]).double()
            grad = (self.grad[place::STRIDE] * self.grad_scale[call]).double()
            change = self.change(call, grad, place)
            off += float((found[place::STRIDE].double() - (before + change)).square().sum())
            size += float(change.square().sum())
        error = (off / size) ** 0.5
        return error if error == error else float("inf")

    def change(self, call: int, grad: Tensor, place: int) -> Tensor:  # noqa: ARG002  (AdaGrad looks back)
        """What a step adds to the parameters."""
        return -self.rate * grad


class AdaGradCheck(SGDCheck):
    """g2 + grad², then p − lr · grad / √(g2 + ε); the gradients of all blocks add up."""

    def prepare(self) -> None:
        """Gradients for the step that makes the state."""
        self.squares: list[float] = []
        super().prepare()

    def refresh(self) -> None:
        """What the last block saw stays in the state."""
        super().refresh()
        squares = [scale**2 for scale in self.grad_scale]
        self.squares = [a + b for a, b in zip(self.squares or [0.0] * len(squares), squares, strict=True)]

    def change(self, call: int, grad: Tensor, place: int) -> Tensor:
        """What a step adds to the parameters."""
        g2 = self.grad[place::STRIDE].double().square() * self.squares[call]
        return -self.rate * grad / (g2 + EPSILON).sqrt()
