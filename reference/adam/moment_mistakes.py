"""Mistakes common to Adam and AdamW: in the averages, their bias corrections, and the update."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference import optimizers as course
from reference.adam import oracle as adam
from reference.adam.oracle import Betas, State
from reference.optimizer_mistakes import DIVISOR_STORED, ROOT_STORED, Grads, Options, change_default
from torchkata import Mistake, instead_of

P: TypeAlias = Float[Array, "*shape"]
Moved: TypeAlias = tuple[P, State]


@instead_of(adam.get_corrections, "bias correction is missing")
def uncorrected(t: int, betas: Betas) -> tuple[float, float]:
    return 1.0, 1.0


@instead_of(adam.get_corrections, "the average of the squared gradients is not bias-corrected")
def only_the_first_corrected(t: int, betas: Betas) -> tuple[float, float]:
    return 1 - betas[0] ** t, 1.0


@instead_of(adam.get_corrections, "the average of the gradient is not bias-corrected")
def only_the_second_corrected(t: int, betas: Betas) -> tuple[float, float]:
    return 1.0, 1 - betas[1] ** t


@instead_of(adam.get_corrections, "bias correction divides by 1 - beta instead of 1 - betaᵗ")
def of_the_first_step(t: int, betas: Betas) -> tuple[float, float]:
    return 1 - betas[0], 1 - betas[1]


@instead_of(adam.get_corrections, "bias correction uses t + 1: t should be 1 in the first step")
def one_too_many(t: int, betas: Betas) -> tuple[float, float]:
    return adam.get_corrections(t + 1, betas)


@instead_of(adam.get_corrections, "bias correction is one step late: the second step uses t = 1 instead of 2")
def one_too_few(t: int, betas: Betas) -> tuple[float, float]:
    return adam.get_corrections(max(1, t - 1), betas)


@instead_of(adam.get_corrections, "the square root is taken before bias correction, so 1 - beta2ᵗ is outside the root")
def corrected_outside(t: int, betas: Betas) -> tuple[float, float]:
    of_m, of_v = adam.get_corrections(t, betas)
    return of_m, of_v**2


@instead_of(course.hook_skipped_state, "t counts all steps of the optimizer instead of the steps of the parameter")
def counted_without_gradient(state: Any, options: Options) -> Any:
    m, v, t = state or (0.0, 0.0, 0)
    return m, v, t + 1


@instead_of(
    course.hook_recalled_state,
    "t counts each step in which any parameter of the group has a gradient: count those of each parameter separately",
)
def counted_for_steps_of_group(state: Any, grads: Grads, group: int, i: int, step: int) -> Any:
    m, v, _ = state or (0.0, 0.0, 0)
    return m, v, sum(any(grad is not None for grad in row[group]) for row in grads[:step])


@instead_of(
    course.hook_recalled_state, "t counts the updates of all parameters: count the steps of each parameter separately"
)
def counted_for_all(state: Any, grads: Grads, group: int, i: int, step: int) -> Any:
    return count_together(state, grads, group, i, step)


@instead_of(
    course.hook_recalled_state,
    "t counts the updates of all parameters in a group: count the steps of each parameter separately",
)
def counted_for_group(state: Any, grads: Grads, group: int, i: int, step: int) -> Any:
    return count_together(state, [[row[group]] for row in grads], 0, i, step)


def count_together(state: Any, grads: Grads, group: int, i: int, step: int) -> Any:
    """Return a parameter's state, with its step count replaced by the number of updates of all parameters so far."""
    earlier = [*(own for row in grads[:step] for own in row), *grads[step][:group], grads[step][group][:i]]
    m, v, _ = state or (0.0, 0.0, 0)
    return m, v, sum(grad is not None for own in earlier for grad in own)


@instead_of(course.hook_loaded_state, "t restarts at 1 after load_state_dict(): store it in self.state[p]")
def count_lost_in_loading(state: Any) -> Any:
    return state and (*state[:-1], 0)


@instead_of(adam.update_averages, "v averages the gradient's absolute value instead of its square")
def of_the_gradient_twice(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.update_averages(m, v, grad, betas)[0], betas[1] * v + (1 - betas[1]) * abs(grad)


@instead_of(adam.update_averages, "squares the average gradient instead of averaging the squared gradients")
def squared_average(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    m, _ = adam.update_averages(m, v, grad, betas)
    return m, m**2


@instead_of(adam.update_averages, "the new gradient and its square are not multiplied by 1 - beta")
def entering_whole(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return betas[0] * m + grad, betas[1] * v + grad**2


@instead_of(adam.update_averages, "the new gradient is not multiplied by 1 - beta1")
def gradient_enters_whole(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return betas[0] * m + grad, adam.update_averages(m, v, grad, betas)[1]


@instead_of(adam.update_averages, "the new squared gradient is not multiplied by 1 - beta2")
def square_enters_whole(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.update_averages(m, v, grad, betas)[0], betas[1] * v + grad**2


@instead_of(adam.update_averages, "the new gradient is multiplied by 1 - beta2 instead of 1 - beta1")
def gradient_enters_by_the_other(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return betas[0] * m + (1 - betas[1]) * grad, adam.update_averages(m, v, grad, betas)[1]


@instead_of(adam.update_averages, "the new squared gradient is multiplied by 1 - beta1 instead of 1 - beta2")
def square_enters_by_the_other(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.update_averages(m, v, grad, betas)[0], betas[1] * v + (1 - betas[0]) * grad**2


@instead_of(adam.update_averages, "the average of the squared gradients decays with beta1 instead of beta2")
def squares_fade_by_the_other(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.update_averages(m, v, grad, betas)[0], betas[0] * v + (1 - betas[1]) * grad**2


@instead_of(
    adam.get_corrections, "bias correction uses beta1 for both averages instead of beta2 for the squared gradients"
)
def both_corrected_by_the_first(t: int, betas: Betas) -> tuple[float, float]:
    return adam.get_corrections(t, (betas[0], betas[0]))


@instead_of(adam.update_averages, "the average of the squared gradients never decreases, as with amsgrad=True")
def never_falling(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    m, falling = adam.update_averages(m, v, grad, betas)
    return m, np.maximum(v, falling)


@instead_of(adam.update_averages, "the new gradient is multiplied by 1 - beta2 before it is squared, not after")
def squared_with_its_factor(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.update_averages(m, v, grad, betas)[0], betas[1] * v + ((1 - betas[1]) * grad) ** 2


@instead_of(
    adam.update_averages, "m and v overwrite each other, as if both were stored in one tensor: give each its own"
)
def in_one_tensor(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    _, both = adam.update_averages(m, adam.update_averages(m, v, grad, betas)[0], grad, betas)
    return both, both


@instead_of(adam.update_averages, "the averages are not kept: each step begins with averages of 0")
def not_kept(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.update_averages(0 * m, 0 * v, grad, betas)


@instead_of(
    adam.update_averages, "the first gradient enters the averages twice: they should be 0 before the first step"
)
def first_gradient_twice(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    is_first = not (np.any(m) or np.any(v))
    return adam.update_averages(*(adam.update_averages(m, v, grad, betas) if is_first else (m, v)), grad, betas)


@instead_of(adam.get_direction, "the divisor is the larger of the square root and eps instead of their sum")
def larger_of_root_and_epsilon(m: P, v: P, eps: float) -> P:
    return m / np.maximum(np.sqrt(v), eps)


@instead_of(adam.get_direction, "eps is added inside the square root")
def epsilon_inside(m: P, v: P, eps: float) -> P:
    return m / np.sqrt(v + eps)


@instead_of(adam.get_direction, "eps is missing")
def no_epsilon(m: P, v: P, eps: float) -> P:
    return m / np.sqrt(v)


@instead_of(adam.get_direction, "eps is always 1e-8: a group's own eps is ignored")
def constant_epsilon(m: P, v: P, eps: float) -> P:
    return adam.get_direction(m, v, 1e-8)


@instead_of(adam.get_direction, "the square root is missing")
def no_root(m: P, v: P, eps: float) -> P:
    return m / (v + eps)


@instead_of(adam.step, "eps is added to the square root before bias correction, so eps is also corrected")
def epsilon_too_early(
    p: P, state: State | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), eps: float = 1e-8, **options: Any
) -> Moved:
    t = state[-1] if state else 0
    _, of_v = adam.get_corrections(t + 1, betas)
    return adam.step(p, state, grad, lr, betas, eps / of_v**0.5, **options)


@instead_of(adam.step, "the update is added instead of subtracted")
def uphill(p: P, state: State | None, grad: P, lr: float, **options: Any) -> Moved:
    return adam.step(p, state, grad, -lr, **options)


@instead_of(adam.step, "the update uses the gradient itself instead of its average")
def without_the_first(
    p: P, state: State | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any
) -> Moved:
    return adam.step(p, state, grad, lr, (0.0, betas[1]), **options)


@instead_of(adam.step, "the update uses the gradient divided by 1 - beta1ᵗ instead of its corrected average")
def gradient_corrected(
    p: P, state: State | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), eps: float = 1e-8, **options: Any
) -> Moved:
    _, (m, v, t) = adam.step(p, state, grad, lr, betas, eps, **options)
    of_m, of_v = adam.get_corrections(t, betas)
    decayed = adam.add_decay(p, grad, options.get("weight_decay", 0.0))
    return p - lr * adam.get_direction(decayed / of_m, v / of_v, eps), (m, v, t)


@instead_of(adam.step, "beta1 and beta2 are swapped")
def exchanged(p: P, state: State | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any) -> Moved:
    return adam.step(p, state, grad, lr, (betas[1], betas[0]), **options)


@instead_of(adam.step, "beta1 is used for both averages instead of beta2 for the squared gradients")
def first_for_both(p: P, state: State | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any) -> Moved:
    return adam.step(p, state, grad, lr, (betas[0], betas[0]), **options)


@instead_of(course.get_options, "a group's own betas are ignored")
def constant_betas(given: Sequence[Options], group: int) -> Options:
    return {name: value for name, value in course.get_options(given, group).items() if name != "betas"}


@instead_of(course.get_options, "the betas of the first group are used for all groups")
def betas_of_first_group(given: Sequence[Options], group: int) -> Options:
    own, first = ({**course.get_options(given, each)} for each in (group, 0))
    own.pop("betas", None)
    return own | {name: value for name, value in first.items() if name == "betas"}


@instead_of(adam.step, "the average of the gradient is initialized to the first gradient instead of 0")
def starting_with_the_gradient(p: P, state: State | None, grad: P, lr: float, **options: Any) -> Moved:
    return adam.step(p, state or (grad, np.zeros_like(p), 0), grad, lr, **options)


def keep_corrected(message: str, *, first: bool = False, second: bool = False) -> Mistake:
    """Return a mistake that stores the bias-corrected value of the first or the second average, or of both."""

    def mistaken(p: P, state: State | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any) -> Moved:
        moved, (m, v, t) = adam.step(p, state, grad, lr, betas, **options)
        of_m, of_v = adam.get_corrections(t, betas)
        return moved, (m / of_m if first else m, v / of_v if second else v, t)

    return instead_of(adam.step, message)(mistaken)


corrected_first_kept = keep_corrected(
    "the bias-corrected average of the gradient is stored, so it is corrected again in the next step", first=True
)
corrected_second_kept = keep_corrected(
    "the bias-corrected average of the squared gradients is stored, so it is corrected again in the next step",
    second=True,
)
corrected_both_kept = keep_corrected(
    "both bias-corrected averages are stored, so they are corrected again in the next step", first=True, second=True
)


@instead_of(adam.step, ROOT_STORED)
def root_stored(p: P, state: State | None, grad: P, lr: float, **options: Any) -> Moved:
    moved, (m, v, t) = adam.step(p, state, grad, lr, **options)
    return moved, (m, np.sqrt(v), t)


@instead_of(adam.step, DIVISOR_STORED)
def divisor_stored(
    p: P, state: State | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), eps: float = 1e-8, **options: Any
) -> Moved:
    moved, (m, v, t) = adam.step(p, state, grad, lr, betas, eps, **options)
    return moved, (m, np.sqrt(v / adam.get_corrections(t, betas)[1]) + eps, t)


def step_with(
    p: P, state: State | None, grads: tuple[P, P], lr: float, betas: Betas = (0.9, 0.999), eps: float = 1e-8
) -> Moved:
    """Take a step without weight decay. `grads` contains one gradient for each of the two averages."""
    m, v, t = state or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = adam.update_averages(m, v, grads[0], betas)[0], adam.update_averages(m, v, grads[1], betas)[1]
    of_m, of_v = adam.get_corrections(t + 1, betas)
    return p - lr * adam.get_direction(m / of_m, v / of_v, eps), (m, v, t + 1)


def change_defaults(step: Callable[..., Moved]) -> tuple[Mistake, Mistake, Mistake]:
    """Return mistakes that use wrong defaults for beta1, beta2 and eps."""
    return (
        change_default(step, "beta1", "0.9", [0.5, 0.95, 0.99], lambda own: {"betas": (own, 0.999)}),
        change_default(step, "beta2", "0.999", [0.95, 0.98, 0.99, 0.9999], lambda own: {"betas": (0.9, own)}),
        change_default(step, "eps", "1e-8", [1e-10, 1e-7, 1e-6, 1e-5, 1e-3], lambda own: {"eps": own}),
    )


@instead_of(adam.get_corrections, "bias correction starts at t = 0 and divides by 0: t should be 1 in the first step")
def from_zero(t: int, betas: Betas) -> tuple[float, float]:
    return adam.get_corrections(t - 1, betas) if t > 1 else (np.nan, np.nan)


@instead_of(
    adam.get_corrections, "bias correction uses t - 1, and the first step has none: t should be 1 in the first step"
)
def none_in_the_first_step(t: int, betas: Betas) -> tuple[float, float]:
    return adam.get_corrections(t - 1, betas) if t > 1 else (1.0, 1.0)


@instead_of(adam.get_corrections, "t increases by {times:g} instead of 1 in each step", times=[2, 3, 4, 5, 6, 8, 10])
def counted_faster(t: int, betas: Betas, times: int) -> tuple[float, float]:
    return adam.get_corrections(times * t, betas)


@instead_of(adam.get_corrections, "bias correction uses beta * t instead of the power betaᵗ")
def product_for_power(t: int, betas: Betas) -> tuple[float, float]:
    return 1 - betas[0] * t, 1 - betas[1] * t


@instead_of(adam.get_corrections, "the averages are multiplied by 1 - betaᵗ instead of being divided by it")
def multiplied(t: int, betas: Betas) -> tuple[float, float]:
    of_m, of_v = adam.get_corrections(t, betas)
    return 1 / of_m, 1 / of_v


@instead_of(adam.get_corrections, "the two betas are swapped in bias correction")
def corrected_by_the_other(t: int, betas: Betas) -> tuple[float, float]:
    return adam.get_corrections(t, (betas[1], betas[0]))
