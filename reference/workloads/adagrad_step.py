"""Times one AdaGrad step per call, and compares it with an SGD step."""

from typing import Any

from torch import Tensor

from reference.workloads.optimizers import STRIDE, OptimizerCheck, OptimizerStep, fractions, parameters, step_all
from torchkata import Text, speed

EPSILON = 1e-5  # added under the square root


class AdaGradCheck(OptimizerCheck):
    """Checks `g2 + grad²` and `p − lr · grad / √(g2 + ε)`, where g2 accumulates over all blocks.

    The same elements are checked in every block because g2 is known only for these.
    """

    def prepare(self) -> None:
        """Draw the gradients of the initial step, which creates the optimizer's state."""
        self.g2: list[Tensor] = []
        super().prepare()

    def begun(self) -> None:
        """Set g2 as the initial step does."""
        self.g2 = self.squares()

    def refresh(self) -> None:
        """Draw new inputs. Until a block has used them, they can be drawn again."""
        place = self.place if self.g2 else None
        super().refresh()
        self.place = self.place if place is None else place
        self.is_counted = False

    def error(self) -> float:
        """Add the gradients of the block to g2, and return the relative error of the update."""
        if not self.is_counted:
            self.g2 = [g2.add_(square) for g2, square in zip(self.g2, self.squares(), strict=True)]
            self.is_counted = True
        return super().error()

    def squares(self) -> list[Tensor]:
        """Return the squares of the checked gradients of each call."""
        return [fractions(self.grad[self.place :: STRIDE], key).square() for key in self.grad_keys]

    def change(self, call: int, grad: Tensor) -> Tensor:
        """Return the change that a step makes to the parameters."""
        return -self.size.rate * grad / (self.g2[call].double() + EPSILON).sqrt()


class AdagradStep(OptimizerStep):
    """An AdaGrad step is limited by reading p, grad and g2 and writing p and g2."""

    check = AdaGradCheck
    same_as_baseline = False
    moves = 5
    states = 1
    needed = Text("read p, grad and g2, write p and g2")
    remedy = Text("Every operation reads and writes whole tensors: `addcmul_` and `addcdiv_` combine two operations.")

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """Take an initial step, which creates the state, and return a function that runs a block of further steps."""
        optimizers = [assignment.adagrad.AdaGrad([parameter], lr=size.rate) for parameter in parameters(memory)]
        step_all(optimizers)
        return lambda: step_all(optimizers)
