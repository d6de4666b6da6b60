"""AdaGrad: divide each step by the square root of the sum of squared gradients."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class AdaGrad(torch.optim.Optimizer):
    """`g2 ← g2 + grad²`, then `p ← p − lr · grad / sqrt(g2 + 1e-5)`.

    `g2` is initialized to 0 and never decreases, so elements with large past gradients take smaller steps. The `1e-5`
    is added inside the square root, as in the lecture (`torch.optim.Adagrad` adds a smaller number outside it).
    `x.rsqrt()` is `1 / x.sqrt()`.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        p.grad = torch.tensor([2.0])
        optimizer = AdaGrad([p], lr=0.1)
        optimizer.step()           # g2 = 4, p = 1 - 0.1 * 2 / sqrt(4.00001) = 0.9
        optimizer.step()           # g2 = 8, p = 0.9 - 0.1 * 2 / sqrt(8.00001) = 0.829...

    Details:
    - Store `g2` in `self.state[p]["g2"]`, with p's shape and dtype. `state_dict()` then includes `g2`. After
      `load_state_dict`, training must continue exactly as if it had not been interrupted. Do not store any other tensor
      with more than one element.
    - As in `SGD`, support parameter groups, a changing `lr` and `None` gradients, do not change `grad`, and update in
      place under `torch.no_grad()`.

    Not specified (any choice is fine): whether the state contains other scalars.
    """

    def __init__(self, params: Iterable[nn.Parameter] | Iterable[dict[str, Any]], lr: float = 0.01) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Add the squared gradients to `g2`, then update every parameter that has a gradient."""
        raise NotImplementedError
