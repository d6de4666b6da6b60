"""Mistakes in what Adam and AdamW share: the two averages, their corrections, and the step that they make."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference import optimizers as course
from reference.adam import oracle as adam
from reference.adam.oracle import Betas, Memory
from reference.optimizer_mistakes import other_number
from torchkata import Mistake, instead_of

P: TypeAlias = Float[Array, "*shape"]
Moved: TypeAlias = tuple[P, Memory]


@instead_of(adam.corrections, "bias correction is missing")
def uncorrected(t: int, betas: Betas) -> tuple[float, float]:
    return 1.0, 1.0


@instead_of(adam.corrections, "the average of the squares is not corrected")
def only_the_first_corrected(t: int, betas: Betas) -> tuple[float, float]:
    return 1 - betas[0] ** t, 1.0


@instead_of(adam.corrections, "the average of the gradient is not corrected")
def only_the_second_corrected(t: int, betas: Betas) -> tuple[float, float]:
    return 1.0, 1 - betas[1] ** t


@instead_of(adam.corrections, "bias correction divides by 1 - beta, whatever the step")
def of_the_first_step(t: int, betas: Betas) -> tuple[float, float]:
    return 1 - betas[0], 1 - betas[1]


@instead_of(adam.corrections, "bias correction counts one step too many: the first step is t = 1")
def one_too_many(t: int, betas: Betas) -> tuple[float, float]:
    return adam.corrections(t + 1, betas)


@instead_of(adam.corrections, "bias correction lags one step behind: the second step is t = 2, and counts as t = 1")
def one_too_few(t: int, betas: Betas) -> tuple[float, float]:
    return adam.corrections(max(1, t - 1), betas)


@instead_of(adam.corrections, "the root is taken before bias correction: 1 - beta2ᵗ stands outside it")
def corrected_outside(t: int, betas: Betas) -> tuple[float, float]:
    of_m, of_v = adam.corrections(t, betas)
    return of_m, of_v**2


@instead_of(course.memory_without_gradient, "t counts all steps of the optimizer; it should count the parameter's own")
def counted_without_gradient(memory: Any) -> Any:
    m, v, t = memory or (0.0, 0.0, 0)
    return m, v, t + 1


@instead_of(course.memory_after_loading, "t is not in self.state[p]: after load_state_dict() it counts from 1 again")
def count_lost_in_loading(memory: Any) -> Any:
    return memory and (*memory[:-1], 0)


@instead_of(adam.averages, "beta2 is applied to the gradient, not to its square")
def of_the_gradient_twice(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.averages(m, v, grad, betas)[0], betas[1] * v + (1 - betas[1]) * abs(grad)


@instead_of(adam.averages, "the average of the gradient is squared; the squares should be averaged")
def squared_average(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    m, _ = adam.averages(m, v, grad, betas)
    return m, m**2


@instead_of(adam.averages, "the new gradient and its square enter whole, without 1 - beta")
def entering_whole(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return betas[0] * m + grad, betas[1] * v + grad**2


@instead_of(adam.averages, "the gradient enters its average whole, without 1 - beta1")
def gradient_enters_whole(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return betas[0] * m + grad, adam.averages(m, v, grad, betas)[1]


@instead_of(adam.averages, "the squared gradient enters its average whole, without 1 - beta2")
def square_enters_whole(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.averages(m, v, grad, betas)[0], betas[1] * v + grad**2


@instead_of(adam.averages, "the gradient enters its average times 1 - beta2; 1 - beta1 is right")
def gradient_enters_by_the_other(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return betas[0] * m + (1 - betas[1]) * grad, adam.averages(m, v, grad, betas)[1]


@instead_of(adam.averages, "the squared gradient enters its average times 1 - beta1; 1 - beta2 is right")
def square_enters_by_the_other(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.averages(m, v, grad, betas)[0], betas[1] * v + (1 - betas[0]) * grad**2


@instead_of(adam.averages, "the average of the squares fades with beta1; beta2 is right")
def squares_fade_by_the_other(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    return adam.averages(m, v, grad, betas)[0], betas[0] * v + (1 - betas[1]) * grad**2


@instead_of(adam.corrections, "beta1 corrects both averages; beta2 is that of the squares")
def both_corrected_by_the_first(t: int, betas: Betas) -> tuple[float, float]:
    return adam.corrections(t, (betas[0], betas[0]))


@instead_of(adam.averages, "the average of the squares never falls, as if amsgrad were asked for")
def never_falling(m: P, v: P, grad: P, betas: Betas) -> tuple[P, P]:
    m, falling = adam.averages(m, v, grad, betas)
    return m, np.maximum(v, falling)


@instead_of(adam.direction, "eps stands inside the root")
def epsilon_inside(m: P, v: P, eps: float) -> P:
    return m / np.sqrt(v + eps)


@instead_of(adam.direction, "eps is missing")
def no_epsilon(m: P, v: P, eps: float) -> P:
    return m / np.sqrt(v)


@instead_of(adam.direction, "eps is always 1e-8: a group's own is not used")
def constant_epsilon(m: P, v: P, eps: float) -> P:
    return adam.direction(m, v, 1e-8)


@instead_of(adam.direction, "the root is missing")
def no_root(m: P, v: P, eps: float) -> P:
    return m / (v + eps)


@instead_of(adam.step, "eps joins the root before bias correction, and is corrected with it")
def epsilon_too_early(
    p: P,
    memory: Memory | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> Moved:
    t = memory[-1] if memory else 0
    _, of_v = adam.corrections(t + 1, betas)
    return adam.step(p, memory, grad, lr, betas, eps / of_v**0.5, weight_decay)


@instead_of(adam.step, "the step is added: it goes uphill")
def uphill(p: P, memory: Memory | None, grad: P, lr: float, **options: Any) -> Moved:
    return adam.step(p, memory, grad, -lr, **options)


@instead_of(adam.step, "p moves by the gradient itself, not by its average")
def without_the_first(
    p: P, memory: Memory | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any
) -> Moved:
    return adam.step(p, memory, grad, lr, (0.0, betas[1]), **options)


@instead_of(adam.step, "beta1 and beta2 have changed places")
def exchanged(p: P, memory: Memory | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any) -> Moved:
    return adam.step(p, memory, grad, lr, (betas[1], betas[0]), **options)


@instead_of(adam.step, "beta1 is used for both averages; beta2 is that of the squares")
def first_for_both(
    p: P, memory: Memory | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any
) -> Moved:
    return adam.step(p, memory, grad, lr, (betas[0], betas[0]), **options)


@instead_of(adam.step, "a group's own betas are not used")
def constant_betas(
    p: P, memory: Memory | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any
) -> Moved:
    return adam.step(p, memory, grad, lr, **options)


@instead_of(adam.step, "the average of the gradient starts with the first gradient; it starts at 0")
def starting_with_the_gradient(p: P, memory: Memory | None, grad: P, lr: float, **options: Any) -> Moved:
    return adam.step(p, memory or (grad, np.zeros_like(p), 0), grad, lr, **options)


@instead_of(adam.step, "the average of the gradient is kept corrected, and corrected again in the next step")
def corrected_first_kept(
    p: P, memory: Memory | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any
) -> Moved:
    moved, (m, v, t) = adam.step(p, memory, grad, lr, betas, **options)
    return moved, (m / adam.corrections(t, betas)[0], v, t)


@instead_of(adam.step, "the average of the squares is kept corrected, and corrected again in the next step")
def corrected_second_kept(
    p: P, memory: Memory | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any
) -> Moved:
    moved, (m, v, t) = adam.step(p, memory, grad, lr, betas, **options)
    return moved, (m, v / adam.corrections(t, betas)[1], t)


@instead_of(adam.step, "both averages are kept corrected, and corrected again in the next step")
def corrected_both_kept(
    p: P, memory: Memory | None, grad: P, lr: float, betas: Betas = (0.9, 0.999), **options: Any
) -> Moved:
    moved, (m, v, t) = adam.step(p, memory, grad, lr, betas, **options)
    of_m, of_v = adam.corrections(t, betas)
    return moved, (m / of_m, v / of_v, t)


def other_numbers(step: Callable[..., Moved]) -> dict[str, Mistake]:
    """Betas and eps of a step that are others than Adam's where none are given, by name."""
    return {
        "other_default_of_beta1": other_number(
            step, "beta1", "0.9", [0.5, 0.95, 0.99], lambda own: {"betas": (own, 0.999)}
        ),
        "other_default_of_beta2": other_number(
            step, "beta2", "0.999", [0.95, 0.98, 0.99, 0.9999], lambda own: {"betas": (0.9, own)}
        ),
        "other_default_of_epsilon": other_number(
            step, "eps", "1e-8", [1e-10, 1e-7, 1e-6, 1e-5, 1e-3], lambda own: {"eps": own}
        ),
    }


@instead_of(adam.corrections, "bias correction begins with t = 0, where it divides by 0: the first step is t = 1")
def from_zero(t: int, betas: Betas) -> tuple[float, float]:
    return adam.corrections(t - 1, betas) if t > 1 else (np.nan, np.nan)


@instead_of(adam.corrections, "t goes up by {times:g} in each step, not by 1", times=[2, 3, 4, 5, 6, 8, 10])
def counted_faster(t: int, betas: Betas, times: int) -> tuple[float, float]:
    return adam.corrections(times * t, betas)


@instead_of(adam.corrections, "bias correction takes beta * t; it is the power betaᵗ")
def product_for_power(t: int, betas: Betas) -> tuple[float, float]:
    return 1 - betas[0] * t, 1 - betas[1] * t


@instead_of(adam.corrections, "the corrections are multiplied with, and should be divided by")
def multiplied(t: int, betas: Betas) -> tuple[float, float]:
    of_m, of_v = adam.corrections(t, betas)
    return 1 / of_m, 1 / of_v


@instead_of(adam.corrections, "the two betas have changed places in bias correction")
def corrected_by_the_other(t: int, betas: Betas) -> tuple[float, float]:
    return adam.corrections(t, (betas[1], betas[0]))
