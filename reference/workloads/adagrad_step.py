"""One step of AdaGrad for each call, timed beside one of SGD."""

from typing import Any

from torch import Tensor

from reference.workloads.optimizers import STRIDE, OptimizerCheck, OptimizerStep, each_steps, fractions, parameters
from torchkata import speed

EPSILON = 1e-5  # inside the root


class AdaGradCheck(OptimizerCheck):
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
        return -self.size.rate * grad / (self.g2[call].double() + EPSILON).sqrt()


class AdagradStep(OptimizerStep):
    """A step of AdaGrad takes not much longer than to read p, grad and g2 and to write p and g2."""

    check = AdaGradCheck
    same_as_baseline = False
    moves = 5
    flops = 7  # G + g·g, then p − lr·g / √(G + ε)
    needed = "read p, grad and g2, write p and g2"
    remedy = "Each operation on whole tensors reads and writes them anew: `addcmul_` and `addcdiv_` do two in one."

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """After a first step with the gradients that lie there now: the state is made, and no longer zero."""
        optimizers = [assignment.adagrad.AdaGrad([parameter], lr=size.rate) for parameter in parameters(memory)]
        each_steps(optimizers)
        return lambda: each_steps(optimizers)
