"""Gradient accumulation."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def accumulate_gradients(
    model: nn.Module, x: Float[Tensor, "batch dim"], y: Float[Tensor, "batch"], micro_batch_size: int
) -> Float[Tensor, ""]:
    """Add the gradients of the mean squared error over the batch to `p.grad`, and return the error."""
    total = torch.zeros((), dtype=y.dtype, device=y.device)
    for part_x, part_y in zip(torch.split(x, micro_batch_size), torch.split(y, micro_batch_size), strict=True):
        loss = (model(part_x) - part_y).square().sum() / len(y)
        loss.backward()
        total += loss.detach()
    return total
