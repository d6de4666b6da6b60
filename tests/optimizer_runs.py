"""Runs of several optimizer steps: the expected results in float64, and their comparison with a student's run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy import ndarray as Array

from reference import optimizers as oracle
from reference.adagrad import oracle as adagrad
from reference.sgd import oracle as sgd
from tests.probes import optimizers
from tests.strategies import OptimizerRun
from torchkata import Plain, as_float64, assert_close, assert_equal

State: TypeAlias = Any  # of one parameter; None before its first step
Step: TypeAlias = Callable[[Array, State, Array, dict[str, Any]], tuple[Array, State]]  # p, state, grad, options


@dataclass(frozen=True)
class Rule:
    """One step of an optimizer, and the defaults of its options."""

    step: Step
    lr: float = 0.01
    betas: tuple[float, ...] = ()  # of averages that are divided by 1 − betaᵗ


def make_rule(oracle: ModuleType, lr: float, betas: tuple[float, ...] = ()) -> Rule:
    """Return the rule of an oracle. Its `step` is looked up at each call, so that a known mistake can replace it."""
    return Rule(lambda p, state, grad, options: oracle.step(p, state, grad, **options), lr, betas)


SGD = Rule(lambda p, state, grad, options: (sgd.step(p, grad, **options), state))
ADAGRAD = Rule(
    lambda p, state, grad, options: adagrad.step(p, np.zeros_like(p) if state is None else state, grad, **options)
)


def assert_run(yours: Plain, run: OptimizerRun, rule: Rule, expected: Plain = None) -> None:
    """Assert that each parameter is right after each step, within the rounding errors of that many steps.

    If `expected[step][group][i]` is given, it replaces the rule's results.
    """
    dtype = run.params[0][0].dtype
    for g, group in enumerate(run.params):
        for i in range(len(group)):
            for t, (p, _, scale) in enumerate(simulate(run, rule, g, i)):
                exact = p if expected is None else as_float64(expected[t][g][i])
                what = f"params[{g}][{i}] after step {t + 1}"
                assert_close(yours[t][g][i], exact, dtype=dtype, scale=scale, roundings=4 * (t + 2), what=what)


def assert_resumed(yours: Plain, end: Plain, run: OptimizerRun, rule: Rule, stop: int) -> None:
    """Assert that a run saved and loaded before step `stop` ends bit for bit like the uninterrupted one.

    If the oracle makes a known mistake that changes the end, expect the oracle's end instead.
    """
    dtype, steps = run.params[0][0].dtype, len(run.lrs)
    for g, group in enumerate(run.params):
        for i in range(len(group)):
            *_, (whole, _, _) = simulate(run, rule, g, i)
            *_, (exact, _, scale) = simulate(run, rule, g, i, loaded_at=stop)
            what = f"params[{g}][{i}] at the end"
            if np.array_equal(exact, whole):
                assert_equal(yours[g][i], end[g][i], what=what)
            else:
                assert_close(yours[g][i], exact, dtype=dtype, scale=scale, roundings=4 * (steps + 1), what=what)


def simulate(
    run: OptimizerRun, rule: Rule, g: int, i: int, loaded_at: int | None = None
) -> Iterator[tuple[Array, State, Array]]:
    """Yield `params[g][i]` after each step, its state, and the scale of its rounding errors.

    The scale is the sum of the sizes of all terms: the rule applied to absolute values, with a negative rate, so that
    nothing cancels. Before step `loaded_at` the run is saved and loaded.
    """
    dtype = run.params[g][i].dtype
    p = as_float64(run.params[g][i])
    size, state, sizes, own_steps = abs(p), None, None, 0
    scale = size
    all_grads = [[[None if x is None else as_float64(x) for x in row] for row in step] for step in run.grads]
    for t, (grad, lr) in enumerate(oracle.collect_inputs(run.lrs, all_grads, g, i)):
        if t == loaded_at:
            state, sizes = map(oracle.load_state, (state, sizes))
        options = {"lr": lr, **oracle.get_options(run.options, g)}
        if grad is None:
            p = oracle.skip_parameter(p, options)
            state, sizes = map(oracle.skip_state, (state, sizes))
        else:
            p, state = rule.step(p, state, grad, options)
            before = size
            size, sizes = rule.step(size, sizes, abs(grad), {**options, "lr": -lr})
            own_steps += 1
            loss = 1 + estimate_correction_error(options.get("betas", rule.betas), own_steps, dtype)
            scale = scale + abs(size - before) * loss
        yield p, state, scale


def estimate_correction_error(betas: tuple[float, ...], t: int, dtype: torch.dtype) -> float:
    """Return the error of a step due to bias correction, relative to the error that is allowed anyway.

    A student may compute `1 − betaᵗ` in float32 for any dtype, as torch does with `capturable=True`: for 0.001, this
    keeps only four digits. The relative error is (t + 1) / 2 roundings over 1 − betaᵗ, while 4 · (t + 2) are allowed.
    """
    return float(torch.finfo(torch.float32).eps / torch.finfo(dtype).eps / 8 * sum(1 / (1 - beta**t) for beta in betas))


def convert_to_float64(run: OptimizerRun) -> OptimizerRun:
    """Return the same run in float64."""
    params = [[p.double() for p in group] for group in run.params]
    grads = [[[None if grad is None else grad.double() for grad in group] for group in step] for step in run.grads]
    return replace(run, params=params, grads=grads)


def run_torch(optimizer_class: Callable[..., Any] | None, run: OptimizerRun) -> Plain:
    """Return the parameters after every step of `optimizer_class(groups, lr=…)`, in float64."""
    run = convert_to_float64(run)
    optimizer = optimizers.build(optimizer_class, run.params, run.lrs[0], run.options)
    return optimizers.take_steps(optimizer, run.lrs, run.grads)
