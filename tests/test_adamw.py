"""AdamW: p shrinks by lr · weight_decay, and moves as Adam moves it without any decay."""

from dataclasses import replace
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.adamw import oracle
from tests.contracts.memory import counting_contract, memory_contract, options_contract
from tests.contracts.optimizer import Optimizer, optimizer_contract
from tests.optimizer_runs import assert_run, rule_of
from tests.probes import adamw as probes
from tests.strategies import WIDE_DTYPES, OptimizerRun, costly, from_nothing, runs
from torchkata import Student

ADAMW = rule_of(oracle, lr=0.001, betas=(0.9, 0.999))
BETAS = st.sampled_from([(0.9, 0.999), (0.9, 0.95), (0.5, 0.9), (0.9, 0.5), (0.0, 0.9)])
DECAYS = st.sampled_from([0.1, 0.01, 1.0])
OPTIONS: list[dict[str, Any]] = [
    {"betas": (0.5, 0.9)},
    {"betas": (0.9, 0.95), "weight_decay": 0.1},
    {"eps": 0.1, "weight_decay": 1.0},
    {"betas": (0.8, 0.6), "eps": 1e-3, "weight_decay": 0.0},
]


OPTIMIZER = Optimizer(probes, ADAMW, OPTIONS, tensors=2, of_torch=torch.optim.AdamW)
globals().update(optimizer_contract(OPTIMIZER) | memory_contract(OPTIMIZER))
globals().update(options_contract(OPTIMIZER) | counting_contract(OPTIMIZER))


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), BETAS)
def test_without_decay_it_is_adam(student: Student, run: OptimizerRun, betas: tuple[float, float]) -> None:
    """With weight_decay=0 it goes where Adam goes: both averages are corrected, from the first step on."""
    run = replace(run, options=[{"betas": betas, "weight_decay": 0.0}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAMW)


@costly
@given(runs(steps=3, powers=(-12, 12)), BETAS, st.sampled_from([1e-8, 1e-3, 1.0]))
def test_epsilon_is_added_to_the_corrected_root(
    student: Student, run: OptimizerRun, betas: tuple[float, float], eps: float
) -> None:
    """eps is added to the root of the corrected average, not inside it nor before the correction."""
    run = replace(from_nothing(run), options=[{"betas": betas, "eps": eps, "weight_decay": 0.0}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAMW)


@costly
@given(runs(groups=2, steps=3, changing=True, dtypes=WIDE_DTYPES), DECAYS)
def test_gradients_of_zero_leave_the_decay(student: Student, run: OptimizerRun, weight_decay: float) -> None:
    """Where the gradient is zero, each step turns p into p - lr * weight_decay * p."""
    each_twice = [[*group, *group] for group in run.params]
    zeros_and_own = [
        [[*(p * 0 for p in group), *own] for group, own in zip(run.params, step, strict=True)] for step in run.grads
    ]
    run = replace(run, params=each_twice, grads=zeros_and_own, options=[{"weight_decay": weight_decay}] * 2)
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAMW)


@costly
@given(runs(steps=3), DECAYS)
def test_decay_is_no_part_of_the_gradient(student: Student, run: OptimizerRun, weight_decay: float) -> None:
    """p first shrinks by lr * weight_decay, then moves by averages of the gradient alone."""
    run = replace(run, options=[{"weight_decay": weight_decay}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAMW)
