"""SGD: p ← p − lr · grad."""

from hypothesis import given

from tests.contracts.optimizer import UP_TO_LARGE, Optimizer, check_formula, optimizer_contract, rate_contract
from tests.optimizer_runs import SGD
from tests.strategies import DTYPES, OptimizerRun, costly, runs
from torchkata import Student

OPTIMIZER = Optimizer("sgd.SGD", SGD)
globals().update(optimizer_contract(OPTIMIZER) | rate_contract(OPTIMIZER))


@costly
@given(runs(dtypes=DTYPES))
def test_step_subtracts_lr_times_grad(student: Student, run: OptimizerRun) -> None:
    """One step changes p to p - lr * grad, for any shape and any floating-point dtype."""
    check_formula(student, OPTIMIZER, run)


@costly
@given(runs(steps=3, powers=UP_TO_LARGE))
def test_step_uses_only_current_grad(student: Student, run: OptimizerRun) -> None:
    """Each step uses only the current gradient and does not depend on the gradients of earlier steps."""
    check_formula(student, OPTIMIZER, run)
