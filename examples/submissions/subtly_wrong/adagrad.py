"""Kata 6: AdaGrad, an optimizer with state."""

import torch


class AdaGrad(torch.optim.Optimizer):
    """Divide by the root of the sum of squared gradients."""

    def __init__(self, params, lr: float = 0.01) -> None:
        super().__init__(params, dict(lr=lr))

    def step(self) -> None:
        """Accumulate squares, then update."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                grad = p.grad.data
                g2 = state.get("g2", torch.zeros_like(grad)) + grad**2
                state["g2"] = g2
                p.data -= group["lr"] * grad / (torch.sqrt(g2) + 1e-5)
