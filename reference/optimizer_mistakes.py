"""Mistakes that are possible in every optimizer. The `mistakes.py` of each optimizer imports them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from reference import optimizers
from reference.optimizers import Grad, Inputs
from torchkata import Mistake, instead_of

Lrs: TypeAlias = Sequence[Sequence[float]]
Grads: TypeAlias = Sequence[Sequence[Sequence[Grad]]]
Options: TypeAlias = Mapping[str, Any]
Bytes: TypeAlias = Mapping[str, int]  # by dtype

RATES = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]  # common learning rates
ROOT_STORED = "the square root is stored in place of the average, so the first step is right and later ones are wrong"
DIVISOR_STORED = "the divisor is stored in place of the average, so the first step is right and later ones are wrong"
BOUNDS = [0.1, 0.5, 1.0, 5.0, 10.0, 100.0, 1000.0]  # bounds for clipping a gradient
ITEMSIZES = {"torch.float64": 8, "torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2}


def replace_rates(inputs: Inputs, lrs: Sequence[float]) -> Inputs:
    """Return the same gradients with different learning rates."""
    return [(grad, lr) for (grad, _), lr in zip(inputs, lrs, strict=True)]


def drop_gradients(inputs: Inputs, moves: Sequence[bool]) -> Inputs:
    """Return the same inputs, but without gradients in the steps that do not change the parameter."""
    return [(grad if here else None, lr) for (grad, lr), here in zip(inputs, moves, strict=True)]


@instead_of(optimizers.collect_inputs, "all groups use the lr of the first group")
def rate_of_first_group(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    return inputs if group == 0 else replace_rates(inputs, [rates[0] for rates in lrs])


@instead_of(optimizers.collect_inputs, "all groups use the lr of the last group")
def rate_of_last_group(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    return inputs if group == len(lrs[0]) - 1 else replace_rates(inputs, [rates[-1] for rates in lrs])


@instead_of(optimizers.collect_inputs, "in all steps, all groups use the lr passed to the constructor")
def rate_of_constructor(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    return replace_rates(optimizers.collect_inputs(lrs, grads, group, i), [lrs[0][0]] * len(lrs))


@instead_of(optimizers.collect_inputs, "a group uses its initial lr in all steps")
def first_rate(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    return replace_rates(optimizers.collect_inputs(lrs, grads, group, i), [lrs[0][group]] * len(lrs))


@instead_of(optimizers.collect_inputs, "a changed lr takes effect only in the first group")
def first_rate_of_later_groups(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    return inputs if group == 0 else replace_rates(inputs, [lrs[0][group]] * len(lrs))


@instead_of(optimizers.collect_inputs, "a changed lr takes effect one step late")
def late_rate(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    late = [lrs[max(0, t - 1)][group] for t in range(len(lrs))]
    return replace_rates(optimizers.collect_inputs(lrs, grads, group, i), late)


@instead_of(optimizers.collect_inputs, "an lr of 0 has the effect of an lr of {rate:g}", rate=RATES)
def zero_is_none(lrs: Lrs, grads: Grads, group: int, i: int, rate: float) -> Inputs:
    return replace_rates(optimizers.collect_inputs(lrs, grads, group, i), [rates[group] or rate for rates in lrs])


@instead_of(optimizers.collect_inputs, "a step with an lr of 0 does not update the state")
def waits_while_rate_is_0(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    return drop_gradients(optimizers.collect_inputs(lrs, grads, group, i), [rates[group] != 0 for rates in lrs])


@instead_of(
    optimizers.collect_inputs, "each update is {factor:g} times as large as it should be", factor=[2.0, 0.5, 10.0, 0.1]
)
def other_length(lrs: Lrs, grads: Grads, group: int, i: int, factor: float) -> Inputs:
    return replace_rates(optimizers.collect_inputs(lrs, grads, group, i), [factor * rates[group] for rates in lrs])


@instead_of(optimizers.collect_inputs, "lr decays as 1 / (1 + {fall:g} * steps)", fall=[0.01, 0.1, 0.5, 1.0])
def falling_rate(lrs: Lrs, grads: Grads, group: int, i: int, fall: float) -> Inputs:
    inputs: Inputs = []
    for grad, lr in optimizers.collect_inputs(lrs, grads, group, i):
        steps = sum(earlier is not None for earlier, _ in inputs)
        inputs.append((grad, lr / (1 + fall * steps)))
    return inputs


@instead_of(optimizers.collect_inputs, "lr is divided by the square root of the step count, as in some schedules")
def falling_by_root(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs: Inputs = []
    for grad, lr in optimizers.collect_inputs(lrs, grads, group, i):
        steps = sum(earlier is not None for earlier, _ in inputs)
        inputs.append((grad, lr / (1 + steps) ** 0.5))
    return inputs


@instead_of(optimizers.collect_inputs, "the gradient is clipped to norm {most:g}", most=BOUNDS)
def clipped(lrs: Lrs, grads: Grads, group: int, i: int, most: float) -> Inputs:
    return [
        (grad if grad is None else grad / max(1.0, float(np.linalg.norm(grad)) / most), lr)
        for grad, lr in optimizers.collect_inputs(lrs, grads, group, i)
    ]


@instead_of(optimizers.collect_inputs, "the gradient's elements are clipped to [-{most:g}, {most:g}]", most=BOUNDS)
def cut_off(lrs: Lrs, grads: Grads, group: int, i: int, most: float) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    return [(grad if grad is None else grad.clip(-most, most), lr) for grad, lr in inputs]


@instead_of(optimizers.collect_inputs, "only the first parameter group is updated")
def first_group_only(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    return drop_gradients(optimizers.collect_inputs(lrs, grads, group, i), [group == 0] * len(lrs))


@instead_of(optimizers.collect_inputs, "only the first parameter of each group is updated")
def first_parameter_only(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    return drop_gradients(optimizers.collect_inputs(lrs, grads, group, i), [i == 0] * len(lrs))


@instead_of(optimizers.collect_inputs, "only parameters with two or more dimensions are updated")
def only_matrices_move(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    return drop_gradients(inputs, [grad is not None and grad.ndim > 1 for grad, _ in inputs])


@instead_of(
    optimizers.collect_inputs, "a parameter without a gradient ends the whole step: later parameters are not updated"
)
def step_ends_at_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    before = [
        [grad for g, row in enumerate(step) for j, grad in enumerate(row) if (g, j) < (group, i)] for step in grads
    ]
    return drop_gradients(optimizers.collect_inputs(lrs, grads, group, i), [not has_none(row) for row in before])


@instead_of(
    optimizers.collect_inputs,
    "a parameter without a gradient ends its group: later parameters in the group are not updated",
)
def group_ends_at_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    moves = [not has_none(step[group][:i]) for step in grads]
    return drop_gradients(optimizers.collect_inputs(lrs, grads, group, i), moves)


@instead_of(optimizers.collect_inputs, "if a parameter has no gradient, its whole group is skipped")
def group_skipped_at_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    moves = [not has_none(step[group]) for step in grads]
    return drop_gradients(optimizers.collect_inputs(lrs, grads, group, i), moves)


@instead_of(optimizers.collect_inputs, "if a group's first parameter has no gradient, the whole group is skipped")
def group_skipped_at_first_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    moves = [not has_none(step[group][:1]) for step in grads]
    return drop_gradients(optimizers.collect_inputs(lrs, grads, group, i), moves)


@instead_of(
    optimizers.collect_inputs,
    "after a parameter without a gradient, the others in its group get the gradient of their neighbor",
)
def gradients_shifted(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    shape = next((grad.shape for grad, _ in inputs if grad is not None), None)
    present = [[grad for grad in step[group] if grad is not None][i : i + 1] for step in grads]
    fitting = [next((grad for grad in own if grad.shape == shape), None) for own in present]
    return [(grad, lr) for grad, (_, lr) in zip(fitting, inputs, strict=True)]


@instead_of(
    optimizers.collect_inputs, "a parameter whose gradient is all zeros is skipped, as if its gradient were None"
)
def zeros_skipped(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    return drop_gradients(inputs, [grad is None or bool(grad.any()) for grad, _ in inputs])


@instead_of(optimizers.collect_inputs, "if a gradient is None, the previous one is used again")
def last_gradient_again(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    last: Grad = None
    inputs = []
    for grad, lr in optimizers.collect_inputs(lrs, grads, group, i):
        last = last if grad is None else grad
        inputs.append((last, lr))
    return inputs


@instead_of(
    optimizers.collect_inputs, "a gradient of None is treated as a gradient of zeros: skip the parameter instead"
)
def zeros_for_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    inputs = optimizers.collect_inputs(lrs, grads, group, i)
    return [(np.zeros(()) if grad is None else grad, lr) for grad, lr in inputs]


@instead_of(
    optimizers.hook_skipped_state,
    "a step in which the gradient is None resets the state: it should not change the state",
)
def wiped_without_gradient(state: Any, options: Options) -> None:
    return


@instead_of(
    optimizers.hook_loaded_state,
    "after load_state_dict(), the state begins anew: store all of it (flags and counts, too) in self.state[p]",
)
def lost_in_loading(state: Any) -> None:
    return


@instead_of(
    optimizers.hook_loaded_rates,
    "the old learning rates are used after load_state_dict(), which replaces self.param_groups: read these in step()",
)
def rates_from_before(saved: Sequence[float], own: Sequence[float]) -> Sequence[float]:
    return own


@instead_of(
    optimizers.is_within_budget,
    "the state takes more memory than the formula needs, up to one more tensor for each parameter",
)
def further_tensor(held: Bytes, own: Bytes, tensors: int) -> bool:
    return held.keys() <= own.keys() and optimizers.is_within_budget(held, own, tensors + 1)


@instead_of(
    optimizers.is_within_budget, "the state is float{bits:g} regardless of the parameter's dtype", bits=[32, 64]
)
def kept_in_one_format(held: Bytes, own: Bytes, tensors: int, bits: int) -> bool:
    in_it = {dtype: bits // 8 * size // ITEMSIZES[dtype] for dtype, size in own.items()}
    return held.keys() <= {f"torch.float{bits}"} and optimizers.is_within_budget(held, in_it, tensors)


@instead_of(
    optimizers.is_within_budget,
    "the state is float32 if the parameter is bfloat16: store it in p's dtype, as torch.zeros_like(p) does",
)
def kept_in_float32_at_least(held: Bytes, own: Bytes, tensors: int) -> bool:
    [(dtype, size)] = own.items()
    wide = {"torch.float32": 2 * size} if dtype == "torch.bfloat16" else own
    return held.keys() <= wide.keys() and optimizers.is_within_budget(held, wide, tensors)


@instead_of(optimizers.get_options, "all groups use the first group's options (other than lr)")
def options_of_first_group(given: Sequence[Options], group: int) -> Options:
    return optimizers.get_options(given, 0)


@instead_of(
    optimizers.get_options,
    "a group's own options (other than lr) are ignored: the constructor's are used",
)
def options_of_constructor(given: Sequence[Options], group: int) -> Options:
    return {}


def ignore_own_option(*names: str) -> Mistake:
    """Return a mistake that ignores one of these options in the groups, for optimizers with several options."""

    def option_of_constructor(given: Sequence[Options], group: int, name: str) -> Options:
        own = optimizers.get_options(given, group)
        return {each: value for each, value in own.items() if each != name}

    message = "a group's own {name} is ignored: the constructor's value is used"
    return instead_of(optimizers.get_options, message, name=names)(option_of_constructor)


def ignore_zero_option(step: Callable[..., Any], name: str) -> tuple[Mistake, Mistake]:
    """Return two mistakes that ignore an option of 0, one only if it is a group's own, the other one always."""

    def drop_zero(options: Options) -> Options:
        return {each: value for each, value in options.items() if each != name or value != 0}

    return (
        instead_of(optimizers.get_options, f"a group's own {name} of 0 is ignored: the constructor's value is used")(
            lambda given, group: drop_zero(given[group] if given else {})
        ),
        instead_of(step, f"a {name} of 0 is ignored, as if it were missing")(
            lambda *args, **options: step(*args, **drop_zero(options))
        ),
    )


@instead_of(optimizers.hook_default_rate, "the default lr is {rate:g} instead of the default in the stub", rate=RATES)
def other_default(lr: float, rate: float) -> float:
    return rate


@instead_of(
    optimizers.get_group_rates, "a group without its own lr uses the default lr, not the lr passed to the constructor"
)
def default_for_groups(default: float, lr: float) -> tuple[float, float]:
    return optimizers.get_group_rates(default, default)


def change_default(
    step: Callable[..., Any], option: str, right: str, own: Sequence[float], given: Callable[[float], Options]
) -> Mistake:
    """Return a mistake in which an option has a wrong default instead of the correct one, `right`."""

    def mistaken(*args: Any, own: float, **options: Any) -> Any:
        return step(*args, **{**given(own), **options})

    return instead_of(step, f"the default of {option} is {{own:g}}; it should be {right}", own=own)(mistaken)


def has_none(grads: Sequence[Grad]) -> bool:
    """Return whether any gradient is missing."""
    return any(grad is None for grad in grads)
