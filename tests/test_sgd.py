"""SGD: p ← p − lr · grad."""

import pytest
from hypothesis import given

from tests.optimizer_duties import (  # noqa: F401  (pytest collects them here)
    Optimizer,
    test_a_changed_rate_counts_from_the_next_step,
    test_a_scheduler_can_drive_it,
    test_every_group_moves_at_its_own_rate,
    test_parameters_without_gradient_stay,
    test_the_rate_has_a_default,
    test_the_update_is_in_place,
)
from tests.optimizer_runs import SGD, assert_run
from tests.probes import sgd as probes
from tests.strategies import DTYPES, OptimizerRun, costly, runs
from torchkata.student import Student


@pytest.fixture(scope="module")
def optimizer() -> Optimizer:
    """Whose contract is tested."""
    return Optimizer(probes, SGD)


@costly
@given(runs(dtypes=DTYPES))
def test_one_step_is_p_minus_lr_times_grad(student: Student, run: OptimizerRun) -> None:
    """One step turns p into p - lr * grad, for every shape and float dtype."""
    assert_run(student.call(probes.run, run.params, run.lrs, run.grads), run, SGD)


@costly
@given(runs(steps=3))
def test_steps_follow_each_other(student: Student, run: OptimizerRun) -> None:
    """Every step uses its own gradient alone: nothing is carried over from the steps before."""
    assert_run(student.call(probes.run, run.params, run.lrs, run.grads), run, SGD)
