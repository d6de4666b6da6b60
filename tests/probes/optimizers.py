"""Probes for all optimizers.

`name` is the student's module and class, such as "adagrad.AdaGrad". `params[group][i]` are initial values,
`lrs[step][group]` learning rates, `grads[step][group][i]` gradients or None, and `options[group]` the other options of
a group; without `options`, each option has its default.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from . import optimizer_code
from .optimizer_code import TINY, Grads, Groups, Options, Rates, restore_tuples

Trace = list[list[list[Tensor]]]  # parameters by step, group and place


def find_class(assignment: Any, name: str) -> Any:
    """Return a student's optimizer class."""
    module, _, optimizer = name.partition(".")
    return getattr(getattr(assignment, module), optimizer)


def build(optimizer_class: Any, params: Groups, lrs: Sequence[float], options: Sequence[Options] = ()) -> Any:
    """Create an optimizer with one group per row. The last of several groups is added with add_param_group()."""
    groups = [
        {"params": [nn.Parameter(p.clone(memory_format=torch.preserve_format)) for p in group], "lr": lr, **own}
        for group, lr, own in zip(params, lrs, map(restore_tuples, options or [{}] * len(params)), strict=True)
    ]
    first = max(1, len(groups) - 1)
    optimizer = optimizer_class(groups[:first], lr=lrs[0])
    for late in groups[first:]:
        optimizer.add_param_group(late)
    return optimizer


def take_steps(optimizer: Any, lrs: Rates, grads: Grads) -> Trace:
    """Set the learning rates and take one step for each row. Returns the parameters after every step."""
    trace = []
    for rates, step_grads in zip(lrs, grads, strict=True):
        for group, lr in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        trace.append(take_step(optimizer, step_grads))
    return trace


def take_step(optimizer: Any, grads: Sequence[Sequence[Tensor | None]]) -> list[list[Tensor]]:
    """Set the gradients, take one step, and return the parameters after it."""
    for group, group_grads in zip(optimizer.param_groups, grads, strict=True):
        for p, grad in zip(group["params"], group_grads, strict=True):
            p.grad = None if grad is None else grad.clone()
    optimizer.step()
    return copy_parameters(optimizer)


def copy_parameters(optimizer: Any) -> list[list[Tensor]]:
    """Return copies of all parameters."""
    return [[p.detach().clone() for p in group["params"]] for group in optimizer.param_groups]


@typed(optimizer_code.write_run)
def run(assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads, options: Sequence[Options] = ()) -> Trace:
    """Return the parameters after every step."""
    return take_steps(build(find_class(assignment, name), params, lrs[0], options), lrs, grads)


@typed(optimizer_code.write_runs_alone)
def run_alone(
    assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads, options: Sequence[Options]
) -> Trace:
    """Return the parameters after every step. Each parameter has its own optimizer, with the options of its group."""
    optimizer_class = find_class(assignment, name)
    trace: Trace = [[[] for _ in params] for _ in lrs]
    for g, (group, own) in enumerate(zip(params, map(restore_tuples, options or [{}] * len(params)), strict=True)):
        for i, p in enumerate(group):
            optimizer = optimizer_class([nn.Parameter(p.clone())], lr=lrs[0][g], **own)
            rates, own_grads = [[row[g]] for row in lrs], [[[row[g][i]]] for row in grads]
            for step, [[moved]] in zip(trace, take_steps(optimizer, rates, own_grads), strict=True):
                step[g].append(moved)
    return trace


@typed(optimizer_code.write_creation)
def refused(assignment: Any, name: str, options: Options) -> str:
    """Return the name of the error with which an optimizer refuses the given options, or "" if it accepts them."""
    optimizer_class = find_class(assignment, name)
    optimizer_class([nn.Parameter(torch.ones(2))])
    try:
        optimizer_class([nn.Parameter(torch.ones(2))], **options)
    except (ValueError, AssertionError) as error:
        return type(error).__name__
    return ""


@typed(optimizer_code.write_overwritten_grads)
def overwrite_grads(assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads) -> Trace:
    """Write each gradient into the same tensor as the previous one. Returns the parameters after every step."""
    optimizer = build(find_class(assignment, name), params, lrs[0])
    ours = list_parameters(optimizer)
    for p in ours:
        p.grad = torch.zeros_like(p)
    trace = []
    for step_grads in grads:
        for p, grad in zip(ours, [grad for group in step_grads for grad in group], strict=True):
            p.grad.copy_(grad)
        optimizer.step()
        trace.append(copy_parameters(optimizer))
    return trace


@typed(optimizer_code.write_in_place)
def step_in_place(
    assignment: Any, name: str, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor]
) -> dict[str, object]:
    """Take a step. Return the result, and what the step left unchanged."""
    ours = [nn.Parameter(p.t().contiguous().t() if transposed and p.ndim == 2 else p.clone()) for p in params]
    return {**observe_step(find_class(assignment, name)(ours, lr=lr), grads), "parameters": ours}


def observe_step(optimizer: Any, grads: Sequence[Tensor]) -> dict[str, object]:
    """Take a step with these gradients, one for each parameter. Return what it left unchanged, and the gradients."""
    ours = list_parameters(optimizer)
    given = [grad.clone() for grad in grads]
    for p, grad in zip(ours, given, strict=True):
        p.grad = grad
    addresses, strides = [p.data_ptr() for p in ours], [p.stride() for p in ours]
    optimizer.step()
    left = list_parameters(optimizer)
    is_same = len(left) == len(ours) and all(p is q for p, q in zip(left, ours, strict=True))
    return {
        "opt.param_groups[g]['params'][i] is p": is_same,
        "p.data_ptr() == address": [p.data_ptr() for p in ours] == addresses,
        "p.stride() == stride": [p.stride() for p in ours] == strides,
        "p.is_leaf and p.requires_grad": all(p.is_leaf and p.requires_grad for p in ours),
        "p.grad is grad": all(p.grad is grad for p, grad in zip(ours, given, strict=True)),
        "torch.is_grad_enabled()": torch.is_grad_enabled(),
        "gradients": given,
    }


def list_parameters(optimizer: Any) -> list[Any]:
    """Return the parameters of all groups."""
    return [p for group in optimizer.param_groups for p in group["params"]]


@typed(optimizer_code.write_step_on_nan)
def step_on_nan(assignment: Any, name: str) -> dict[str, object]:
    """Take one step per parameter: without a gradient, with NaN, and with one that is frozen after its backward pass.

    Return whether None is filled, the NaN parameter, the frozen parameter, and another one like it that is not frozen.
    """
    without, p, frozen, other = (nn.Parameter(torch.ones(2, 2)) for _ in range(4))
    p.grad = torch.full((2, 2), torch.nan)
    frozen.grad, other.grad = torch.ones(2, 2), torch.ones(2, 2)
    frozen.requires_grad_(False)
    for each in (without, p, frozen, other):
        find_class(assignment, name)([each], lr=0.1).step()
    return {
        "filled": without.grad is not None,
        "p": p,
        "frozen": frozen,
        "other": other,
        "stays frozen": not frozen.requires_grad,
    }


@typed(optimizer_code.write_scheduled)
def run_with_scheduler(
    assignment: Any,
    name: str,
    params: Groups,
    lrs: Sequence[float],
    gamma: float,
    grads: Grads,
    options: Sequence[Options],
) -> Trace:
    """Return the parameters after every step, with a scheduler that multiplies the rates by 1, 0 and `gamma`."""
    optimizer = build(find_class(assignment, name), params, lrs, options)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: [1, 0, gamma, 1][step])
    trace = []
    for step_grads in grads:
        trace.append(take_step(optimizer, step_grads))
        scheduler.step()
    return trace


@typed(optimizer_code.write_defaults)
def run_with_defaults(assignment: Any, name: str, param: Tensor, grads: list[Tensor], options: Options) -> list[Tensor]:
    """Return the parameter after every step. `options` are passed to the constructor, and the group has none."""
    optimizer = find_class(assignment, name)([{"params": [nn.Parameter(param.clone())]}], **restore_tuples(options))
    return [take_step(optimizer, [[grad]])[0][0] for grad in grads]


@typed(optimizer_code.write_interrupted)
def run_interrupted(
    assignment: Any,
    name: str,
    params: Groups,
    lrs: Rates,
    grads: Grads,
    stop: int,
    own: Sequence[float],
    options: Sequence[Options],
) -> dict[str, object]:
    """Return a run's parameters after each step, at its end, and at its end if saved and loaded after `stop` steps.

    The optimizer that loads has its `own` learning rates until then. The rates of the run do not change.
    """
    optimizer_class = find_class(assignment, name)
    whole = build(optimizer_class, params, lrs[0], options)
    trace = take_steps(whole, lrs, grads)
    opt = build(optimizer_class, params, lrs[0], options)
    take_steps(opt, lrs[:stop], grads[:stop])
    state = copy.deepcopy(opt.state_dict())
    opt = build(optimizer_class, copy_parameters(opt), own)
    opt.load_state_dict(state)
    for step_grads in grads[stop:]:
        take_step(opt, step_grads)
    return {"run": trace, "end": copy_parameters(whole), "resumed end": copy_parameters(opt)}


@typed(optimizer_code.write_many_steps)
def take_many_steps(assignment: Any, name: str, steps: int) -> dict[str, Tensor]:
    """Return bfloat16 parameters after many steps, once uninterrupted, and once saved and loaded after two steps.

    All steps but the last have a tiny learning rate, so that they affect only the state.
    """
    ends: dict[str, Tensor] = {}
    for way in ("whole", "resumed"):
        p = nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
        p.grad = torch.ones_like(p)
        optimizer = find_class(assignment, name)([p], lr=TINY)
        for i in range(steps):
            if way == "resumed" and i == 2:
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = find_class(assignment, name)([p], lr=TINY)
                optimizer.load_state_dict(saved)
            optimizer.step()
        optimizer.param_groups[0]["lr"] = 1.0
        optimizer.step()
        ends[way] = p
    return ends


@typed(optimizer_code.write_loaded)
def step_after_loading(
    assignment: Any, name: str, params: Groups, saved: Sequence[float], own: Sequence[float], grads: Grads
) -> Trace:
    """Load the learning rates `saved` into an optimizer with its `own` rates. Returns the parameters after a step."""
    optimizer_class = find_class(assignment, name)
    optimizer = build(optimizer_class, params, own)
    optimizer.load_state_dict(copy.deepcopy(build(optimizer_class, params, saved).state_dict()))
    return [take_step(optimizer, grads[0])]


@typed(optimizer_code.write_state)
def measure_state(
    assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads, options: Sequence[Options]
) -> dict[str, object]:
    """Return what the last step of a run left unchanged, and the state's size.

    The size is the number of bytes, by dtype, of the tensors that the optimizer stores. Excludes parameters and tensors
    with one element.
    """
    optimizer = build(find_class(assignment, name), params, lrs[0], options)
    take_steps(optimizer, lrs[:-1], grads[:-1])
    unchanged = observe_step(optimizer, [grad for group in grads[-1] for grad in group if grad is not None])
    parameters = {p.untyped_storage().data_ptr() for p in list_parameters(optimizer)}
    held = {
        tensor.untyped_storage().data_ptr(): (str(tensor.dtype), tensor.untyped_storage().nbytes())
        for tensor in find_tensors([value for key, value in vars(optimizer).items() if key != "param_groups"])
        if tensor.numel() > 1
    }
    sizes: Counter[str] = Counter()
    for address, (dtype, size) in held.items():
        if address not in parameters:
            sizes[dtype] += size
    return {**unchanged, "state": dict(sizes)}


def find_tensors(value: object) -> Iterator[Tensor]:
    """Yield every tensor nested in a value, at any depth."""
    if isinstance(value, Tensor):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple, set)) else ()
    for part in inner:
        yield from find_tensors(part)
