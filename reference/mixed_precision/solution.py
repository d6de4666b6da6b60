"""A training step in mixed precision."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "batch dim"],
    y: Float[Tensor, "batch"],
) -> Float[Tensor, ""]:
    """Perform one training step with the forward pass in bfloat16, and return the loss before the step."""
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        prediction = model(x)
    loss = (prediction.float() - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()
