"""Mistakes that any optimizer can make, whatever its rule: each optimizer's file takes them over."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from reference import optimizers
from reference.optimizers import Grad, Met
from torchkata import Mistake, instead_of

Lrs: TypeAlias = Sequence[Sequence[float]]
Grads: TypeAlias = Sequence[Sequence[Sequence[Grad]]]
Options: TypeAlias = Mapping[str, Any]
Bytes: TypeAlias = Mapping[str, int]  # by dtype

RATES = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]  # that are common
BOUNDS = [0.1, 0.5, 1.0, 5.0, 10.0, 100.0, 1000.0]  # of a gradient
ITEMSIZES = {"torch.float64": 8, "torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2}


def rates(met: Met, lrs: Sequence[float]) -> Met:
    """The same gradients at other rates."""
    return [(grad, lr) for (grad, _), lr in zip(met, lrs, strict=True)]


def only_where(met: Met, moves: Sequence[bool]) -> Met:
    """The same, without gradient in some steps."""
    return [(grad if here else None, lr) for (grad, lr), here in zip(met, moves, strict=True)]


@instead_of(optimizers.met, "the rate of the first group is used for all")
def rate_of_first_group(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return (
        optimizers.met(lrs, grads, group, i)
        if group == 0
        else rates(optimizers.met(lrs, grads, group, i), column(lrs, 0))
    )


@instead_of(optimizers.met, "the rate given at the start, for all groups, is used for ever")
def rate_of_constructor(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return rates(optimizers.met(lrs, grads, group, i), [lrs[0][0]] * len(lrs))


@instead_of(optimizers.met, "the rate that a group began with is used in all steps")
def first_rate(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return rates(optimizers.met(lrs, grads, group, i), [lrs[0][group]] * len(lrs))


@instead_of(optimizers.met, "a changed rate counts in the first group only")
def first_rate_of_later_groups(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    found = optimizers.met(lrs, grads, group, i)
    return found if group == 0 else rates(found, [lrs[0][group]] * len(lrs))


@instead_of(optimizers.met, "a changed rate counts one step late")
def late_rate(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return rates(optimizers.met(lrs, grads, group, i), [lrs[max(0, t - 1)][group] for t in range(len(lrs))])


@instead_of(optimizers.met, "a rate of 0 is taken for none, and {rate:g} used", rate=RATES)
def zero_is_none(lrs: Lrs, grads: Grads, group: int, i: int, rate: float) -> Met:
    return rates(optimizers.met(lrs, grads, group, i), [lr or rate for lr in column(lrs, group)])


@instead_of(optimizers.met, "lr falls by itself, as 1 / (1 + {fall:g} * steps)", fall=[0.01, 0.1, 0.5, 1.0])
def falling_rate(lrs: Lrs, grads: Grads, group: int, i: int, fall: float) -> Met:
    found: Met = []
    for grad, lr in optimizers.met(lrs, grads, group, i):
        steps = sum(earlier is not None for earlier, _ in found)
        found.append((grad, lr / (1 + fall * steps)))
    return found


@instead_of(optimizers.met, "the gradient is clipped to norm {most:g}", most=BOUNDS)
def clipped(lrs: Lrs, grads: Grads, group: int, i: int, most: float) -> Met:
    return [
        (grad if grad is None else grad / max(1.0, float(np.linalg.norm(grad)) / most), lr)
        for grad, lr in optimizers.met(lrs, grads, group, i)
    ]


@instead_of(optimizers.met, "the elements of the gradient are cut off at -{most:g} and {most:g}", most=BOUNDS)
def cut_off(lrs: Lrs, grads: Grads, group: int, i: int, most: float) -> Met:
    return [(grad if grad is None else grad.clip(-most, most), lr) for grad, lr in optimizers.met(lrs, grads, group, i)]


@instead_of(optimizers.met, "the second group, which add_param_group() has added, does not move")
def first_group_only(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return only_where(optimizers.met(lrs, grads, group, i), [group == 0] * len(lrs))


@instead_of(optimizers.met, "only the first parameter of each group moves")
def first_parameter_only(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return only_where(optimizers.met(lrs, grads, group, i), [i == 0] * len(lrs))


@instead_of(optimizers.met, "a parameter without gradient ends the whole step: no parameter after it moves")
def step_ends_at_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    before = [
        [grad for g, row in enumerate(step) for j, grad in enumerate(row) if (g, j) < (group, i)] for step in grads
    ]
    return only_where(optimizers.met(lrs, grads, group, i), [not has_none(earlier) for earlier in before])


@instead_of(optimizers.met, "a parameter without gradient ends its group: those after it do not move")
def group_ends_at_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return only_where(optimizers.met(lrs, grads, group, i), [not has_none(step[group][:i]) for step in grads])


@instead_of(optimizers.met, "a parameter without gradient keeps its whole group from moving")
def group_skipped_at_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return only_where(optimizers.met(lrs, grads, group, i), [not has_none(step[group]) for step in grads])


@instead_of(optimizers.met, "where there is no gradient, the last one is used again")
def last_gradient_again(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    last: Grad = None
    found = []
    for grad, lr in optimizers.met(lrs, grads, group, i):
        last = last if grad is None else grad
        found.append((last, lr))
    return found


@instead_of(optimizers.met, "a missing gradient counts as one of zeros: the parameter should be skipped")
def zeros_for_none(lrs: Lrs, grads: Grads, group: int, i: int) -> Met:
    return [(np.zeros(()) if grad is None else grad, lr) for grad, lr in optimizers.met(lrs, grads, group, i)]


@instead_of(optimizers.memory_without_gradient, "a step without gradient wipes the memory: it should stay as it is")
def wiped_without_gradient(memory: Any) -> None:
    return


@instead_of(
    optimizers.memory_after_loading,
    "after load_state_dict() it starts anew: all that it needs belongs in self.state[p]",
)
def lost_in_loading(memory: Any) -> None:
    return


@instead_of(optimizers.rates_after_loading, "load_state_dict() does not count for the rates: those from before it stay")
def rates_from_before(saved: Sequence[float], own: Sequence[float]) -> Sequence[float]:
    return own


@instead_of(optimizers.is_needed, "another tensor is kept for each parameter, beside those that the rule needs")
def further_tensor(kept: Bytes, own: Bytes, tensors: int) -> bool:
    return kept.keys() <= own.keys() and optimizers.is_needed(kept, own, tensors + 1)


@instead_of(optimizers.is_needed, "the memory is kept in float{bits:g}, whatever the parameter's dtype", bits=[32, 64])
def kept_in_one_format(kept: Bytes, own: Bytes, tensors: int, bits: int) -> bool:
    in_it = {dtype: bits // 8 * size // ITEMSIZES[dtype] for dtype, size in own.items()}
    return kept.keys() <= {f"torch.float{bits}"} and optimizers.is_needed(kept, in_it, tensors)


@instead_of(optimizers.options, "the options of the first group, apart from lr, are used for all")
def options_of_first_group(given: Sequence[Options], group: int) -> Options:
    return optimizers.options(given, 0)


@instead_of(optimizers.options, "a group's own options, apart from lr, count for nothing: those given for all are used")
def options_of_constructor(given: Sequence[Options], group: int) -> Options:
    return {}


@instead_of(optimizers.default_rate, "the default lr is {rate:g}: it should be another", rate=RATES)
def other_default(lr: float, rate: float) -> float:
    return rate


@instead_of(optimizers.rates_without_own, "a group without an lr of its own gets the default, not the lr given for all")
def default_for_groups(default: float, lr: float) -> tuple[float, float]:
    return optimizers.rates_without_own(default, default)


def other_number(
    step: Callable[..., Any], named: str, right: str, own: Sequence[float], given: Callable[[float], Options]
) -> Mistake:
    """An option of a step has another number than the `right` one where none is given."""

    def mistaken(*args: Any, own: float, **options: Any) -> Any:
        """What is given counts, of course."""
        return step(*args, **{**given(own), **options})

    return instead_of(step, f"{named} is {{own:g}} unless given; it should be {right}", own=own)(mistaken)


def column(lrs: Lrs, group: int) -> list[float]:
    """The rates of one group."""
    return [rates[group] for rates in lrs]


def has_none(grads: Sequence[Grad]) -> bool:
    """Whether one of these is missing."""
    return any(grad is None for grad in grads)
