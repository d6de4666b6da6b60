"""AdaGrad: g2 ← g2 + grad², then p ← p − lr · grad / sqrt(g2 + 1e-5)."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.adagrad import oracle
from tests.contracts.memory import memory_contract
from tests.contracts.optimizer import Optimizer, optimizer_contract, rate_contract
from tests.optimizer_runs import ADAGRAD, assert_run, final_memory
from tests.probes import adagrad as probes
from tests.strategies import DTYPES, OptimizerRun, costly, runs
from torchkata import Student, assert_close, assert_equal

WIDE = st.sampled_from([torch.float32, torch.float64])

OPTIMIZER = Optimizer(probes, ADAGRAD)
globals().update(optimizer_contract(OPTIMIZER) | rate_contract(OPTIMIZER) | memory_contract(OPTIMIZER))


@costly
@given(runs(dtypes=WIDE))
def test_one_step_divides_by_the_root_of_g2_plus_epsilon(student: Student, run: OptimizerRun) -> None:
    """One step turns p into p - lr * grad / sqrt(grad² + 1e-5), for small and for large gradients."""
    assert_run(student.call(probes.run, run.params, run.lrs, run.grads), run, ADAGRAD)


@costly
@given(runs(steps=3, dtypes=WIDE))
def test_squared_gradients_add_up(student: Student, run: OptimizerRun) -> None:
    """g2 is the sum of the squares of all gradients so far: it starts at 0, and nothing in it fades."""
    assert_run(student.call(probes.run, run.params, run.lrs, run.grads), run, ADAGRAD)


@costly
@given(runs(groups=2, steps=3, absent=True, dtypes=DTYPES))
def test_the_state_holds_g2(student: Student, run: OptimizerRun) -> None:
    """optimizer.state[p]["g2"] is the sum of squares, in p's shape and dtype."""
    yours = student.call(probes.sums_of_squares, run.params, run.lrs, run.grads)
    for g, row in enumerate(final_memory(run, ADAGRAD)):
        for i, g2 in enumerate(row):
            if all(step_grads[g][i] is None for step_grads in run.grads):
                continue
            dtype, what, kept = run.params[g][i].dtype, f'state[params[{g}][{i}]]["g2"]', oracle.kept(g2)
            assert_close(yours[g][i], kept, dtype=dtype, scale=kept, roundings=16, what=what)


@costly
@given(runs(groups=2, steps=2))
def test_one_tensor_is_kept_for_each_parameter(student: Student, run: OptimizerRun) -> None:
    """The state holds one tensor for each parameter and no more: memory is what limits large models."""
    kept = student.call(probes.tensors_kept, run.params, run.lrs, run.grads)
    large = sum(p.numel() > 1 for group in run.params for p in group)
    note = "one tensor is kept for each parameter, the sum of squares: no second one, and none for each step"
    further = "tensors are kept beside the sum of squares of each parameter" if kept > large else ""
    assert_equal(kept, large, what="tensors kept", note=note, mistake=further)
