"""Optimizers: Adam, momentum in units of the usual gradient, and right from the first step."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class Adam(torch.optim.Optimizer):
    """As `torch.optim.Adam`.

    Each parameter has two running averages that start at 0, of its gradients and of their squares, and counts its own
    steps `t` = 1, 2, …:

        g ← grad + weight_decay · p
        m ← beta1 · m + (1 − beta1) · g
        v ← beta2 · v + (1 − beta2) · g²
        p ← p − lr · m̂ / (sqrt(v̂) + eps)          with  m̂ = m / (1 − beta1ᵗ),  v̂ = v / (1 − beta2ᵗ)

    After t steps the gradients have a share of only `1 - betaᵗ` in an average, the rest is the 0 it began with:
    dividing by that share ("bias correction") makes even the first step one of size lr.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        optimizer = Adam([p], lr=0.1)
        p.grad = torch.tensor([2.0])
        optimizer.step()           # m = 0.2, v = 0.004, m / 0.1 = 2, v / 0.001 = 4, p = 1 - 0.1 * 2 / 2 = 0.9
        p.grad = torch.tensor([-1.0])
        optimizer.step()           # m = 0.08, v = 0.004996, m / 0.19 = 0.42105, v / 0.001999 = 2.4992, p = 0.87337

    - All that SGD must do holds here: parameter groups, changing rates, `None` gradients, in place, outside autograd
      (`with torch.no_grad():`).
    - Every group may have its own `betas`, `eps` and `weight_decay`, too.
    - A step without a gradient (`None`) is none for that parameter: its averages and its `t` stay as they are.
    - All this lives in `self.state[p]`, under any names, so that `state_dict()` saves it: two tensors of the
      parameter's shape and dtype for each parameter, and no more.
    Left to you: scalars in the state, `t` as a number, or as a tensor under the name `step` (`load_state_dict` casts
    those of other names to the parameter's dtype, and in bfloat16 256 + 1 is 256); `amsgrad` and other options of
    torch's, as long as they do nothing unless asked for.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Take each gradient into both averages, then move every parameter."""
        raise NotImplementedError
