"""SGD: p ← p − lr · grad."""

from hypothesis import given

from tests.contracts.optimizer import Optimizer, optimizer_contract, rate_contract
from tests.optimizer_runs import SGD, assert_run
from tests.probes import sgd as probes
from tests.strategies import DTYPES, OptimizerRun, costly, runs
from torchkata import Student

OPTIMIZER = Optimizer(probes, SGD)
globals().update(optimizer_contract(OPTIMIZER) | rate_contract(OPTIMIZER))


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
