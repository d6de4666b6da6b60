"""SGD: p ← p − lr · grad."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from kata.compare import assert_equal, check
from kata.student import Student
from tests.courses import assert_course, sgd_step
from tests.probes import sgd as probes
from tests.strategies import DTYPES, SEEDS, Course, costly, courses, from_tiny_to_large, normal, rng_of


@costly
@given(courses(dtypes=DTYPES))
def test_one_step_is_p_minus_lr_times_grad(student: Student, course: Course) -> None:
    """One step turns p into p - lr * grad, for every shape and float dtype."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, sgd_step)


@costly
@given(courses(steps=3))
def test_steps_follow_each_other(student: Student, course: Course) -> None:
    """Every step uses its own gradient alone: nothing is carried over from the steps before."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, sgd_step)


@costly
@given(courses(groups=2, steps=2))
def test_every_group_moves_at_its_own_rate(student: Student, course: Course) -> None:
    """Each parameter group moves at its own lr, a group that was added later, too."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, sgd_step)


@costly
@given(courses(groups=2, steps=3, changing=True))
def test_a_changed_rate_counts_from_the_next_step(student: Student, course: Course) -> None:
    """A group's lr that is changed between steps counts from the next step on."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, sgd_step)


@costly
@given(courses(groups=2, steps=2, absent=True))
def test_parameters_without_gradient_stay(student: Student, course: Course) -> None:
    """A parameter whose grad is None stays as it is; the others, before and after it, still move."""
    assert_course(student.call(probes.run, course.params, course.lrs, course.grads), course, sgd_step)


@costly
@given(courses(dtypes=DTYPES), st.booleans())
def test_the_update_is_in_place(student: Student, course: Course, transposed: bool) -> None:
    """A step keeps the Parameter and its memory, stays out of autograd, and leaves grad as it was."""
    params, grads, lr = course.params[0], course.grads[0][0], course.lrs[0][0]
    reply = student.call(probes.in_place, params, transposed, lr, grads)
    for fact in ("the same Parameter", "the same memory", "a leaf that requires grad", "the same gradient"):
        check(reply[fact], f"after step() this no longer holds: {fact}")
    assert_equal(reply["gradients"], grads, what="grad", note="step() changed the gradients")
    assert_course([[reply["parameters"]]], course, sgd_step)


@costly
@given(SEEDS, st.sampled_from([0.5, 0.1, 2.0]))
def test_a_scheduler_can_drive_it(student: Student, seed: int, gamma: float) -> None:
    """It is a torch.optim.Optimizer, so that a scheduler can change its lr."""
    rng, lr = rng_of(seed), 0.5
    param, grads = normal(rng, [3]), [from_tiny_to_large(rng, [3]) for _ in range(3)]
    course = Course([[param]], [[lr * gamma**t] for t in range(3)], [[[grad]] for grad in grads])
    yours = student.call(probes.scheduled, param, lr, gamma, grads)
    assert_course([[[p]] for p in yours], course, sgd_step)


@costly
@given(SEEDS)
def test_the_rate_has_a_default(student: Student, seed: int) -> None:
    """lr is 0.01 unless given; a group without an lr of its own takes the one given for all."""
    rng = rng_of(seed)
    param, grad = normal(rng, [2]), from_tiny_to_large(rng, [2])
    reply = student.call(probes.default_rates, param, grad, 0.3)
    for name, lr in (("no lr given", 0.01), ("lr given once", 0.3)):
        course = Course([[param]], [[lr]], [[[grad]]])
        check(isinstance(reply[name], torch.Tensor), "the parameter should stay a tensor", yours=reply[name])
        assert_course([[[reply[name]]]], course, sgd_step)
