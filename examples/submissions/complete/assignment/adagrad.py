"""Kata 6: AdaGrad, the first optimizer with a memory."""

import torch


class AdaGrad(torch.optim.Optimizer):
    """Divides by the root of the sum of squares."""

    def __init__(self, params, lr: float = 0.01) -> None:
        super().__init__(params, dict(lr=lr))

    def step(self) -> None:
        """Add up, then move."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                grad = p.grad.data
                g2 = state.get("g2", torch.zeros_like(grad)) + grad**2
                state["g2"] = g2
                p.data -= group["lr"] * grad / torch.sqrt(g2 + 1e-5)
