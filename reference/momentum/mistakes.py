"""Mistakes in SGD with momentum."""

from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from numpy import zeros_like

from reference import optimizer_mistakes
from reference import optimizers as course
from reference.momentum import oracle
from reference.optimizer_mistakes import Options, change_default, ignore_own_option, ignore_zero_option
from torchkata import instead_of

SHARED = [optimizer_mistakes]
P: TypeAlias = Float[Array, "*shape"]
Moved: TypeAlias = tuple[P, P]

other_default_of_momentum = change_default(
    oracle.step, "momentum", "0.9", [0.0, 0.5, 0.95, 0.99], lambda own: {"momentum": own}
)
option_of_constructor = ignore_own_option("momentum", "dampening", "nesterov")
zero_ignored_in_group, zero_ignored = ignore_zero_option(oracle.step, "momentum")
damped_by_default = change_default(oracle.step, "dampening", "0", [0.1, 0.5, 0.9, 1.0], lambda own: {"dampening": own})


@instead_of(oracle.update_buffer, "earlier gradients have no effect, as if the buffer were only the last gradient")
def forgotten(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad


@instead_of(oracle.update_buffer, "the gradient is multiplied by 1 - momentum, as in a running average")
def averaged(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return (1 - momentum) * grad if b is None else momentum * b + (1 - momentum) * grad


@instead_of(
    oracle.update_buffer, "after the first step, the gradient is multiplied by 1 - momentum, as in a running average"
)
def averaged_later(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * b + (1 - momentum) * grad


@instead_of(oracle.update_buffer, "the buffer is not multiplied by momentum")
def added_up(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else b + (1 - dampening) * grad


@instead_of(oracle.update_buffer, "the buffer is multiplied by 1 - momentum instead of momentum")
def fading_the_other_way(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else (1 - momentum) * b + (1 - dampening) * grad


@instead_of(oracle.update_buffer, "dampening is ignored")
def undamped(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * b + grad


@instead_of(oracle.update_buffer, "dampening is also applied to the first gradient")
def damped_from_the_start(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return (1 - dampening) * grad + (0 if b is None else momentum * b)


@instead_of(oracle.update_buffer, "the gradient is multiplied by dampening instead of 1 - dampening")
def damped_the_other_way(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * b + dampening * grad


@instead_of(oracle.update_buffer, "dampening is applied to the whole buffer instead of only to the new gradient")
def all_damped(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else (1 - dampening) * (momentum * b + grad)


@instead_of(oracle.update_buffer, "the old buffer is multiplied by 1 - dampening instead of the new gradient")
def buffer_damped(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else (1 - dampening) * momentum * b + grad


@instead_of(
    oracle.update_buffer, "the next gradient overwrites the buffer, as if it were the tensor p.grad itself: use clone()"
)
def of_the_gradients_own(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * grad + (1 - dampening) * (momentum * grad)


@instead_of(oracle.get_direction, "nesterov has no effect: use grad + momentum * b, where b already includes grad")
def never_ahead(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return b


@instead_of(oracle.get_direction, "nesterov is always on")
def always_ahead(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return grad + momentum * b


@instead_of(oracle.get_direction, "nesterov uses grad + b instead of grad + momentum * b")
def too_far_ahead(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return grad + b if nesterov else b


@instead_of(oracle.get_direction, "nesterov uses momentum * b instead of grad + momentum * b")
def ahead_without_the_gradient(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return momentum * b if nesterov else b


@instead_of(oracle.get_direction, "nesterov uses b + momentum * b instead of grad + momentum * b")
def ahead_of_the_buffer(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return b + momentum * b if nesterov else b


@instead_of(oracle.get_direction, "nesterov uses (1 - momentum) * grad + momentum * b instead of grad + momentum * b")
def ahead_as_an_average(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return (1 - momentum) * grad + momentum * b if nesterov else b


@instead_of(oracle.step, "nesterov has no effect in the first step")
def ahead_one_step_late(p: P, b: P | None, grad: P, lr: float, nesterov: bool = False, **options: Any) -> Moved:
    return oracle.step(p, b, grad, lr, nesterov=nesterov and b is not None, **options)


@instead_of(
    oracle.step,
    "from the second step on, nesterov uses the buffer from before this step's update, not the updated one",
)
def ahead_with_the_old_buffer(
    p: P, b: P | None, grad: P, lr: float, momentum: float = 0.9, nesterov: bool = False, **options: Any
) -> Moved:
    moved, new = oracle.step(p, b, grad, lr, momentum, nesterov=nesterov, **options)
    if b is None or not nesterov:
        return moved, new
    return p - lr * oracle.get_direction(b, grad, momentum, nesterov), new


@instead_of(
    oracle.step,
    "the buffer includes lr, so a changed lr does not apply to earlier gradients: multiply by lr only in the update",
)
def remembers_steps(p: P, b: P | None, grad: P, lr: float, **options: Any) -> Moved:
    return oracle.step(p, b, lr * grad, 1.0, **options)


@instead_of(oracle.step, "the parameter is updated with the buffer from before the step, which lacks the new gradient")
def one_step_late(
    p: P, b: P | None, grad: P, lr: float, momentum: float = 0.9, nesterov: bool = False, **options: Any
) -> Moved:
    before = zeros_like(p) if b is None else b
    _, b = oracle.step(p, b, grad, lr, momentum, nesterov=nesterov, **options)
    return p - lr * oracle.get_direction(before, grad, momentum, nesterov), b


@instead_of(
    oracle.step,
    "from the second step on, the parameter is updated with the buffer from before the step, which lacks the new "
    "gradient",
)
def later_steps_late(
    p: P, b: P | None, grad: P, lr: float, momentum: float = 0.9, nesterov: bool = False, **options: Any
) -> Moved:
    moved, new = oracle.step(p, b, grad, lr, momentum, nesterov=nesterov, **options)
    return moved if b is None else p - lr * oracle.get_direction(b, grad, momentum, nesterov), new


@instead_of(oracle.step, "the update is added instead of subtracted")
def uphill(p: P, b: P | None, grad: P, lr: float, **options: Any) -> Moved:
    return oracle.step(p, b, grad, -lr, **options)


class FirstOfAll(np.ndarray[Any, Any]):
    """A buffer that is the same tensor object as the first gradient."""


@instead_of(
    oracle.update_buffer,
    "the next gradient overwrites the first buffer, as if it were the tensor p.grad itself: use clone()",
)
def first_of_the_gradients_own(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    if b is None:
        return np.asarray(grad).view(FirstOfAll)
    return np.asarray(momentum * (grad if isinstance(b, FirstOfAll) else b) + (1 - dampening) * grad)


@instead_of(
    course.hook_skipped_state,
    "dampening is applied to a parameter's first gradient if its grad was None in an earlier step",
)
def first_step_of_the_optimizer(state: Any, options: Options) -> Any:
    return 0.0 if state is None else state


@instead_of(course.hook_skipped_state, "a step in which the gradient is None multiplies the buffer by momentum")
def fades_without_gradient(state: Any, options: Options) -> Any:
    return None if state is None else options.get("momentum", 0.9) * state


@instead_of(course.hook_skipped_parameter, "a parameter without a gradient is still moved by its buffer: skip it")
def coasts_without_gradient(p: P, options: Options, state: Any) -> P:
    return p if state is None else p - options["lr"] * state
