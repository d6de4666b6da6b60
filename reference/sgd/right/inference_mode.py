"""Multiplies all gradients of a group by -lr as one flat vector, in inference mode."""

import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.inference_mode()
    def step(self):
        for group in self.param_groups:
            moving = [p for p in group["params"] if p.grad is not None]
            if not moving:
                continue
            flat = torch.cat([p.grad.reshape(-1) for p in moving]) * -group["lr"]
            for p, part in zip(moving, flat.split([p.numel() for p in moving]), strict=True):
                p.add_(part.view(p.shape))
