"""RMSprop: v ← alpha · v + (1 − alpha) · grad², then p ← p − lr · grad / (sqrt(v) + eps)."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.rmsprop import oracle
from tests.memory_duties import (  # noqa: F401  (pytest collects them here)
    test_a_saved_and_loaded_run_goes_on_unchanged,
    test_a_step_without_gradient_does_not_count,
    test_every_group_has_options_of_its_own,
    test_it_goes_where_torchs_own_goes,
    test_no_more_is_kept_than_the_rule_needs,
    test_options_have_their_defaults,
)
from tests.optimizer_duties import (  # noqa: F401
    Optimizer,
    test_a_changed_rate_counts_from_the_next_step,
    test_a_scheduler_can_drive_it,
    test_every_group_moves_at_its_own_rate,
    test_parameters_without_gradient_stay,
    test_the_update_is_in_place,
)
from tests.optimizer_runs import assert_run, rule_of
from tests.probes import rmsprop as probes
from tests.strategies import WIDE_DTYPES, OptimizerRun, costly, from_nothing, runs
from torchkata.student import Student

RMSPROP = rule_of(oracle, lr=0.01)
OPTIONS = [{"alpha": 0.9}, {"alpha": 0.5, "eps": 0.1}, {"eps": 1e-3}, {"alpha": 0.0}]


@pytest.fixture(scope="module")
def optimizer() -> Optimizer:
    """Whose contract is tested."""
    return Optimizer(probes, RMSPROP, OPTIONS, tensors=1, of_torch=torch.optim.RMSprop)


@costly
@given(runs(dtypes=WIDE_DTYPES), st.sampled_from([0.99, 0.9, 0.5]))
def test_one_step_divides_by_the_root_of_the_average(student: Student, run: OptimizerRun, alpha: float) -> None:
    """The first step turns p into p - lr * grad / (sqrt((1 - alpha) * grad²) + eps): the average starts at 0."""
    run = replace(run, options=[{"alpha": alpha}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, RMSPROP)


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), st.sampled_from([0.99, 0.9, 0.5, 0.0]))
def test_old_squares_fade(student: Student, run: OptimizerRun, alpha: float) -> None:
    """In each step the average is alpha times itself plus 1 - alpha times the squared gradient."""
    run = replace(run, options=[{"alpha": alpha}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, RMSPROP)


@costly
@given(runs(steps=2, powers=(-12, 12)), st.sampled_from([1e-8, 1e-3, 1.0]))
def test_epsilon_is_added_to_the_root(student: Student, run: OptimizerRun, eps: float) -> None:
    """eps is added to the root, not inside it: for tiny gradients that matters, for huge ones nothing else may."""
    run = replace(from_nothing(run), options=[{"eps": eps}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, RMSPROP)
