"""What an optimizer should have made of a run of steps, in float64, and the comparison with what it did."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy import ndarray as Array

from reference import optimizers as oracle
from reference.adagrad import oracle as adagrad
from reference.sgd import oracle as sgd
from tests.strategies import OptimizerRun
from torchkata import Plain, as_float64, assert_close, assert_equal

Memory: TypeAlias = Any  # what a rule keeps of one parameter: None before the first step
Step: TypeAlias = Callable[[Array, Memory, Array, dict[str, Any]], tuple[Array, Memory]]  # p, memory, grad, options


@dataclass(frozen=True)
class Rule:
    """What an optimizer does in one step, and the numbers it takes where none are given."""

    step: Step
    lr: float = 0.01
    betas: tuple[float, ...] = ()  # of averages that are divided by 1 − betaᵗ


def rule_of(oracle: ModuleType, lr: float, betas: tuple[float, ...] = ()) -> Rule:
    """The rule of an oracle that takes options by name; its `step` is looked up when it is called."""
    return Rule(lambda p, memory, grad, options: oracle.step(p, memory, grad, **options), lr, betas)


def sgd_step(p: Array, memory: Memory, grad: Array, options: dict[str, Any]) -> tuple[Array, Memory]:
    """SGD has no memory."""
    return sgd.step(p, grad, **options), memory


def adagrad_step(p: Array, memory: Memory, grad: Array, options: dict[str, Any]) -> tuple[Array, Memory]:
    """AdaGrad's sum starts at 0."""
    return adagrad.step(p, np.zeros_like(p) if memory is None else memory, grad, **options)


def met(run: OptimizerRun, g: int, i: int) -> oracle.Met:
    """What `params[g][i]` meets in every step: a gradient in float64, or None, and a rate."""
    grads = [[[None if x is None else as_float64(x) for x in row] for row in step] for step in run.grads]
    return oracle.met(run.lrs, grads, g, i)


SGD, ADAGRAD = Rule(sgd_step), Rule(adagrad_step)


def assert_run(yours: Plain, run: OptimizerRun, rule: Rule, expected: Plain = None) -> None:
    """Demand each parameter after each step, within the roundings that so many steps make.

    `expected[step][group][i]` takes the place of the rule's own numbers, where it is given.
    """
    dtype = run.params[0][0].dtype
    for g, group in enumerate(run.params):
        for i in range(len(group)):
            for t, (p, _, scale) in enumerate(walk(run, rule, g, i)):
                exact = p if expected is None else as_float64(expected[t][g][i])
                what = f"params[{g}][{i}] after step {t + 1}"
                assert_close(yours[t][g][i], exact, dtype=dtype, scale=scale, roundings=4 * (t + 2), what=what)


def assert_resumed(yours: Plain, end: Plain, run: OptimizerRun, rule: Rule, stop: int) -> None:
    """Demand that a run which was saved and loaded before step `stop` ends as it did without that, to the bit.

    Where the rule itself ends elsewhere, as a known mistake has it, demand the rule's own numbers.
    """
    dtype, steps = run.params[0][0].dtype, len(run.lrs)
    for g, group in enumerate(run.params):
        for i in range(len(group)):
            *_, (whole, _, _) = walk(run, rule, g, i)
            *_, (exact, _, scale) = walk(run, rule, g, i, loaded_at=stop)
            what = f"params[{g}][{i}] at the end"
            if np.array_equal(exact, whole):
                assert_equal(yours[g][i], end[g][i], what=what)
            else:
                assert_close(yours[g][i], exact, dtype=dtype, scale=scale, roundings=4 * (steps + 1), what=what)


def final_memory(run: OptimizerRun, rule: Rule) -> list[list[Memory]]:
    """The memory of each parameter after the last step."""
    return [[[*walk(run, rule, g, i)][-1][1] for i in range(len(group))] for g, group in enumerate(run.params)]


def walk(
    run: OptimizerRun, rule: Rule, g: int, i: int, loaded_at: int | None = None
) -> Iterator[tuple[Array, Memory, Array]]:
    """One parameter after each step, what is remembered of it, and the size of all terms that made it.

    Before step `loaded_at` the run is saved and loaded.

    These sizes are what the rule makes of absolute values when it adds each step instead of taking it away: then
    nothing cancels.
    """
    dtype = run.params[g][i].dtype
    p = as_float64(run.params[g][i])
    size, memory, sizes, own_steps = abs(p), None, None, 0
    scale = size
    for t, (grad, lr) in enumerate(met(run, g, i)):
        if t == loaded_at:
            memory, sizes = map(oracle.memory_after_loading, (memory, sizes))
        options = {"lr": lr, **oracle.options(run.options, g)}
        if grad is None:
            p = oracle.parameter_without_gradient(p, options)
            memory, sizes = map(oracle.memory_without_gradient, (memory, sizes))
        else:
            p, memory = rule.step(p, memory, grad, options)
            before = size
            size, sizes = rule.step(size, sizes, abs(grad), {**options, "lr": -lr})
            own_steps += 1
            loss = 1 + correction_roundings(options.get("betas", rule.betas), own_steps, dtype)
            scale = scale + abs(size - before) * loss
        yield p, memory, scale


def correction_roundings(betas: tuple[float, ...], t: int, dtype: torch.dtype) -> float:
    """What a step may lose to bias corrections, as a part of what it may lose anyway.

    `1 − betaᵗ` may be worked out in float32, whatever the parameter's dtype, as torch does where it captures steps: of
    0.001 it leaves four digits. Its relative error is (t + 1) / 2 roundings over 1 − betaᵗ, of 4 · (t + 2) allowed.
    """
    return float(torch.finfo(torch.float32).eps / torch.finfo(dtype).eps / 8 * sum(1 / (1 - beta**t) for beta in betas))
