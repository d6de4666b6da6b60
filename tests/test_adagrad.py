"""AdaGrad: g2 ← g2 + grad², then p ← p − lr · grad / sqrt(g2 + 1e-5)."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.adagrad import oracle
from tests.courses import ADAGRAD, assert_course, final_memory
from tests.memory_duties import test_a_saved_and_loaded_run_goes_on_unchanged  # noqa: F401
from tests.optimizer_duties import (  # noqa: F401  (pytest collects them here)
    Optimizer,
    test_a_changed_rate_counts_from_the_next_step,
    test_a_scheduler_can_drive_it,
    test_every_group_moves_at_its_own_rate,
    test_parameters_without_gradient_stay,
    test_the_rate_has_a_default,
    test_the_update_is_in_place,
)
from tests.probes import adagrad as probes
from tests.strategies import DTYPES, Course, costly, courses
from torchkata.compare import assert_close, assert_equal
from torchkata.student import Student

WIDE = st.sampled_from([torch.float32, torch.float64])


@pytest.fixture(scope="module")
def optimizer() -> Optimizer:
    """Whose duties are tested."""
    return Optimizer(probes, ADAGRAD)


@costly
@given(courses(dtypes=WIDE))
def test_one_step_divides_by_the_root_of_g2_plus_epsilon(student: Student, course: Course) -> None:
    """One step turns p into p - lr * grad / sqrt(grad² + 1e-5), for small and for large gradients."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, ADAGRAD)


@costly
@given(courses(steps=3, dtypes=WIDE))
def test_squared_gradients_add_up(student: Student, course: Course) -> None:
    """g2 is the sum of the squares of all gradients so far: it starts at 0, and nothing in it fades."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, ADAGRAD)


@costly
@given(courses(groups=2, steps=3, absent=True, dtypes=DTYPES))
def test_the_state_holds_g2(student: Student, course: Course) -> None:
    """optimizer.state[p]["g2"] is the sum of squares, in p's shape and dtype."""
    yours = student.call(probes.sums_of_squares, course.params, course.lrs, course.grads)
    for g, row in enumerate(final_memory(course, ADAGRAD)):
        for i, g2 in enumerate(row):
            if all(step_grads[g][i] is None for step_grads in course.grads):
                continue
            dtype, what, kept = course.params[g][i].dtype, f'state[params[{g}][{i}]]["g2"]', oracle.kept(g2)
            assert_close(yours[g][i], kept, dtype=dtype, scale=kept, roundings=16, what=what)


@costly
@given(courses(groups=2, steps=2))
def test_one_tensor_is_kept_for_each_parameter(student: Student, course: Course) -> None:
    """The state holds one tensor for each parameter and no more: memory is what limits large models."""
    kept = student.call(probes.tensors_kept, course.params, course.lrs, course.grads)
    large = sum(p.numel() > 1 for group in course.params for p in group)
    expected = oracle.tensors_kept(large, len(course.lrs))
    assert_equal(kept, expected, what="tensors kept, for as many parameters")
