"""Momentum: b ← momentum · b + (1 − dampening) · grad, then p ← p − lr · b, or with Nesterov grad + momentum · b."""

from dataclasses import replace
from functools import partial

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.momentum import oracle
from tests.contracts import state
from tests.contracts.optimizer import Optimizer, check_formula
from tests.optimizer_runs import assert_run, make_rule
from tests.probes import optimizers as probes
from tests.strategies import DTYPES, WIDE_DTYPES, OptimizerRun, costly, runs
from torchkata import Student, Text, precondition

NAME, MOMENTUM = "momentum.Momentum", make_rule(oracle, lr=0.001)
OPTIONS = [
    {"momentum": 0.5, "dampening": 0.5},
    {"momentum": 0.9, "dampening": 0.25},
    {"momentum": 0.8, "nesterov": True},
    {"momentum": 0.0},
]

OPTIMIZER = Optimizer(NAME, MOMENTUM, OPTIONS, tensors=1, torch_class=partial(torch.optim.SGD, momentum=0.9))


@costly
@given(runs(dtypes=DTYPES), st.sampled_from([0.9, 0.5]), st.sampled_from([0.0, 0.5, 0.9]))
def test_first_step_matches_sgd(student: Student, run: OptimizerRun, momentum: float, dampening: float) -> None:
    """Without Nesterov, the first step changes p to p - lr * grad: momentum and dampening do not apply yet."""
    check_formula(student, OPTIMIZER, replace(run, options=[{"momentum": momentum, "dampening": dampening}]))


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), st.sampled_from([0.9, 0.5, 0.99, 1.0, 0.0]))
def test_buffer_decays_and_adds_grad(student: Student, run: OptimizerRun, momentum: float) -> None:
    """Each step sets b to momentum * b + grad (the first one, to grad), and then subtracts lr * b from p."""
    check_formula(student, OPTIMIZER, replace(run, options=[{"momentum": momentum}]))


@costly
@given(runs(steps=3), st.sampled_from([0.9, 0.5]), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_dampening_scales_later_grads(student: Student, run: OptimizerRun, momentum: float, dampening: float) -> None:
    """From the second step on, b is set to momentum * b + (1 - dampening) * grad, and lr * b is subtracted from p."""
    run = replace(run, options=[{"momentum": momentum, "dampening": dampening}])
    with precondition(Text("the first step is already wrong")):
        check_formula(student, OPTIMIZER, replace(run, lrs=run.lrs[:1], grads=run.grads[:1]))
    check_formula(student, OPTIMIZER, run)


@costly
@given(runs(groups=2, steps=3), st.sampled_from([0.9, 0.5, 0.1]))
def test_nesterov_looks_ahead(student: Student, run: OptimizerRun, momentum: float) -> None:
    """Each step sets b to momentum * b + grad and subtracts lr * (grad + momentum * b), or lr * b without nesterov."""
    check_formula(
        student, OPTIMIZER, replace(run, options=[{"momentum": momentum, "nesterov": on} for on in (True, False)])
    )


@costly
@given(runs(steps=3))
def test_state_does_not_alias_grad(student: Student, run: OptimizerRun) -> None:
    """Each step follows the formulas, even if each gradient is written to the same tensor as the previous one."""
    assert_run(student.call(probes.overwrite_grads, NAME, run.params, run.lrs, run.grads), run, MOMENTUM)


test_loading_state_resumes_training_exactly = state.loading_state_resumes_training_exactly(OPTIMIZER)
test_each_group_uses_its_own_options = state.each_group_uses_its_own_options(OPTIMIZER)
test_options_have_defaults = state.options_have_defaults(OPTIMIZER)
test_step_without_grad_leaves_state_unchanged = state.step_without_grad_leaves_state_unchanged(OPTIMIZER)
test_step_changes_only_parameters_and_state = state.step_changes_only_parameters_and_state(OPTIMIZER)
test_result_matches_torch = state.result_matches_torch(OPTIMIZER)
