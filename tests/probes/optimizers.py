"""What the probes of all optimizers share: groups of parameters, and a course of steps.

Everywhere `params[group][i]` is a start, `lrs[step][group]` a rate, `grads[step][group][i]` a gradient or None.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

Groups = Sequence[Sequence[Tensor]]
Grads = Sequence[Sequence[Sequence[Tensor | None]]]


def build(Optimizer: Any, params: Groups, lrs: Sequence[float]) -> Any:
    """An optimizer with one group for each row; the last group joins after the others."""
    groups = [
        {"params": [nn.Parameter(p.clone(memory_format=torch.preserve_format)) for p in group], "lr": lr}
        for group, lr in zip(params, lrs, strict=True)
    ]
    optimizer = Optimizer(groups[: max(1, len(groups) - 1)], lr=lrs[0])
    for late in groups[max(1, len(groups) - 1) :]:
        optimizer.add_param_group(late)
    return optimizer


def walk(optimizer: Any, lrs: Sequence[Sequence[float]], grads: Grads) -> list[list[list[Tensor]]]:
    """Take one step for each row; return the parameters after every step."""
    course = []
    for rates, step_grads in zip(lrs, grads, strict=True):
        for group, lr, group_grads in zip(optimizer.param_groups, rates, step_grads, strict=True):
            group["lr"] = lr
            for p, grad in zip(group["params"], group_grads, strict=True):
                p.grad = None if grad is None else grad.clone()
        optimizer.step()
        course.append(now(optimizer))
    return course


def now(optimizer: Any) -> list[list[Tensor]]:
    """Copies of all parameters."""
    return [[p.detach().clone() for p in group["params"]] for group in optimizer.param_groups]


def run(Optimizer: Any, params: Groups, lrs: Sequence[Sequence[float]], grads: Grads) -> list[list[list[Tensor]]]:
    """The parameters after every step."""
    return walk(build(Optimizer, params, lrs[0]), lrs, grads)


def in_place(
    Optimizer: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor]
) -> dict[str, object]:
    """Which facts about parameters and gradients survive a step."""
    ours = [nn.Parameter(p.t().contiguous().t() if transposed and p.ndim == 2 else p.clone()) for p in params]
    without = nn.Parameter(torch.ones(2))
    optimizer = Optimizer([without, *ours], lr=lr)
    given = [grad.clone() for grad in grads]
    for p, grad in zip(ours, given, strict=True):
        p.grad = grad
    memory = [p.data_ptr() for p in ours]
    strides = [p.stride() for p in ours]
    optimizer.step()
    _, *kept = optimizer.param_groups[0]["params"]
    return {
        "the same Parameter": len(kept) == len(ours) and all(p is q for p, q in zip(kept, ours, strict=True)),
        "the same memory": [p.data_ptr() for p in ours] == memory and [p.stride() for p in ours] == strides,
        "a leaf that requires grad": all(p.is_leaf and p.requires_grad for p in ours),
        "the same gradient": all(p.grad is grad for p, grad in zip(ours, given, strict=True)),
        "no gradient where there was none": without.grad is None,
        "autograd is on": torch.is_grad_enabled(),
        "gradients": given,
        "parameters": ours,
    }


def scheduled(Optimizer: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> list[Tensor]:
    """The parameter after every step, with a scheduler that multiplies the rate by `gamma` after each."""
    p = nn.Parameter(param.clone())
    optimizer = Optimizer([p], lr=lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma)
    course = []
    for grad in grads:
        p.grad = grad.clone()
        optimizer.step()
        scheduler.step()
        course.append(p.detach().clone())
    return course


def default_rates(Optimizer: Any, param: Tensor, grad: Tensor, lr: float) -> dict[str, Tensor]:
    """One step without any rate, one with a rate for all groups that have none of their own."""
    moved = {}
    for name, options in {"no lr given": {}, "lr given once": {"lr": lr}}.items():
        p = nn.Parameter(param.clone())
        p.grad = grad.clone()
        Optimizer([{"params": [p]}], **options).step()
        moved[name] = p.detach()
    return moved
