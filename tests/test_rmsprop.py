"""RMSprop: v ← alpha · v + (1 − alpha) · grad², then p ← p − lr · grad / (sqrt(v) + eps)."""

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.rmsprop import oracle
from tests.contracts import state
from tests.contracts.optimizer import Optimizer, check_eps, check_formula
from tests.optimizer_runs import make_rule
from tests.strategies import NO_EPS, WIDE_DTYPES, OptimizerRun, costly, runs, start_at_zero
from torchkata import Student

RMSPROP = make_rule(oracle, lr=0.01)
OPTIONS = [{"alpha": 0.9}, {"alpha": 0.5, "eps": 0.1}, {"eps": 1e-3}, {"alpha": 0.1}]

OPTIMIZER = Optimizer("rmsprop.RMSprop", RMSPROP, OPTIONS, tensors=1, torch_class=torch.optim.RMSprop)


@costly
@given(runs(dtypes=WIDE_DTYPES), st.sampled_from([0.99, 0.9, 0.5]))
def test_first_step_divides_by_sqrt_of_v(student: Student, run: OptimizerRun, alpha: float) -> None:
    """The average starts at 0, so the first step subtracts lr * grad / (sqrt((1 - alpha) * grad²) + eps) from p."""
    check_formula(student, OPTIMIZER, replace(run, options=[{"alpha": alpha, "eps": NO_EPS}]))


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), st.sampled_from([0.99, 0.9, 0.5, 0.1]))
def test_squared_gradients_decay(student: Student, run: OptimizerRun, alpha: float) -> None:
    """v starts at 0; each step sets it to alpha * v + (1 - alpha) * grad² and subtracts lr * grad / (sqrt(v) + eps)."""
    check_formula(student, OPTIMIZER, replace(run, options=[{"alpha": alpha, "eps": NO_EPS}]))


@costly
@given(runs(steps=2, powers=(-12, 12)), st.sampled_from([1e-8, 1e-3, 1.0]))
def test_eps_is_added_outside_the_sqrt(student: Student, run: OptimizerRun, eps: float) -> None:
    """eps is added outside the square root, not inside it, for gradients from 1e-12 to 1e12."""
    check_eps(student, OPTIMIZER, replace(start_at_zero(run), options=[{"alpha": 1e-9, "eps": eps}]))


test_loading_state_resumes_training_exactly = state.loading_state_resumes_training_exactly(OPTIMIZER)
test_each_group_uses_its_own_options = state.each_group_uses_its_own_options(OPTIMIZER)
test_options_have_defaults = state.options_have_defaults(OPTIMIZER)
test_step_without_grad_leaves_state_unchanged = state.step_without_grad_leaves_state_unchanged(OPTIMIZER)
test_step_changes_only_parameters_and_state = state.step_changes_only_parameters_and_state(OPTIMIZER)
test_result_matches_torch = state.result_matches_torch(OPTIMIZER)
