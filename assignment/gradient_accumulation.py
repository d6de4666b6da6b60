"""Gradient accumulation: compute the gradients of a large batch with the memory of a small one."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def accumulate_gradients(
    model: nn.Module, x: Float[Tensor, "batch dim"], y: Float[Tensor, "batch"], micro_batch_size: int
) -> Float[Tensor, ""]:
    """Accumulate the gradients of the whole batch in `p.grad`, one micro-batch at a time, and return the loss.

    The loss is the mean over the batch of `(model(x) - y) ** 2`; `model` maps (rows, dim) to (rows,). Split the batch
    into as few micro-batches of at most `micro_batch_size` rows as possible. For each micro-batch, call the model once,
    then run the backward pass before the next micro-batch, so that the activations can be freed.

    Weight each micro-batch by its number of rows, since the last micro-batch may be smaller.

    Example:
        model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Flatten(0))     # multiplies by w
        w = model[0].weight
        nn.init.zeros_(w)
        x, y = torch.ones(5, 1), torch.tensor([1.0, 1.0, 1.0, 1.0, 6.0])
        accumulate_gradients(model, x, y, micro_batch_size=2)     # 8.0 = (1 + 1 + 1 + 1 + 36) / 5: the loss
        w.grad     # -4.0 = (2 * -2 + 2 * -2 + 1 * -12) / 5: the unweighted mean of -2, -2 and -12 would be -5.33

    Details:
    - Add the new gradients to the existing ones, as `backward()` does. Leave `zero_grad()` and the optimizer's step to
      the caller.
    - The returned loss and the gradients are detached from the autograd graph.
    - `micro_batch_size` may be larger than the batch.
    - Frozen parameters do not receive a gradient. Do not change the weights, the batch or `model.training`.

    Not specified (any choice is fine): how evenly the batch is split; whether the loss is a float or a detached tensor;
    the result for an empty batch.
    """
    raise NotImplementedError
