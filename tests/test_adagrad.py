"""AdaGrad: g2 ← g2 + grad², then p ← p − lr · grad / sqrt(g2 + 1e-5)."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from kata.compare import assert_close, assert_equal, check
from kata.student import Student
from tests.courses import adagrad_step, assert_course, final_memory
from tests.probes import adagrad as probes
from tests.strategies import DTYPES, SEEDS, Course, costly, courses, from_tiny_to_large, normal, rng_of

WIDE = st.sampled_from([torch.float32, torch.float64])


@costly
@given(courses(dtypes=WIDE))
def test_one_step_divides_by_the_root_of_g2_plus_epsilon(student: Student, course: Course) -> None:
    """One step turns p into p - lr * grad / sqrt(grad² + 1e-5), for small and for large gradients."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, adagrad_step)


@costly
@given(courses(steps=3, dtypes=WIDE))
def test_squared_gradients_add_up(student: Student, course: Course) -> None:
    """g2 is the sum of the squares of all gradients so far: it starts at 0, and nothing in it fades."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, adagrad_step)


@costly
@given(courses(groups=2, steps=2))
def test_every_group_moves_at_its_own_rate(student: Student, course: Course) -> None:
    """Each parameter group moves at its own lr, a group that was added later, too."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, adagrad_step)


@costly
@given(courses(groups=2, steps=3, changing=True))
def test_a_changed_rate_counts_from_the_next_step(student: Student, course: Course) -> None:
    """A group's lr that is changed between steps counts from the next step on."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, adagrad_step)


@costly
@given(courses(groups=2, steps=2, absent=True))
def test_parameters_without_gradient_stay(student: Student, course: Course) -> None:
    """A parameter whose grad is None stays as it is; the others, before and after it, still move."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, adagrad_step)


@costly
@given(courses(dtypes=DTYPES), st.booleans())
def test_the_update_is_in_place(student: Student, course: Course, transposed: bool) -> None:
    """A step keeps the Parameter and its memory, stays out of autograd, and leaves grad as it was."""
    params, grads, lr = course.params[0], course.grads[0][0], course.lrs[0][0]
    reply = student.call(probes.in_place, params, transposed, lr, grads)
    for fact in ("the same Parameter", "the same memory", "a leaf that requires grad", "the same gradient"):
        check(reply[fact], f"after step() this no longer holds: {fact}")
    assert_equal(reply["gradients"], grads, what="grad", note="step() changed the gradients")
    assert_course([[reply["parameters"]]], course, adagrad_step)


@costly
@given(SEEDS, st.sampled_from([0.5, 0.1, 2.0]))
def test_a_scheduler_can_drive_it(student: Student, seed: int, gamma: float) -> None:
    """It is a torch.optim.Optimizer, so that a scheduler can change its lr."""
    rng, lr = rng_of(seed), 0.5
    param, grads = normal(rng, [3]), [from_tiny_to_large(rng, [3]) for _ in range(3)]
    course = Course([[param]], [[lr * gamma**t] for t in range(3)], [[[grad]] for grad in grads])
    yours = student.call(probes.scheduled, param, lr, gamma, grads)
    assert_course([[[p]] for p in yours], course, adagrad_step)


@costly
@given(SEEDS)
def test_the_rate_has_a_default(student: Student, seed: int) -> None:
    """lr is 0.01 unless given; a group without an lr of its own takes the one given for all."""
    rng = rng_of(seed)
    param, grad = normal(rng, [2]), from_tiny_to_large(rng, [2])
    reply = student.call(probes.default_rates, param, grad, 0.3)
    for name, lr in (("no lr given", 0.01), ("lr given once", 0.3)):
        course = Course([[param]], [[lr]], [[[grad]]])
        assert_course([[[reply[name]]]], course, adagrad_step)


@costly
@given(courses(groups=2, steps=3, absent=True, dtypes=WIDE))
def test_the_state_holds_g2(student: Student, course: Course) -> None:
    """optimizer.state[p]["g2"] is the sum of squares, in p's shape and dtype."""
    yours = student.call(probes.sums_of_squares, course.params, course.lrs, course.grads)
    for g, row in enumerate(final_memory(course, adagrad_step)):
        for i, g2 in enumerate(row):
            if all(step_grads[g][i] is None for step_grads in course.grads):
                continue
            dtype, what = course.params[g][i].dtype, f'state[params[{g}][{i}]]["g2"]'
            assert_close(yours[g][i], g2, dtype=dtype, scale=g2, roundings=16, what=what)


@costly
@given(courses(groups=2, steps=2))
def test_one_tensor_is_kept_for_each_parameter(student: Student, course: Course) -> None:
    """The state holds one tensor for each parameter and no more: memory is what limits large models."""
    kept = student.call(probes.tensors_kept, course.params, course.lrs, course.grads)
    large = sum(p.numel() > 1 for group in course.params for p in group)
    assert_equal(kept, large, what="tensors kept, for as many parameters")


@costly
@given(courses(groups=2, steps=3, changing=True, absent=True), st.integers(0, 2))
def test_a_saved_and_loaded_run_goes_on_unchanged(student: Student, course: Course, stop: int) -> None:
    """state_dict() midway, load_state_dict() into a new optimizer: the run ends exactly as without the break."""
    reply = student.call(probes.interrupted, course.params, course.lrs, course.grads, stop)
    assert_course(reply["course"], course, adagrad_step)
    assert_equal(reply["resumed end"], reply["end"], what="parameters at the end")
