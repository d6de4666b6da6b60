"""Adam: bias-corrected running averages of the gradient and of its square, with weight decay in the gradient."""

from dataclasses import replace
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.adam import oracle
from tests.contracts import state
from tests.contracts.optimizer import Optimizer, check_eps, check_formula
from tests.optimizer_runs import make_rule
from tests.strategies import BETAS, FORGETTING, NO_EPS, WIDE_DTYPES, OptimizerRun, costly, runs, start_at_zero
from torchkata import Student

ADAM = make_rule(oracle, lr=0.001, betas=(0.9, 0.999))
OPTIONS: list[dict[str, Any]] = [
    {"betas": (0.5, 0.9)},
    {"betas": (0.9, 0.95), "weight_decay": 0.1},
    {"eps": 0.1, "weight_decay": 1.0},
    {"betas": (0.8, 0.6), "eps": 1e-3},
]


def prevent_cancellation(run: OptimizerRun) -> OptimizerRun:
    """Move parameters far enough from 0 to keep their sign, and give each gradient the same sign as the decay.

    If decay and gradient canceled, their sum would be mostly rounding error, which Adam scales to a full step.
    """
    params = [[p + 20 * p.sign() for p in group] for group in run.params]
    grads = [
        [
            [None if grad is None else grad.abs() * p.sign() for grad, p in zip(*row, strict=True)]
            for row in zip(step, params, strict=True)
        ]
        for step in run.grads
    ]
    return replace(run, params=params, grads=grads)


OPTIMIZER = Optimizer("adam.Adam", ADAM, OPTIONS, prevent_cancellation, {"weight_decay": 0.0}, 2, torch.optim.Adam)


@costly
@given(runs(dtypes=WIDE_DTYPES), BETAS)
def test_first_step_is_bias_corrected(student: Student, run: OptimizerRun, betas: tuple[float, float]) -> None:
    """With bias correction, the first step changes p to p - lr * grad / (|grad| + eps), for any betas."""
    check_formula(student, OPTIMIZER, replace(run, options=[{"betas": betas, "eps": NO_EPS, "weight_decay": 0.0}]))


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), BETAS)
def test_later_steps_are_bias_corrected(student: Student, run: OptimizerRun, betas: tuple[float, float]) -> None:
    """Each step t follows the formulas of m, v and p, in which m and v are divided by 1 - beta1ᵗ and 1 - beta2ᵗ."""
    check_formula(student, OPTIMIZER, replace(run, options=[{"betas": betas, "eps": NO_EPS, "weight_decay": 0.0}]))


@costly
@given(runs(steps=3, powers=(-12, 12)), BETAS, st.sampled_from([1e-8, 1e-3, 1.0]))
def test_eps_is_added_to_the_bias_corrected_sqrt(
    student: Student, run: OptimizerRun, betas: tuple[float, float], eps: float
) -> None:
    """eps is added to the square root of the bias-corrected average, not inside the root or before the correction."""
    options = {"betas": betas, "eps": eps, "weight_decay": 0.0}
    check_eps(student, OPTIMIZER, replace(start_at_zero(run), options=[options]))


@costly
@given(runs(steps=3), st.sampled_from([0.1, 0.01, 1.0]))
def test_weight_decay_is_added_to_grad(student: Student, run: OptimizerRun, weight_decay: float) -> None:
    """Each step follows the formulas, with weight_decay * p added to the gradient before both averages are updated."""
    options = {**FORGETTING, "weight_decay": weight_decay}
    check_formula(student, OPTIMIZER, replace(prevent_cancellation(run), options=[options]))


test_loading_state_resumes_training_exactly = state.loading_state_resumes_training_exactly(OPTIMIZER)
test_each_group_uses_its_own_options = state.each_group_uses_its_own_options(OPTIMIZER)
test_options_have_defaults = state.options_have_defaults(OPTIMIZER)
test_step_without_grad_leaves_state_unchanged = state.step_without_grad_leaves_state_unchanged(OPTIMIZER)
test_step_changes_only_parameters_and_state = state.step_changes_only_parameters_and_state(OPTIMIZER)
test_result_matches_torch = state.result_matches_torch(OPTIMIZER)
test_loading_restores_step_count = state.loading_restores_step_count(OPTIMIZER)
