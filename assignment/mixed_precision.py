"""Mixed precision: run matrix multiplications in bfloat16 and everything else in float32."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "batch dim"],
    y: Float[Tensor, "batch"],
) -> Float[Tensor, ""]:
    """Perform one training step with matrix multiplications in bfloat16, and return the loss before the update.

    bfloat16 has float32's range, but 8 bits of precision instead of 24. That is enough for matrix multiplications, but
    too little for accumulating many small updates. Therefore:
    - every matrix multiplication in the forward pass of `model` returns bfloat16;
    - the loss, the mean over the batch of `(model(x) - y) ** 2`, is computed in float32, from float32 targets;
    - parameters, gradients, optimizer state and the update stay in float32.

    Example:
        model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Flatten(0))     # multiplies by w
        w = nn.init.ones_(model[0].weight)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0005)
        train_step(model, optimizer, torch.ones(1, 1), torch.zeros(1))     # 1.0: the loss; the gradient is 2.0
        w     # 0.999: in bfloat16, whose next number below 1 is 0.9961, it would still be 1.0

    Details:
    - Zero the gradients, call `backward()`, and call `optimizer.step()` once. Detach the loss that you return.
    - `x`, `y` and the parameters are float32; `model` maps (rows, dim) to (rows,); `optimizer` has all of
      the model's parameters.
    - Inside a `with` block, `torch.autocast` casts the inputs of matmuls, not the parameters. (On a GPU, it keeps exp
      and softmax in float32.) Pass `x` to `model` as it is: a model may begin with another operation, such as
      `x - 256`.
    - float16 has a smaller range: gradients of magnitude up to 2**-24 / 2 = 2.98e-8 become 0, so training in float16
      needs loss scaling.

    Not specified (any choice is fine): whether the loss is a float or a detached tensor; the precision of the backward
    pass between the loss and the gradients; whether gradients are zeroed with `None` or with zeros.
    """
    raise NotImplementedError
