"""Momentum: b ← momentum · b + (1 − dampening) · grad, then p ← p − lr · b, or further ahead with Nesterov."""

from dataclasses import replace
from functools import partial

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.momentum import oracle
from tests.contracts.memory import memory_contract, options_contract
from tests.contracts.optimizer import Optimizer, optimizer_contract
from tests.optimizer_runs import assert_run, rule_of
from tests.probes import momentum as probes
from tests.strategies import DTYPES, WIDE_DTYPES, OptimizerRun, costly, runs
from torchkata import Student

MOMENTUM = rule_of(oracle, lr=0.001)
OPTIONS = [
    {"momentum": 0.5},
    {"momentum": 0.9, "dampening": 0.25},
    {"momentum": 0.8, "nesterov": True},
    {"momentum": 0.0},
]


OPTIMIZER = Optimizer(probes, MOMENTUM, OPTIONS, tensors=1, of_torch=partial(torch.optim.SGD, momentum=0.9))
globals().update(optimizer_contract(OPTIMIZER) | memory_contract(OPTIMIZER) | options_contract(OPTIMIZER))


@costly
@given(runs(dtypes=DTYPES), st.sampled_from([0.9, 0.5]), st.sampled_from([0.0, 0.5, 0.9]))
def test_the_first_step_is_that_of_gradient_descent(
    student: Student, run: OptimizerRun, momentum: float, dampening: float
) -> None:
    """The first step turns p into p - lr * grad: nothing is remembered yet, and nothing damped."""
    run = replace(run, options=[{"momentum": momentum, "dampening": dampening}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, MOMENTUM)


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), st.sampled_from([0.9, 0.5, 0.99, 1.0, 0.0]))
def test_the_memory_fades_and_takes_the_gradient_in(student: Student, run: OptimizerRun, momentum: float) -> None:
    """In later steps the memory is momentum times itself plus the gradient, and p moves by -lr times the memory."""
    run = replace(run, options=[{"momentum": momentum}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, MOMENTUM)


@costly
@given(runs(steps=3), st.sampled_from([0.9, 0.5]), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_dampening_weakens_later_gradients(
    student: Student, run: OptimizerRun, momentum: float, dampening: float
) -> None:
    """From the second step on the gradient enters the memory times 1 - dampening."""
    run = replace(run, options=[{"momentum": momentum, "dampening": dampening}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, MOMENTUM)


@costly
@given(runs(steps=3), st.sampled_from([0.9, 0.5, 0.1]))
def test_nesterov_looks_ahead(student: Student, run: OptimizerRun, momentum: float) -> None:
    """With nesterov=True p moves by -lr * (grad + momentum * b), from the first step on."""
    run = replace(run, options=[{"momentum": momentum, "nesterov": True}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, MOMENTUM)


@costly
@given(runs(steps=3))
def test_the_memory_is_not_the_gradients(student: Student, run: OptimizerRun) -> None:
    """What is remembered stays as it is when the next gradient is written into the same tensor."""
    assert_run(student.call(probes.refilled, run.params, run.lrs, run.grads), run, MOMENTUM)
