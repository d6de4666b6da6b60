"""One step of training with its products in bfloat16."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "batch dim"],
    y: Float[Tensor, "batch"],
) -> Float[Tensor, ""]:
    """Descend the mean squared error once; return it as it was before."""
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        prediction = model(x)
    loss = (prediction.float() - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()
