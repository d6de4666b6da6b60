"""AdamW: p is multiplied by 1 - lr · weight_decay, and then updated as in Adam without weight decay."""

from dataclasses import replace
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.adamw import oracle
from tests.contracts import state
from tests.contracts.optimizer import Optimizer, check_eps, check_formula
from tests.optimizer_runs import make_rule
from tests.probes import optimizers as probes
from tests.strategies import BETAS, FORGETTING, NO_EPS, WIDE_DTYPES, OptimizerRun, costly, runs, start_at_zero
from torchkata import Student, Text, check

ADAMW = make_rule(oracle, lr=0.001, betas=(0.9, 0.999))
DECAYS = st.sampled_from([0.1, 0.01, 1.0])
OPTIONS: list[dict[str, Any]] = [
    {"betas": (0.5, 0.9)},
    {"betas": (0.9, 0.95), "weight_decay": 0.1},
    {"eps": 0.1, "weight_decay": 1.0},
    {"betas": (0.8, 0.6), "eps": 1e-3, "weight_decay": 0.001},
]

OPTIMIZER = Optimizer(
    "adamw.AdamW", ADAMW, OPTIONS, constant={"weight_decay": 0.0}, tensors=2, torch_class=torch.optim.AdamW
)


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), BETAS)
def test_zero_weight_decay_matches_adam(student: Student, run: OptimizerRun, betas: tuple[float, float]) -> None:
    """With weight_decay=0, the update reduces to Adam: both averages are bias-corrected from the first step on."""
    error = student.call(probes.refused, OPTIMIZER.name, {"weight_decay": 0.0})
    note = Text("a weight_decay of 0 is rejected, but it is valid and means no decay")
    check(error == "", mistake=note, yours=Text("{error} is raised", error=error), expected=Text("no error"))
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
@given(runs(steps=3, changing=True, dtypes=WIDE_DTYPES), DECAYS)
def test_weights_decay_even_with_zero_grad(student: Student, run: OptimizerRun, weight_decay: float) -> None:
    """If the gradient is zero, each step changes p to p - lr * weight_decay * p."""
    zeros: list[Any] = [[[p * 0 for p in group] for group in run.params]] * len(run.grads)
    check_formula(student, OPTIMIZER, replace(run, grads=zeros, options=[{"weight_decay": weight_decay}]))


@costly
@given(runs(steps=3, any_shape=True), DECAYS)
def test_weight_decay_is_decoupled(student: Student, run: OptimizerRun, weight_decay: float) -> None:
    """p is first multiplied by 1 - lr * weight_decay, and then updated as in Adam without weight decay."""
    check_formula(student, OPTIMIZER, replace(run, options=[{**FORGETTING, "weight_decay": weight_decay}]))


test_loading_state_resumes_training_exactly = state.loading_state_resumes_training_exactly(OPTIMIZER)
test_each_group_uses_its_own_options = state.each_group_uses_its_own_options(OPTIMIZER)
test_options_have_defaults = state.options_have_defaults(OPTIMIZER)
test_step_without_grad_leaves_state_unchanged = state.step_without_grad_leaves_state_unchanged(OPTIMIZER)
test_step_changes_only_parameters_and_state = state.step_changes_only_parameters_and_state(OPTIMIZER)
test_result_matches_torch = state.result_matches_torch(OPTIMIZER)
test_loading_restores_step_count = state.loading_restores_step_count(OPTIMIZER)
