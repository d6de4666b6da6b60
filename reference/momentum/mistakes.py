"""Mistakes in gradient descent with momentum."""

from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from numpy import zeros_like

from reference import optimizers as course
from reference.momentum import oracle
from reference.optimizer_mistakes import *  # noqa: F403
from reference.optimizer_mistakes import other_number
from torchkata import instead_of

P: TypeAlias = Float[Array, "*shape"]
Moved: TypeAlias = tuple[P, P]

other_default_of_momentum = other_number(
    oracle.step, "momentum", "0.9", [0.0, 0.5, 0.95, 0.99], lambda own: {"momentum": own}
)
damped_by_default = other_number(oracle.step, "dampening", "0", [0.1, 0.5, 0.9, 1.0], lambda own: {"dampening": own})


@instead_of(oracle.memory, "nothing is remembered: the memory is the last gradient")
def forgotten(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad


@instead_of(oracle.memory, "the memory is an average: the gradient enters it with 1 - momentum")
def averaged(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return (1 - momentum) * grad if b is None else momentum * b + (1 - momentum) * grad


@instead_of(oracle.memory, "after the first step the gradient enters the memory with 1 - momentum, as in an average")
def averaged_later(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * b + (1 - momentum) * grad


@instead_of(oracle.memory, "the memory does not fade: momentum is missing before it")
def added_up(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else b + (1 - dampening) * grad


@instead_of(oracle.memory, "the memory is multiplied by 1 - momentum; momentum is the part that stays")
def fading_the_other_way(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else (1 - momentum) * b + (1 - dampening) * grad


@instead_of(oracle.memory, "dampening is ignored")
def undamped(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * b + grad


@instead_of(oracle.memory, "the first gradient is damped, too")
def damped_from_the_start(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return (1 - dampening) * grad + (0 if b is None else momentum * b)


@instead_of(oracle.memory, "dampening weighs the gradient itself, not 1 - dampening")
def damped_the_other_way(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * b + dampening * grad


@instead_of(oracle.memory, "dampening weakens the whole memory; it is for the new gradient alone")
def all_damped(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else (1 - dampening) * (momentum * b + grad)


@instead_of(oracle.memory, "the memory is p.grad's own tensor, into which the next gradient is written: clone() it")
def of_the_gradients_own(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    return grad if b is None else momentum * grad + (1 - dampening) * (momentum * grad)


@instead_of(
    oracle.direction, "nesterov changes nothing: p should move by grad + momentum * b, of the b with grad in it"
)
def never_ahead(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return b


@instead_of(oracle.direction, "nesterov is on in any case")
def always_ahead(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return grad + momentum * b


@instead_of(oracle.direction, "nesterov adds the memory without momentum before it")
def too_far_ahead(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return grad + b if nesterov else b


@instead_of(oracle.direction, "with nesterov p moves by momentum * b alone: the gradient before it is missing")
def ahead_without_the_gradient(b: P, grad: P, momentum: float, nesterov: bool) -> P:
    return momentum * b if nesterov else b


@instead_of(oracle.step, "nesterov begins with the second step: the first should look ahead, too")
def ahead_one_step_late(
    p: P,
    b: P | None,
    grad: P,
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> Moved:
    return oracle.step(p, b, grad, lr, momentum, dampening, nesterov and b is not None)


@instead_of(oracle.step, "the memory holds steps, each at the lr of its time: lr belongs outside it")
def remembers_steps(
    p: P,
    b: P | None,
    grad: P,
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> Moved:
    b = oracle.memory(b, lr * grad, momentum, dampening)
    return p - oracle.direction(b, lr * grad, momentum, nesterov), b


@instead_of(oracle.step, "the parameter moves before the gradient joins the memory")
def one_step_late(
    p: P,
    b: P | None,
    grad: P,
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> Moved:
    before = zeros_like(p) if b is None else b
    return p - lr * oracle.direction(before, grad, momentum, nesterov), oracle.memory(b, grad, momentum, dampening)


@instead_of(oracle.step, "the gradient is added: p goes uphill")
def uphill(
    p: P,
    b: P | None,
    grad: P,
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> Moved:
    b = oracle.memory(b, grad, momentum, dampening)
    return p + lr * oracle.direction(b, grad, momentum, nesterov), b


class FirstOfAll(np.ndarray[Any, Any]):
    """A memory that is still the first gradient's own tensor."""


@instead_of(oracle.memory, "the first memory is p.grad's own tensor, which the next gradient overwrites: clone() it")
def first_of_the_gradients_own(b: P | None, grad: P, momentum: float, dampening: float) -> P:
    if b is None:
        return np.asarray(grad).view(FirstOfAll)
    return np.asarray(momentum * (grad if isinstance(b, FirstOfAll) else b) + (1 - dampening) * grad)


@instead_of(
    course.memory_without_gradient,
    "a parameter's first gradient is damped where a step without one came before: its own first step counts",
)
def first_step_of_the_optimizer(memory: Any) -> Any:
    return 0.0 if memory is None else memory
