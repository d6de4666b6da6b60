"""Steps of an optimizer, each with parameters and gradients of its own.

Whole numbers are drawn once; for each call of each block they are multiplied and shifted by new ones, modulo 2³², and
taken for fractions: that costs a pass over memory, and leaves nothing that is shared between calls or computed
beforehand. Results are checked at every STRIDE-th element from a place that nobody knows: whatever was left out, there
is some of it.
"""

import secrets
from typing import TypeAlias

import torch
from torch import Tensor

from torchkata.speed.layout import Memory
from torchkata.speed.seeded import SeededInputs
from torchkata.speed.sizes import Size

STRIDE = 16
EPSILON = 1e-5  # AdaGrad's, inside the root
BITS = 32

Key: TypeAlias = tuple[int, int]  # a factor, which is odd so that no two numbers become one, and a shift


class SGDCheck:
    """p − lr · grad.

    p: [calls, P]   grad: [calls, P]
    """

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.rate = size.rate
        generator = SeededInputs(memory["p"].device).generator
        self.p, self.grad = (
            torch.empty_like(memory["p"][0], dtype=torch.int32).random_(-(2**31), 2**31, generator=generator)
            for _ in range(2)
        )
        self.floor = 16 * torch.finfo(memory["p"].dtype).eps / self.rate

    def prepare(self) -> None:
        """Gradients for a step before the first block."""
        self.refresh()

    def begun(self) -> None:
        """Nothing to take in."""

    def refresh(self) -> None:
        """New parameters and gradients."""
        self.place = secrets.randbelow(min(STRIDE, self.p.numel()))
        calls = range(len(self.memory["p"]))
        self.p_keys, self.grad_keys = [new_key() for _ in calls], [new_key() for _ in calls]
        for call in calls:
            self.memory["p"][call].copy_(fractions(self.p, self.p_keys[call]))
            self.memory["grad"][call].copy_(fractions(self.grad, self.grad_keys[call]))

    def error(self) -> float:
        """The relative error of the change of all parameters that are looked at."""
        off = size = 0.0
        for call, found in enumerate(self.results["p"]):
            before = fractions(self.p[self.place :: STRIDE], self.p_keys[call]).double()
            change = self.change(call, fractions(self.grad[self.place :: STRIDE], self.grad_keys[call]).double())
            off += float((found[self.place :: STRIDE].double() - (before + change)).square().sum())
            size += float(change.square().sum())
        error = (off / size) ** 0.5
        return error if error == error else float("inf")

    def change(self, call: int, grad: Tensor) -> Tensor:  # noqa: ARG002  (AdaGrad looks back)
        """What a step adds to the parameters."""
        return -self.rate * grad


class AdaGradCheck(SGDCheck):
    """g2 + grad², then p − lr · grad / √(g2 + ε); the gradients of all blocks add up.

    So the place stays the same: what is in the state of others is not known.
    """

    def prepare(self) -> None:
        """Gradients for the step that makes the state."""
        self.g2: list[Tensor] = []
        super().prepare()

    def refresh(self) -> None:
        """What the last block saw stays in the state."""
        place = self.place if self.g2 else None
        super().refresh()
        self.place = self.place if place is None else place
        squares = [fractions(self.grad[self.place :: STRIDE], key).square() for key in self.grad_keys]
        self.g2 = [g2.add_(square) for g2, square in zip(self.g2, squares, strict=True)] if self.g2 else squares

    def change(self, call: int, grad: Tensor) -> Tensor:
        """What a step adds to the parameters."""
        return -self.rate * grad / (self.g2[call].double() + EPSILON).sqrt()


def new_key() -> Key:
    """Numbers that nobody could know before."""
    half = 2 ** (BITS - 1)
    return (secrets.randbits(BITS) | 1) - half, secrets.randbits(BITS) - half


def fractions(whole: Tensor, key: Key) -> Tensor:
    """In [−1, 1], other ones for each key.

    whole: int32[P]   returns: float32[P]
    """
    factor, shift = key
    return torch.mul(whole, factor).add_(shift).float().mul_(2.0 ** (1 - BITS))
