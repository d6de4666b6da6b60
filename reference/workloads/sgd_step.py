"""Times one SGD step per call."""

from typing import Any

from torch import Tensor

from reference.workloads.optimizers import SGD_MOVES, OptimizerCheck, OptimizerStep, parameters, step_all
from torchkata import Text, speed


class SGDCheck(OptimizerCheck):
    """Checks `p − lr · grad`."""

    def change(self, call: int, grad: Tensor) -> Tensor:  # noqa: ARG002
        """Return the change that a step makes to the parameters."""
        return -self.size.rate * grad


class SgdStep(OptimizerStep):
    """An SGD step is limited by reading p and grad and writing p."""

    check = SGDCheck
    moves = SGD_MOVES
    needed = Text("read p and grad, write p")
    remedy = Text("`p -= lr * grad` allocates a temporary; `p.add_(grad, alpha=-lr)` does not.")

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """Return a function that runs a block of steps, with one optimizer per step."""
        optimizers = [assignment.sgd.SGD([parameter], lr=size.rate) for parameter in parameters(memory)]
        return lambda: step_all(optimizers)
