"""Computes the expected results of several optimizer steps in float64, and compares a student's run with them."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from torchkata import Plain, Text, as_float64, assert_close, assert_equal

State: TypeAlias = Any  # state of one parameter, None before its first step
Step: TypeAlias = Callable[[Array, State, Array, dict[str, Any]], tuple[Array, State]]  # p, state, grad, options


@dataclass(frozen=True)
class Rule:
    """One step of an optimizer, and the default values of its options."""

    step: Step
    lr: float = 0.01
    defaults: Mapping[str, Any] = field(default_factory=dict)  # default values of the options other than lr
    betas: tuple[float, ...] = ()  # decay factors of averages that are divided by 1 − betaᵗ
    updates: Sequence[Sequence[Sequence[Array]]] = ()  # if given, a step subtracts `lr * updates[group][i][own step]`

    def find_step(self, g: int, i: int) -> Step:
        """Return the step function of `params[g][i]`."""
        if not self.updates:
            return self.step

        def subtract_update(p: Array, state: State, grad: Array, options: dict[str, Any]) -> tuple[Array, State]:  # noqa: ARG001
            update, lr = self.updates[g][i][state or 0], options["lr"]
            return p - lr * (abs(update) if lr < 0 else update), (state or 0) + 1  # negative for scales

        return subtract_update


def make_rule(oracle: ModuleType, lr: float, betas: tuple[float, ...] = ()) -> Rule:
    """Return the rule of an oracle. Every call looks `step` up again so that known mistakes can replace it."""
    taken = inspect.signature(oracle.step).parameters.values()
    defaults = {each.name: each.default for each in taken if each.default is not each.empty}
    return Rule(lambda p, state, grad, options: oracle.step(p, state, grad, **options), lr, defaults, betas)


SGD = Rule(lambda p, state, grad, options: (sgd.step(p, grad, **options), state))
ADAGRAD = Rule(
    lambda p, state, grad, options: adagrad.step(p, np.zeros_like(p) if state is None else state, grad, **options)
)


def assert_run(yours: Plain, run: OptimizerRun, rule: Rule, expected: Plain = None, *, alone: bool = False) -> None:
    """Assert that each parameter is correct after each step, within the rounding errors of that many steps.

    If `expected[step][group][i]` is given, it replaces the rule's results. Set `alone` if each parameter has its own
    optimizer.
    """
    dtype = run.params[0][0].dtype
    places = [(g, i) for g, group in enumerate(run.params) for i in range(len(group))]
    traces = [list(simulate(run, rule, g, i, alone=alone)) for g, i in places]
    for t, found in enumerate(
        zip(*traces, strict=True)
    ):  # in the order of the steps, so that the first wrong one fails
        for (g, i), (p, _, scale) in zip(places, found, strict=True):
            exact = p if expected is None else as_float64(expected[t][g][i])
            what = Text("params[{g}][{i}] after step {t}", g=g, i=i, t=t + 1)
            assert_close(yours[t][g][i], exact, dtype=dtype, scale=scale, roundings=4 * (t + 2), what=what)


def follows_rule(yours: Plain, run: OptimizerRun, rule: Rule) -> bool:
    """Return whether each parameter, with an optimizer of its own, is correct after each step. See `assert_run`."""
    finfo = torch.finfo(run.params[0][0].dtype)
    for g, group in enumerate(run.params):
        for i in range(len(group)):
            for t, (p, _, scale) in enumerate(simulate(run, rule, g, i, alone=True)):
                bound = 4 * (t + 2) * (finfo.eps * np.maximum(scale, abs(p)) + finfo.smallest_normal)
                if not (abs(as_float64(yours[t][g][i]) - p) <= bound).all():
                    return False
    return True


def copy_rule(yours: Plain, run: OptimizerRun, rule: Rule) -> Rule:
    """Return a rule that repeats the updates of a student's run at constant rates, rescaled to the current rate."""
    updates: list[list[Any]] = []
    for g, group in enumerate(run.params):
        traces = [[as_float64(p), *(as_float64(step[g][i]) for step in yours)] for i, p in enumerate(group)]
        updates.append([-np.diff(np.stack(trace), axis=0) / run.lrs[0][g] for trace in traces])
    return replace(rule, updates=updates)


def assert_resumed(yours: Plain, end: Plain, run: OptimizerRun, rule: Rule, stop: int, own: Sequence[float]) -> None:
    """Assert that a run that is saved and loaded before step `stop` ends bit for bit like an uninterrupted one.

    It is loaded into an optimizer with its `own` learning rates. If a known mistake replaces the oracle and changes its
    result, the expected end is the oracle's result.
    """
    later = [[*oracle.hook_loaded_rates(saved, own)] for saved in run.lrs[stop:]]
    resumed = replace(run, lrs=[*run.lrs[:stop], *later])
    dtype, steps = run.params[0][0].dtype, len(run.lrs)
    for g, group in enumerate(run.params):
        for i in range(len(group)):
            *_, (whole, _, _) = simulate(run, rule, g, i)
            *_, (exact, _, scale) = simulate(resumed, rule, g, i, loaded_at=stop)
            what = Text("params[{g}][{i}] at the end", g=g, i=i)
            if np.array_equal(exact, whole):
                assert_equal(yours[g][i], end[g][i], what=what)
            else:
                assert_close(yours[g][i], exact, dtype=dtype, scale=scale, roundings=4 * (steps + 1), what=what)


def simulate(
    run: OptimizerRun, rule: Rule, g: int, i: int, loaded_at: int | None = None, *, alone: bool = False
) -> Iterator[tuple[Array, State, Array]]:
    """Yield `params[g][i]` after each step, its state, and the scale of its rounding errors.

    The scale is the sum of the magnitudes of all terms. It is computed by applying the rule to absolute values with a
    negative rate, so that no terms cancel. Before step `loaded_at`, the run is saved and loaded. Set `alone` if the
    parameter has its own optimizer.
    """
    dtype, step = run.params[g][i].dtype, rule.find_step(g, i)
    if alone:
        grads, lrs = [[[row[g][i]]] for row in run.grads], [[row[g]] for row in run.lrs]
        run, g, i = OptimizerRun([[run.params[g][i]]], lrs, grads, run.options[g : g + 1]), 0, 0
    p = as_float64(run.params[g][i])
    size, state, sizes, own_steps = abs(p), None, None, 0
    scale = size
    all_grads = [[[None if x is None else as_float64(x) for x in row] for row in step] for step in run.grads]
    for t, (grad, lr) in enumerate(oracle.collect_inputs(run.lrs, all_grads, g, i)):
        if t == loaded_at:
            state, sizes = map(oracle.hook_loaded_state, (state, sizes))
        state, sizes = (oracle.hook_recalled_state(each, all_grads, g, i, t) for each in (state, sizes))
        own = (
            [*run.options, {}][g] if alone else oracle.get_options(run.options, g)
        )  # the constructor's, or the group's
        options = {"lr": lr, **own}
        if grad is None:
            p = oracle.hook_skipped_parameter(p, options, state)
            state, sizes = (oracle.hook_skipped_state(each, options) for each in (state, sizes))
        else:
            p, state = step(p, state, grad, options)
            before = size
            size, sizes = step(size, sizes, abs(grad), {**options, "lr": -lr})
            own_steps += 1
            loss = 1 + estimate_correction_error(options.get("betas", rule.betas), own_steps, dtype)
            scale = scale + abs(size - before) * loss
        yield p, state, scale


def estimate_correction_error(betas: tuple[float, ...], t: int, dtype: torch.dtype) -> float:
    """Return the error that bias correction may cause in a step, relative to the error that is always allowed.

    A student may compute `1 − betaᵗ` in float32 for any dtype, as torch does with `capturable=True`. A result of 0.001
    then has only four correct digits. The relative error is (t + 1) / 2 roundings over 1 − betaᵗ, while 4 · (t + 2) are
    allowed.
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
