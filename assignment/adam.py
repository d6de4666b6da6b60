"""Adam: momentum plus RMSprop, with bias correction."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class Adam(torch.optim.Optimizer):
    """The update of `torch.optim.Adam`.

    Each parameter has two running averages, both initialized to 0, and its own step count `t` = 1, 2, …:

        g ← grad + weight_decay · p
        m ← beta1 · m + (1 − beta1) · g
        v ← beta2 · v + (1 − beta2) · g²
        p ← p − lr · m̂ / (sqrt(v̂) + eps)          with  m̂ = m / (1 − beta1ᵗ),  v̂ = v / (1 − beta2ᵗ)

    Bias correction (dividing by `1 - betaᵗ`) compensates for the initialization to 0, so even the first step has the
    full size, `lr`. As in PyTorch, add `eps` to the square root of the bias-corrected average. The more efficient
    variant in the paper, which uses `sqrt(v) + eps` and moves the bias correction into `lr`, gives slightly different
    numbers.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        optimizer = Adam([p], lr=0.1)
        p.grad = torch.tensor([2.0])
        optimizer.step()           # m = 0.2, v = 0.004, m / 0.1 = 2, v / 0.001 = 4, p = 1 - 0.1 * 2 / 2 = 0.9
        p.grad = torch.tensor([-1.0])
        optimizer.step()           # m = 0.08, v = 0.004996, m / 0.19 = 0.42105, v / 0.001999 = 2.4992, p = 0.87337

    Details:
    - Each group may have its own `betas`, `eps` and `weight_decay`.
    - If `p.grad` is None, skip `p`, so that its averages and `t` do not change.
    - Store two tensors of p's shape and dtype in `self.state[p]`, under any names. Store `t` there as a number or as a
      tensor named "step": `load_state_dict` casts tensors with other names to p's dtype, and in bfloat16, `t` could not
      exceed 256. After `load_state_dict`, training must continue exactly as if it had not been interrupted.
    - As in `SGD`, support parameter groups, a changing `lr` and `None` gradients, do not change `grad`, and update in
      place under `torch.no_grad()`.

    Not specified (any choice is fine): whether the state contains other scalars; support for torch's other options, if
    they are off by default.
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
        """Update both averages, then update every parameter that has a gradient."""
        raise NotImplementedError
