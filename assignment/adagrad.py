"""AdaGrad, the first optimizer with a memory: its optimizer state."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class AdaGrad(torch.optim.Optimizer):
    """`g2 ← g2 + grad²`, then `p ← p − lr · grad / sqrt(g2 + 1e-5)`.

    Elements that have seen large gradients take smaller steps. The running sum of squares `g2` starts at zero and
    has the parameter's shape and dtype. It lives in `self.state[p]["g2"]`, so that `state_dict()` saves it.
    The `1e-5` stands inside the root, as in the lecture (`torch.optim.Adagrad` adds a smaller one outside);
    `x.rsqrt()` is `1 / x.sqrt()`.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        p.grad = torch.tensor([2.0])
        optimizer = AdaGrad([p], lr=0.1)
        optimizer.step()           # g2 = 4, p = 1 - 0.1 * 2 / sqrt(4.00001) = 0.9
        optimizer.step()           # g2 = 8, p = 0.9 - 0.1 * 2 / sqrt(8.00001) = 0.829...

    All that SGD must do holds here: parameter groups, changing rates, `None` gradients, in place, outside autograd
    (`with torch.no_grad():`).
    Keep one tensor of the parameter's shape for each parameter and no more. Left to you: scalars beside it.
    """

    def __init__(self, params: Iterable[nn.Parameter] | Iterable[dict[str, Any]], lr: float = 0.01) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Add the squared gradients to `g2`, then move every parameter."""
        raise NotImplementedError
