"""What the probes of all optimizers share: groups of parameters, and a run of steps.

Everywhere `params[group][i]` is a start, `lrs[step][group]` a rate, `grads[step][group][i]` a gradient or None, and
`options[group]` what a group has beside its rate; no options at all are those of the optimizer.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

Groups = Sequence[Sequence[Tensor]]
Grads = Sequence[Sequence[Sequence[Tensor | None]]]
Options = Mapping[str, Any]


def build(Optimizer: Any, params: Groups, lrs: Sequence[float], options: Sequence[Options] = ()) -> Any:
    """An optimizer with one group for each row; the last group joins after the others."""
    groups = [
        {"params": [nn.Parameter(p.clone(memory_format=torch.preserve_format)) for p in group], "lr": lr, **own}
        for group, lr, own in zip(params, lrs, map(as_given, options or [{}] * len(params)), strict=True)
    ]
    optimizer = Optimizer(groups[: max(1, len(groups) - 1)], lr=lrs[0])
    for late in groups[max(1, len(groups) - 1) :]:
        optimizer.add_param_group(late)
    return optimizer


def as_given(options: Options) -> dict[str, Any]:
    """Options as a user writes them: pairs are tuples, which become lists on their way here."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}


def walk(optimizer: Any, lrs: Sequence[Sequence[float]], grads: Grads) -> list[list[list[Tensor]]]:
    """Take one step for each row; return the parameters after every step."""
    trace = []
    for rates, step_grads in zip(lrs, grads, strict=True):
        for group, lr in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        trace.append(stepped(optimizer, step_grads))
    return trace


def stepped(optimizer: Any, grads: Sequence[Sequence[Tensor | None]]) -> list[list[Tensor]]:
    """Take one step at the rates that are set; return the parameters after it."""
    for group, group_grads in zip(optimizer.param_groups, grads, strict=True):
        for p, grad in zip(group["params"], group_grads, strict=True):
            p.grad = None if grad is None else grad.clone()
    optimizer.step()
    return now(optimizer)


def now(optimizer: Any) -> list[list[Tensor]]:
    """Copies of all parameters."""
    return [[p.detach().clone() for p in group["params"]] for group in optimizer.param_groups]


def run(
    Optimizer: Any, params: Groups, lrs: Sequence[Sequence[float]], grads: Grads, options: Sequence[Options] = ()
) -> list[list[list[Tensor]]]:
    """The parameters after every step."""
    return walk(build(Optimizer, params, lrs[0], options), lrs, grads)


def refilled(Optimizer: Any, params: Groups, lrs: Sequence[Sequence[float]], grads: Grads) -> list[list[list[Tensor]]]:
    """The parameters after every step, where each gradient is written into the same tensor as the one before."""
    optimizer = build(Optimizer, params, lrs[0])
    ours = [p for group in optimizer.param_groups for p in group["params"]]
    for p in ours:
        p.grad = torch.zeros_like(p)
    trace = []
    for step_grads in grads:
        for p, grad in zip(ours, [grad for group in step_grads for grad in group], strict=True):
            p.grad.copy_(grad)
        optimizer.step()
        trace.append(now(optimizer))
    return trace


def in_place(
    Optimizer: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Options
) -> dict[str, object]:
    """Which facts about parameters and gradients survive a step."""
    ours = [nn.Parameter(p.t().contiguous().t() if transposed and p.ndim == 2 else p.clone()) for p in params]
    without = nn.Parameter(torch.ones(2))
    optimizer = Optimizer([without, *ours], lr=lr, **as_given(options))
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
    trace = []
    for grad in grads:
        p.grad = grad.clone()
        optimizer.step()
        scheduler.step()
        trace.append(p.detach().clone())
    return trace


def defaults(Optimizer: Any, param: Tensor, grads: list[Tensor], options: Options) -> list[Tensor]:
    """The parameter after every step, with options for all groups without their own, or without any."""
    p = nn.Parameter(param.clone())
    optimizer = Optimizer([{"params": [p]}], **as_given(options))
    trace = []
    for grad in grads:
        p.grad = grad.clone()
        optimizer.step()
        trace.append(p.detach().clone())
    return trace


def interrupted(
    Optimizer: Any,
    params: Groups,
    lrs: Sequence[Sequence[float]],
    grads: Grads,
    stop: int,
    options: Sequence[Options] = (),
) -> dict[str, object]:
    """A run, its end, and the end of the same run saved after `stop` steps and loaded into a new optimizer."""
    whole = build(Optimizer, params, lrs[0], options)
    trace = walk(whole, lrs, grads)
    first = build(Optimizer, params, lrs[0], options)
    walk(first, lrs[:stop], grads[:stop])
    second = build(Optimizer, now(first), lrs[0])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    walk(second, lrs[stop:], grads[stop:])
    return {"run": trace, "end": now(whole), "resumed end": now(second)}


def counted_on(Optimizer: Any, steps: int) -> dict[str, Tensor]:
    """Where bfloat16 parameters end that begin at 0: after so many steps at a rate of 0, and one at a rate of 1.

    Once in one go, and once saved and loaded after two steps.
    """
    ends: dict[str, Tensor] = {}
    for way in ("whole", "resumed"):
        p = nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
        p.grad = torch.ones_like(p)
        optimizer = Optimizer([p], lr=0.0)
        for i in range(steps):
            if way == "resumed" and i == 2:
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = Optimizer([p], lr=0.0)
                optimizer.load_state_dict(saved)
            optimizer.step()
        optimizer.param_groups[0]["lr"] = 1.0
        optimizer.step()
        ends[way] = p
    return ends


def loaded(
    Optimizer: Any, params: Groups, saved: Sequence[float], own: Sequence[float], grads: Grads
) -> list[list[list[Tensor]]]:
    """The parameters after a step of an optimizer with rates of its `own`, into which those of another were loaded."""
    optimizer = build(Optimizer, params, own)
    optimizer.load_state_dict(copy.deepcopy(build(Optimizer, params, saved).state_dict()))
    return [stepped(optimizer, grads[0])]


def bytes_kept(Optimizer: Any, params: Groups, lrs: Sequence[Sequence[float]], grads: Grads) -> dict[str, int]:
    """The bytes, by dtype, of the tensors of more than one element that the optimizer holds after a run.

    Parameters do not count.
    """
    optimizer = build(Optimizer, params, lrs[0])
    walk(optimizer, lrs, grads)
    parameters = {p.untyped_storage().data_ptr() for group in optimizer.param_groups for p in group["params"]}
    held = {
        tensor.untyped_storage().data_ptr(): (str(tensor.dtype), tensor.untyped_storage().nbytes())
        for tensor in tensors_in([value for name, value in vars(optimizer).items() if name != "param_groups"])
        if tensor.numel() > 1
    }
    sizes: Counter[str] = Counter()
    for address, (dtype, size) in held.items():
        if address not in parameters:
            sizes[dtype] += size
    return dict(sizes)


def tensors_in(value: object) -> Iterator[Tensor]:
    """Every tensor within, however deep."""
    if isinstance(value, Tensor):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple, set)) else ()
    for part in inner:
        yield from tensors_in(part)
