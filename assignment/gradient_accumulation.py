"""Training at scale: gradient accumulation, for a batch whose activations do not fit in memory."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def accumulate_gradients(
    model: nn.Module, x: Float[Tensor, "batch dim"], y: Float[Tensor, "batch"], micro_batch_size: int
) -> Float[Tensor, ""]:
    """Leave the gradients of the whole batch in `p.grad`, with the activations of one micro-batch at a time.

    The loss is the mean over the batch of `(model(x) - y) ** 2`, as in `train`; `model` maps (rows, dim) to (rows,).
    Cut the batch into as few micro-batches of at most `micro_batch_size` rows as it takes, and call the model once
    for each, forward and backward, before the next one: then the activations of that one can go. `backward()` adds
    to `p.grad`, and the gradient of a sum is the sum of the gradients.

    A mean over the batch is not the mean of the micro-batches' means: each counts by its share of the rows, and the
    last one may be smaller. The gradients that were there before are added to, as `backward()` does.

    Return the loss of the whole batch, without a graph.

    Example:
        model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Flatten(0))     # multiplies by w
        w = model[0].weight
        nn.init.zeros_(w)
        x, y = torch.ones(5, 1), torch.tensor([1.0, 1.0, 1.0, 1.0, 6.0])
        accumulate_gradients(model, x, y, micro_batch_size=2)     # 8.0 = (1 + 1 + 1 + 1 + 36) / 5: the loss
        w.grad     # -4.0 = (2 * -2 + 2 * -2 + 1 * -12) / 5: as of all five rows at once;
                   # the means -2, -2 and -12 on equal terms would make it -5.33

    The optimizer's step and `zero_grad()` are the caller's, once for each batch. With 8 of 1024 rows at a time,
    activations take 1/128 of the whole batch's memory, for the same gradients.
    `micro_batch_size` may be larger than the batch. Parameters that need no gradient get none; nothing else changes.
    Left to you: how even the cuts are, a loss as a float or a detached tensor, a batch without rows.
    """
    raise NotImplementedError
