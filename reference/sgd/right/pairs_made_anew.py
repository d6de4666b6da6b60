"""Stores (parameter, group) pairs, and updates them when a group is added or a state is loaded."""

from typing import Any

import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params: Any, lr: float = 0.01) -> None:
        super().__init__(params, {"lr": lr})
        self.pair()

    def pair(self) -> None:
        self.pairs = [(p, group) for group in self.param_groups for p in group["params"]]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        self.pair()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.pair()

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        loss = None if closure is None else torch.enable_grad()(closure)()
        for p, group in self.pairs:
            if p.grad is not None:
                p.sub_(p.grad, alpha=group["lr"])
        return loss
