"""Kata 5: stochastic gradient descent, as a torch optimizer."""

import torch


class SGD(torch.optim.Optimizer):
    """Gradient descent: `p ← p − lr · grad`."""

    def __init__(self, params, lr: float = 0.01) -> None:
        super().__init__(params, dict(lr=lr))

    def step(self) -> None:
        """Update each group with its own learning rate."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.data -= group["lr"] * p.grad.data
