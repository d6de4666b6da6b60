"""Models: what flows back through a linear layer."""

import torch
from jaxtyping import Float
from torch import Tensor


def linear_backward(
    x: Float[Tensor, "... input_dim"], w: Float[Tensor, "input_dim output_dim"], grad_y: Float[Tensor, "... output_dim"]
) -> tuple[Float[Tensor, "... input_dim"], Float[Tensor, "input_dim output_dim"]]:
    """Return the gradients of a loss with respect to `x` and to `w`, given that with respect to `y = x @ w`.

    Every `x[..., i]` reaches every `y[..., o]` through `w[i, o]`, so by the chain rule

        grad_x[..., i] = sum over o of      grad_y[..., o] * w[i, o]
        grad_w[i, o]   = sum over ... of    x[..., i] * grad_y[..., o]

    Two matrix multiplications, each as large as that of the forward pass: that is why the backward pass costs twice as
    many FLOPs. `x` may have any number of leading axes, of any size, none included. `grad_w` has none of them:
    the same `w` served every row, so what the rows say is added up.

    Example:
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])          # two rows of two inputs
        w = torch.tensor([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
        grad_y = torch.tensor([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
        grad_x, grad_w = linear_backward(x, w, grad_y)
        grad_x                                              # [[0, 3], [-2, 1]]
        grad_w                                              # [[1, 4, 7], [2, 6, 10]]

    Return a tuple of both. Do it by hand, in the dtype of the inputs, and leave these as they are. It has to work where
    autograd is off: under `torch.inference_mode()`.
    """
    raise NotImplementedError
