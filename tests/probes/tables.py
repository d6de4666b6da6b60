"""A small model that records its calls, and whose logits are known."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import Text


class Tables(nn.Module):
    """A model that records its calls. Its logits are the sum of `tables[i, tokens[i]]` over all positions so far.

    The parameter `shift`, which is 0, is added to all logits. It changes no probability, so its gradient is 0.
    """

    def __init__(self, tables: Tensor, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.tables = nn.Parameter(tables.clone())
        self.shift = nn.Parameter(torch.zeros(()))
        self.context = len(tables)
        self.dtype = dtype  # dtype of the logits
        self.events: list[list[Any]] = []
        self.builds_graphs = False

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits. A position beyond the context uses the last table."""
        if tokens.ndim != 2:
            found = list(tokens.shape)
            raise ValueError(Text("the model expects tokens of shape (batch, T), but these have {shape}", shape=found))
        rows, length = tokens.shape
        places = torch.arange(length).clamp(max=self.context - 1)
        logits = self.tables[places, tokens.long()].cumsum(1) + self.shift
        logits = logits if self.dtype is None else logits.to(self.dtype)
        self.builds_graphs = logits.requires_grad
        self.events.append(["forward", rows, length])
        if logits.requires_grad:
            logits.register_hook(  # type: ignore[no-untyped-call]
                lambda _: self.events.append(["backward", rows, length])
            )
        return logits
