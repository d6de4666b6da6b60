"""Training at scale: mixed precision, products in bfloat16, and all that must not be rounded in float32."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "batch dim"],
    y: Float[Tensor, "batch"],
) -> Float[Tensor, ""]:
    """Take one step of training with the forward pass in bfloat16, and return the loss before it, without a graph.

    bfloat16 has float32's range and 8 bits of precision in place of 24. Activations in it take half the memory, and a
    GPU with units for it multiplies matrices many times as fast. (Weights, gradients and optimizer state stay as large
    as before, and the bfloat16 copies of the weights that `torch.autocast` makes come on top. A CPU without such units
    can be slower in bfloat16.) It is good enough for products, and too coarse for adding up many small changes. So
    - every matrix multiplication in the forward pass of `model` has its result in bfloat16;
    - the loss, the mean over the batch of `(model(x) - y) ** 2`, is computed in float32, from targets in float32;
    - parameters, their gradients and the optimizer's state are float32, and so is the update. Set the gradients to
      zero, go backward, and call `optimizer.step()` once.

    `x`, `y` and the parameters come in float32; `model` maps (rows, dim) to (rows,), `optimizer` holds its parameters.
    `torch.autocast` casts within a `with` block, and leaves the parameters alone; casting by hand is as good. On a GPU
    it computes exp, softmax and losses in float32, too. (Other recipes keep the parameters and their gradients in
    bfloat16. With Adam's state in float32 these are 2 + 2 + 8 bytes for each parameter; the risk is that small steps
    are rounded away. A float32 copy of the parameters, which the optimizer moves, avoids it for 4 bytes more; see
    `memory_accounting`.)

    Example:
        model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Flatten(0))     # multiplies by w
        w = nn.init.ones_(model[0].weight)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0005)
        train_step(model, optimizer, torch.ones(1, 1), torch.zeros(1))     # 1.0: the loss; the gradient is 2.0
        w     # 0.999: in bfloat16, whose next number below 1 is 0.9961, it would still be 1.0

    float16 has more precision and a smaller range: gradients up to 2**-24 / 2 = 2.98e-8 become 0, and so
    losses are scaled up for it (see `floating_point`). bfloat16 needs no scaling.
    Left to you: the loss as a float or a detached tensor, the precision of the backward pass between loss and
    gradients, gradients that are zeroed with `None` or zeros.
    """
    raise NotImplementedError
