"""Optimizers: AdamW, Adam whose decay is no part of the gradient."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class AdamW(torch.optim.Optimizer):
    """As `torch.optim.AdamW`.

        p ← p − lr · weight_decay · p
        p ← p − lr · m̂ / (sqrt(v̂) + eps)

    where the averages are Adam's, of the gradient alone (`t` counts the parameter's own steps, from 1):

        m ← beta1 · m + (1 − beta1) · grad          m̂ = m / (1 − beta1ᵗ)
        v ← beta2 · v + (1 − beta2) · grad²         v̂ = v / (1 − beta2ᵗ)

    Adam divides whatever is in the gradient by its usual size, a decay that was added to it, too: weights with large
    gradients then hardly decay. Here every weight shrinks by the same share in each step.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        optimizer = AdamW([p], lr=0.1, weight_decay=0.1)
        p.grad = torch.tensor([2.0])
        optimizer.step()           # p = 0.99 - 0.1 = 0.89: it shrinks, then it moves
        p.grad = torch.tensor([-1.0])
        optimizer.step()           # p = 0.8811 - 0.0266337 = 0.854466

    - All that SGD must do holds here: parameter groups, changing rates, `None` gradients, in place, outside autograd
      (`with torch.no_grad():`).
    - Every group may have its own `betas`, `eps` and `weight_decay`, too: biases are often left undecayed.
    - A step without a gradient (`None`) is none for that parameter: it does not decay, and its averages and its `t`
      stay as they are. A gradient of zeros is one.
    - All this lives in `self.state[p]`, under any names, so that `state_dict()` saves it: two tensors of the
      parameter's shape and dtype for each parameter, and no more.
    Left to you: scalars in the state, `t` as a number, or as a tensor under the name `step` (`load_state_dict` casts
    those of other names to the parameter's dtype, and in bfloat16 256 + 1 is 256); building on your own `Adam`;
    `amsgrad` and other options of torch's, as long as they do nothing unless asked for.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Shrink every parameter that has a gradient, then move it as Adam does."""
        raise NotImplementedError
