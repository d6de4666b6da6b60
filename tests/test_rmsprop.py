"""RMSprop: v ← alpha · v + (1 − alpha) · grad², then p ← p − lr · grad / (sqrt(v) + eps)."""

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.rmsprop import oracle
from tests.contracts.memory import memory_contract, options_contract
from tests.contracts.optimizer import Optimizer, optimizer_contract
from tests.optimizer_runs import assert_run, rule_of
from tests.probes import rmsprop as probes
from tests.strategies import WIDE_DTYPES, OptimizerRun, costly, from_nothing, runs
from torchkata import Student

RMSPROP = rule_of(oracle, lr=0.01)
OPTIONS = [{"alpha": 0.9}, {"alpha": 0.5, "eps": 0.1}, {"eps": 1e-3}, {"alpha": 0.0}]


OPTIMIZER = Optimizer(probes, RMSPROP, OPTIONS, tensors=1, of_torch=torch.optim.RMSprop)
globals().update(optimizer_contract(OPTIMIZER) | memory_contract(OPTIMIZER) | options_contract(OPTIMIZER))


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
