"""AdamW: Adam with decoupled weight decay."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class AdamW(torch.optim.Optimizer):
    """The update of `torch.optim.AdamW`.

        p ← p − lr · weight_decay · p
        p ← p − lr · m̂ / (sqrt(v̂) + eps)

    The running averages are the same as in Adam without weight decay. `t` is the number of steps that the parameter has
    taken, starting at 1:

        m ← beta1 · m + (1 − beta1) · grad          m̂ = m / (1 − beta1ᵗ)
        v ← beta2 · v + (1 − beta2) · grad²         v̂ = v / (1 − beta2ᵗ)

    Adam rescales the whole gradient, including the decay term, so weights with large gradients hardly decay. AdamW
    shrinks all weights by the same fraction. As in PyTorch, apply the decay first, and add `eps` to `sqrt(v̂)`. The
    more efficient variant in the paper, which uses `sqrt(v) + eps` and moves the bias correction into `lr`, gives
    slightly different numbers.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        optimizer = AdamW([p], lr=0.1, weight_decay=0.1)
        p.grad = torch.tensor([2.0])
        optimizer.step()           # p = 0.99 - 0.1 = 0.89: decay, then Adam's update
        p.grad = torch.tensor([-1.0])
        optimizer.step()           # p = 0.8811 - 0.0266337 = 0.854466

    Details:
    - Each group may have its own `betas`, `eps` and `weight_decay`.
    - If `p.grad` is None, skip `p`, so that it does not decay and its averages and `t` do not change. An all-zero
      gradient still counts as a step.
    - Store two tensors of p's shape and dtype in `self.state[p]`, under any names. Store `t` there as a number or as a
      tensor named "step": `load_state_dict` casts tensors with other names to p's dtype, and in bfloat16, 256 + 1 is
      256. After `load_state_dict`, training must continue exactly as if it had not been interrupted.
    - As in `SGD`, support parameter groups, a changing `lr` and `None` gradients, do not change `grad`, and update in
      place under `torch.no_grad()`.

    Not specified (any choice is fine): reuse of your `Adam`; other scalars in the state; torch's other options, if off
    by default.
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
        """Decay every parameter that has a gradient, then apply Adam's update."""
        raise NotImplementedError
