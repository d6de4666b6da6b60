"""The backward pass of a linear layer."""

import torch
from jaxtyping import Float
from torch import Tensor


def linear_backward(
    x: Float[Tensor, "... input_dim"], w: Float[Tensor, "input_dim output_dim"], grad_y: Float[Tensor, "... output_dim"]
) -> tuple[Float[Tensor, "... input_dim"], Float[Tensor, "input_dim output_dim"]]:
    """Return the gradients of a loss with respect to `x` and `w`, given its gradient with respect to `y = x @ w`.

    Every `x[..., i]` contributes to every `y[..., o]` through `w[i, o]`, so by the chain rule

        grad_x[..., i] = sum over o of      grad_y[..., o] * w[i, o]
        grad_w[i, o]   = sum over ... of    x[..., i] * grad_y[..., o]

    Each gradient is the result of one matrix multiplication with as many FLOPs as the forward pass, so the backward
    pass takes twice as many FLOPs.

    Example:
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])          # two rows of two inputs
        w = torch.tensor([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
        grad_y = torch.tensor([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
        grad_x, grad_w = linear_backward(x, w, grad_y)
        grad_x                                              # [[0, 3], [-2, 1]]
        grad_w                                              # [[1, 4, 7], [2, 6, 10]]

    Details:
    - `x` can have any number of leading dimensions (including zero), each of any size. `grad_w` is summed over all of
      them.
    - Return a tuple, in the dtype of the inputs.
    - Compute the gradients by hand, without autograd, because the function must work under `torch.inference_mode()`.
    - Do not modify the arguments, their shapes, their .grad or their requires_grad.
    - `x` and `grad_y` need not be contiguous. Gradients often are not: for example, `y.sum().backward()` passes a
      single 1 that is expanded to the shape of `y`.
    """
    raise NotImplementedError
