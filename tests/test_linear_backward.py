"""Property tests for linear_backward: the gradients of x @ w, computed by hand."""

from dataclasses import replace
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.linear_backward import oracle
from tests.own_answers import holds
from tests.probes import linear_backward as probes
from tests.strategies import DTYPES, SEEDS, SIZES, LinearCase, normal, rng_of, sizes
from torchkata import Student, Text, as_float64, assert_close, assert_equal, check, require


@st.composite
def cases(draw: st.DrawFn, leading: st.SearchStrategy[list[int]], square: bool = False) -> LinearCase:
    """Draw a case with the given leading dimensions, with as many outputs as inputs if `square`."""
    axes, input_dim, dtype = draw(leading), draw(sizes(3)), draw(DTYPES)
    output_dim = input_dim if square else draw(SIZES)
    rng = rng_of(draw(SEEDS))
    shapes = [input_dim, output_dim], [*axes, input_dim], [*axes, output_dim]
    return LinearCase(*(normal(rng, shape, dtype) for shape in shapes))


ROWS = st.lists(sizes(4, 4, 2), min_size=1, max_size=3)


def assert_gradients(yours: Any, case: LinearCase, *names: str, own: Any = None) -> None:
    """Assert that the named gradients are correct, or that they equal the student's `own` answers to another call."""
    x, w, grad_y = as_float64(case.x), as_float64(case.weight), as_float64(case.grad_y)
    expected = dict(zip(("grad_x", "grad_w"), oracle.backward(x, w, grad_y), strict=True))
    scales = dict(zip(("grad_x", "grad_w"), oracle.backward(abs(x), abs(w), abs(grad_y)), strict=True))
    what: Text | str
    for name in names:
        exact, what = expected[name], name
        if own is not None:
            exact = as_float64(own[name])
            what = Text("{name} (expected: what your code returns in a simpler call)", name=name)
        assert_close(yours[name], exact, dtype=case.x.dtype, scale=scales[name], what=what)


def assert_like_plain_call(yours: Any, plain: Any, case: LinearCase) -> None:
    """Assert that each gradient is correct. If a `plain` call returns a wrong gradient, expect the same gradient."""
    for name in ("grad_x", "grad_w"):
        if holds(assert_gradients, plain, case, name) or holds(assert_gradients, yours, case, name):
            assert_gradients(yours, case, name)
        else:
            is_right_form = isinstance(plain[name], Tensor) and plain[name].dtype == case.x.dtype
            require(is_right_form, Text("{name} is not a tensor in the dtype of x", name=name), yours=plain[name])
            assert_gradients(yours, case, name, own=plain)


def ask(student: Student, case: LinearCase) -> Any:
    """Return the student's gradients."""
    return student.call(probes.gradients, case.x, case.weight, case.grad_y)


@given(cases(ROWS | st.just([])))
def test_grad_x_is_grad_y_at_w_transposed(student: Student, case: LinearCase) -> None:
    """grad_x equals grad_y @ w.T, for any leading dimensions and any floating-point dtype."""
    assert_gradients(ask(student, case), case, "grad_x")


@given(cases(ROWS))
def test_grad_w_sums_over_all_rows(student: Student, case: LinearCase) -> None:
    """grad_w equals x.T @ grad_y, summed over all leading dimensions, for any floating-point dtype."""
    assert_gradients(ask(student, case), case, "grad_w")


@given(cases(st.lists(st.integers(1, 3), min_size=1, max_size=3), square=True))
def test_square_weight_is_transposed(student: Student, case: LinearCase) -> None:
    """The gradients are correct for square weights, for which a wrong transpose also has the correct shape."""
    yours = ask(student, case)
    assert_gradients(yours, case, "grad_x", "grad_w")


@given(cases(st.just([])))
def test_vector_input_has_gradients(student: Student, case: LinearCase) -> None:
    """If x is a vector, grad_x is the vector grad_y @ w.T, and grad_w is the outer product of x and grad_y."""
    x, grad_y = (torch.stack([vector, 0 * vector]) for vector in (case.x, case.grad_y))
    two_rows = ask(student, LinearCase(case.weight, x, grad_y))
    yours = ask(student, case)
    grad_x = two_rows["grad_x"]
    has_rows = isinstance(grad_x, Tensor) and len(grad_x.shape) > 0 and len(grad_x) == 2
    assert_like_plain_call(yours, two_rows | ({"grad_x": grad_x[0]} if has_rows else {}), case)


@given(cases(st.sampled_from([[0], [0, 1], [1, 0], [2, 0], [0, 2, 1], [1, 0, 2]])))
def test_empty_batch_gives_zero_gradients(student: Student, case: LinearCase) -> None:
    """If a leading dimension has size 0, grad_x is empty, in the shape of x, and grad_w is zero, in the shape of w."""
    yours = ask(student, case)
    for name, grad in yours.items():  # the tests of the formulas judge the dtype
        is_floating = isinstance(grad, Tensor) and grad.is_floating_point()
        assert_gradients(yours, replace(case, x=case.x.to(grad.dtype)) if is_floating else case, name)


@given(cases(ROWS))
def test_gradients_are_returned_as_tuple(student: Student, case: LinearCase) -> None:
    """The result is a tuple (grad_x, grad_w), as in the backward() of an autograd.Function."""
    is_tuple = student.call(probes.gives_a_tuple, case.x, case.weight, case.grad_y)
    check(is_tuple, mistake=Text("this is not a tuple"), expected=Text("a tuple (grad_x, grad_w)"))


@given(cases(ROWS))
def test_works_without_autograd(student: Student, case: LinearCase) -> None:
    """The gradients are the same under torch.inference_mode(), and for x and grad_y that are not contiguous."""
    plain = ask(student, case)
    yours = student.call(probes.gradients_without_autograd, case.x, case.weight, case.grad_y)
    assert_like_plain_call(yours, plain, case)


@given(cases(ROWS | st.just([])))
def test_arguments_are_not_modified(student: Student, case: LinearCase) -> None:
    """x, w and grad_y keep their values, shapes, .grad and requires_grad."""
    traces = student.call(probes.traces, case.x, case.weight, case.grad_y)
    kept, filled = (
        Text("an argument is modified"),
        Text("x.grad or w.grad is filled: do not call backward() on the arguments"),
    )
    assert_equal(traces["arguments"], [case.x, case.weight, case.grad_y], what=Text("x, w and grad_y"), mistake=kept)
    assert_equal(traces["gradients"], [None, None], what=Text("x.grad and w.grad"), mistake=filled)
    switched, asking = Text("requires_grad of an argument is changed"), Text("requires_grad of x, w and grad_y")
    assert_equal(traces["still require grad"], [True, True, False], what=asking, mistake=switched)
    for name in ("grad_x", "grad_w"):
        grad = traces["results"][name]
        require(
            isinstance(grad, Tensor) and bool(grad.any()),
            Text("{name} is not a tensor of gradients", name=name),
            yours=grad,
        )
