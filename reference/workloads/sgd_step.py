"""One step of SGD for each call."""

from typing import Any

from torch import Tensor

from reference.workloads.optimizers import SGD_MOVES, OptimizerCheck, OptimizerStep, each_steps, parameters
from torchkata import speed


class SGDCheck(OptimizerCheck):
    """p − lr · grad."""

    def change(self, call: int, grad: Tensor) -> Tensor:  # noqa: ARG002
        """What a step adds to the parameters."""
        return -self.size.rate * grad


class SgdStep(OptimizerStep):
    """A step of SGD takes little longer than to read p and grad and to write p."""

    check = SGDCheck
    roof = "bandwidth"
    moves = SGD_MOVES
    flops = 2  # p − lr·g
    needed = "read p and grad, write p"
    remedy = "`p.add_(grad, alpha=-lr)` makes no temporary; `p -= lr * grad` does."

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """Each with an optimizer and parameters of its own."""
        optimizers = [assignment.sgd.SGD([parameter], lr=size.rate) for parameter in parameters(memory)]
        return lambda: each_steps(optimizers)
