"""RMSprop: divide each step by the square root of a running average of squared gradients."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class RMSprop(torch.optim.Optimizer):
    """The update of `torch.optim.RMSprop` with its default options.

    Each parameter has a running average `v` of its squared gradients, initialized to 0:

        v ← alpha · v + (1 − alpha) · grad²
        p ← p − lr · grad / (sqrt(v) + eps)

    In AdaGrad, the sum only grows, so the steps become smaller and smaller. In RMSprop, the influence of old squared
    gradients decays. `eps` is added outside the square root.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        p.grad = torch.tensor([2.0])
        optimizer = RMSprop([p], lr=0.1)
        optimizer.step()           # v = 0.01 * 4 = 0.04, p = 1 - 0.1 * 2 / 0.2 = 0
        optimizer.step()           # v = 0.99 * 0.04 + 0.04 = 0.0796, p = 0 - 0.1 * 2 / sqrt(0.0796) = -0.70888

    The first step is large because `v` is still close to its initial value of 0. RMSprop does not correct this bias;
    Adam does.

    Details:
    - Each group may have its own `alpha` and `eps`.
    - If `p.grad` is None, skip `p`, so that its `v` does not change.
    - Store one tensor of p's shape and dtype in `self.state[p]`, under any name. After `load_state_dict`, training must
      continue exactly as if it had not been interrupted.
    - As in `SGD`, support parameter groups, a changing `lr` and `None` gradients, do not change `grad`, and update in
      place under `torch.no_grad()`.

    Not specified (any choice is fine): whether the state contains other scalars; support for torch's other options, if
    they are off by default.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update every running average, then update every parameter that has a gradient."""
        raise NotImplementedError
