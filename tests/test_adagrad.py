"""AdaGrad: g2 ← g2 + grad², then p ← p − lr · grad / sqrt(g2 + 1e-5)."""

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.adagrad import oracle
from tests.contracts import optimizer, state
from tests.contracts.optimizer import Optimizer, check_formula
from tests.optimizer_runs import ADAGRAD, simulate
from tests.probes import adagrad as probes
from tests.strategies import DTYPES, OptimizerRun, costly, runs
from torchkata import Plain, Student, Text, assert_close, assert_equal, check, precondition

NAME = "adagrad.AdaGrad"
WIDE = st.sampled_from([torch.float32, torch.float64])

OPTIMIZER = Optimizer(NAME, ADAGRAD)


def check_steps(student: Student, run: OptimizerRun) -> None:
    """Assert that the steps are correct. If they are wrong in float64, check the dtype of g2 first."""
    try:
        check_formula(student, OPTIMIZER, run)
    except AssertionError:
        if run.params[0][0].dtype == torch.float64:
            g2 = student.call(probes.read_g2, NAME, run.params, run.lrs, run.grads)
            with precondition():  # another test is about the state
                check_dtype(g2, run)
        raise


def check_dtype(g2: Plain, run: OptimizerRun) -> None:
    """Assert that each g2 that is a tensor has the dtype of its parameter."""
    p = run.params[0][0]
    for stored in (each for group in g2 for each in group if isinstance(each, Tensor)):
        note = Text(
            "g2 is {stored}, but the parameter is {p}: create it with torch.zeros_like(p)",
            stored=stored.dtype,
            p=p.dtype,
        )
        check(stored.dtype == p.dtype, mistake=note, yours=str(stored.dtype), expected=str(p.dtype))


@costly
@given(runs(dtypes=WIDE, any_shape=True))
def test_step_divides_by_sqrt_of_g2(student: Student, run: OptimizerRun) -> None:
    """The first step changes p to p - lr * grad / sqrt(grad² + 1e-5), for both small and large gradients."""
    check_steps(student, run)


@costly
@given(runs(steps=3, dtypes=WIDE))
def test_g2_sums_squared_grads(student: Student, run: OptimizerRun) -> None:
    """Each step changes p to p - lr * grad / sqrt(g2 + 1e-5), where g2 is the sum of all squared gradients so far."""
    with precondition(Text("the first step is already wrong")):
        check_steps(student, replace(run, lrs=run.lrs[:1], grads=run.grads[:1]))
    check_steps(student, run)


@costly
@given(runs(steps=3, dtypes=DTYPES))
def test_state_contains_g2(student: Student, run: OptimizerRun) -> None:
    """optimizer.state[p]["g2"] is the sum of squared gradients and has the shape and dtype of p."""
    yours = student.call(probes.read_g2, NAME, run.params, run.lrs, run.grads)
    check_dtype(yours, run)
    for g, group in enumerate(run.params):
        for i, p in enumerate(group):
            *_, (_, g2, _) = simulate(run, ADAGRAD, g, i)
            name = yours[g][i]
            check(
                not isinstance(name, str),
                mistake=Text('there is no state[p]["g2"]; the sum is called "{name}"', name=name),
                yours=f'state[p]["{name}"]',
                expected='state[p]["g2"]',
            )
            what, stored = f'state[params[{g}][{i}]]["g2"]', oracle.get_state(g2)
            assert_close(yours[g][i], stored, dtype=p.dtype, scale=stored, roundings=16, what=what)


@costly
@given(runs(steps=2))
def test_state_has_one_tensor_per_parameter(student: Student, run: OptimizerRun) -> None:
    """The state contains exactly one tensor for each parameter."""
    count = student.call(probes.count_tensors, NAME, run.params, run.lrs, run.grads)
    large = sum(p.numel() > 1 for group in run.params for p in group)
    note = Text(
        "store one tensor for each parameter, the sum of squares: not a second one, and not a new one for each step"
    )
    few = Text("several parameters have the same state, or some have none: each has its own sum of squares")
    note = note if count > large else few
    mistake = Text("tensors other than the sum of squares are stored") if count > large else ""
    assert_equal(count, large, what=Text("tensors stored"), note=note, mistake=mistake)


test_groups_and_rates_work_as_in_sgd = optimizer.groups_and_rates_work_as_in_sgd(OPTIMIZER)
test_step_updates_in_place = optimizer.step_updates_in_place(OPTIMIZER)
test_lr_has_a_default = optimizer.lr_has_a_default(OPTIMIZER)
test_loading_state_resumes_training_exactly = state.loading_state_resumes_training_exactly(OPTIMIZER)
