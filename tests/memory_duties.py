"""What every optimizer with a memory and options must do besides: imported by each test file, as `optimizer_duties`."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference import optimizers as oracle
from tests.courses import assert_course, assert_resumed
from tests.optimizer_duties import Optimizer
from tests.strategies import SEEDS, WIDE_DTYPES, Course, costly, courses, from_tiny_to_large, normal, rng_of
from tests.torchs_own import course_of, in_float64
from torchkata.compare import check
from torchkata.student import Student

PICKS = st.permutations(range(4)).map(lambda order: order[:2])  # options for two groups


@costly
@given(courses(groups=2, steps=3), PICKS)
def test_every_group_has_options_of_its_own(
    student: Student, optimizer: Optimizer, course: Course, picks: list[int]
) -> None:
    """Each parameter group moves by its own options, not by those of another group or of the constructor."""
    course = optimizer.equipped(course, picks)
    yours = student.call(optimizer.probes.run, course.params, course.lrs, course.grads, course.options)
    assert_course(yours, course, optimizer.rule)


@costly
@given(SEEDS, st.integers(0, 3))
def test_options_have_their_defaults(student: Student, optimizer: Optimizer, seed: int, pick: int) -> None:
    """An option that is not given has its default; one that is given once holds for all groups without their own."""
    rng, lr = rng_of(seed), oracle.default_rate(optimizer.rule.lr)
    start = normal(rng, [3]) * torch.tensor([0.0, 1.0, 1.0])  # from 0 every digit of a step is seen
    course = Course([[start]], [[lr]] * 3, [[[from_tiny_to_large(rng, [3], powers=(-9, 2))]] for _ in range(3)])
    given_once = optimizer.equipped(course, [pick])
    for name, wanted in (("nothing given", course), ("given once", given_once)):
        grads = [grad for [[grad]] in wanted.grads]
        yours = student.call(optimizer.probes.defaults, wanted.params[0][0], grads, given_once.options[0])
        assert_course([[[p]] for p in yours[name]], wanted, optimizer.rule)


@costly
@given(courses(groups=2, steps=3, absent=True), PICKS)
def test_a_step_without_gradient_does_not_count(
    student: Student, optimizer: Optimizer, course: Course, picks: list[int]
) -> None:
    """In a step without a gradient a parameter's memory stays as it is: only its own steps count, not the others'."""
    course = optimizer.equipped(course, picks)
    yours = student.call(optimizer.probes.run, course.params, course.lrs, course.grads, course.options)
    assert_course(yours, course, optimizer.rule)


@costly
@given(courses(groups=2, steps=2, dtypes=WIDE_DTYPES))
def test_no_more_is_kept_than_the_rule_needs(student: Student, optimizer: Optimizer, course: Course) -> None:
    """The state holds no more tensors than the rule needs, in the parameter's dtype: memory limits large models."""
    kept = student.call(optimizer.probes.bytes_kept, course.params, course.lrs, course.grads)
    size = sum(p.nbytes for group in course.params for p in group)
    fits = oracle.is_needed(kept, {str(course.params[0][0].dtype): size}, optimizer.tensors)
    held, needed = sum(kept.values()), optimizer.tensors * size
    check(fits, f"for {size} bytes of parameters it keeps {held}; the rule needs {needed}")


@costly
@given(courses(groups=2, steps=3, changing=True, absent=True), PICKS, st.integers(0, 2))
def test_a_saved_and_loaded_run_goes_on_unchanged(
    student: Student, optimizer: Optimizer, course: Course, picks: list[int], stop: int
) -> None:
    """state_dict() midway, load_state_dict() into a new optimizer: the run ends exactly as without the break."""
    course = optimizer.equipped(course, picks)
    reply = student.call(optimizer.probes.interrupted, course.params, course.lrs, course.grads, stop, course.options)
    assert_course(reply["course"], course, optimizer.rule)
    assert_resumed(reply["resumed end"], reply["end"], course, optimizer.rule, stop)


@costly
@given(courses(groups=2, steps=3, changing=True, absent=True), PICKS)
def test_it_goes_where_torchs_own_goes(
    student: Student, optimizer: Optimizer, course: Course, picks: list[int]
) -> None:
    """With the same options, rates and gradients it goes where torch's own optimizer goes."""
    course = optimizer.equipped(course, picks)
    theirs = course_of(optimizer.of_torch, course)
    assert_course(theirs, in_float64(course), optimizer.rule)  # torch makes no known mistake: none explains yours here
    yours = student.call(optimizer.probes.run, course.params, course.lrs, course.grads, course.options)
    assert_course(yours, course, optimizer.rule, expected=theirs)
