"""SGD: p ← p − lr · grad."""

from hypothesis import given

from tests.contracts import optimizer
from tests.contracts.optimizer import UP_TO_LARGE, Optimizer, check_formula
from tests.optimizer_runs import SGD
from tests.strategies import DTYPES, OptimizerRun, costly, runs
from torchkata import Student

OPTIMIZER = Optimizer("sgd.SGD", SGD)


@costly
@given(runs(dtypes=DTYPES, any_shape=True))
def test_step_subtracts_lr_times_grad(student: Student, run: OptimizerRun) -> None:
    """One step changes p to p - lr * grad, for any shape and any floating-point dtype."""
    check_formula(student, OPTIMIZER, run)


@costly
@given(runs(steps=3, powers=UP_TO_LARGE))
def test_step_uses_only_current_grad(student: Student, run: OptimizerRun) -> None:
    """Each step subtracts lr times its own gradient, and does not depend on the gradients of earlier steps."""
    check_formula(student, OPTIMIZER, run)


test_each_group_uses_its_own_lr = optimizer.each_group_uses_its_own_lr(OPTIMIZER)
test_changed_lr_applies_from_the_next_step = optimizer.changed_lr_applies_from_the_next_step(OPTIMIZER)
test_only_parameters_without_grad_are_skipped = optimizer.only_parameters_without_grad_are_skipped(OPTIMIZER)
test_scheduler_can_change_lr = optimizer.scheduler_can_change_lr(OPTIMIZER)
test_loaded_lr_is_used = optimizer.loaded_lr_is_used(OPTIMIZER)
test_step_updates_in_place = optimizer.step_updates_in_place(OPTIMIZER)
test_lr_has_a_default = optimizer.lr_has_a_default(OPTIMIZER)
