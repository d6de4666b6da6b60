"""Property tests for Linear: x @ weight, and its initialization.

Each test calls the student's code with a probe (`tests/probes/linear.py`), on inputs that Hypothesis or a seed draws,
and compares the answer with that of the oracle (`reference/linear/oracle.py`). The arguments `student` and `seed` are
fixtures of torchkata's pytest plugin.
"""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.linear import oracle
from tests.probes import linear as probes
from tests.sampling import NORMAL_OR_CUT, Z, describe_tails, repeated_share
from tests.strategies import DEFAULT_DTYPES, LinearCase, linear_cases, sizes
from torchkata import Student, Text, as_float64, assert_close, assert_equal, check, precondition, require

# For `scale`, on which the tolerance of `assert_close` depends. A known mistake replaces only the names in `oracle`.
forward_scale = oracle.forward
backward_scale = oracle.backward
WIDE = [(512, 128), (128, 512), (1, 65536)]  # input_dim and output_dim of layers with enough weights for statistics
NOT_REGISTERED = Text(
    "a weight is a plain tensor, which state_dict() does not contain: assign an nn.Parameter, not a result computed "
    "with one"
)
GRAD = "layer.weight.requires_grad"
FROZEN = Text("the weight does not require grad: is it a buffer, or an nn.Parameter with requires_grad=False?")
CUT_VARIANCE = 0.973  # of a standard normal distribution cut off at 3 standard deviations, from which students may draw


@given(linear_cases())
def test_forward_returns_x_at_weight(student: Student, case: LinearCase) -> None:
    """Linear(x) equals x @ weight, for any leading dimensions, including none, and any floating-point dtype."""
    y = student.call(probes.forward, case.weight, case.x)
    weight, x = as_float64(case.weight), as_float64(case.x)
    assert_close(y, oracle.forward(weight, x), dtype=case.x.dtype, scale=forward_scale(abs(weight), abs(x)))


@given(linear_cases())
def test_gradients_reach_weight_and_input(student: Student, case: LinearCase) -> None:
    """backward() computes x.grad and weight.grad, which is summed over all leading dimensions."""
    yours = student.call(probes.gradients, case.weight, case.x, case.grad_y)
    check(yours["requires grad"], mistake=FROZEN, yours=f"{GRAD}: False", expected=f"{GRAD}: True")
    weight, x, grad_y = as_float64(case.weight), as_float64(case.x), as_float64(case.grad_y)
    scales = backward_scale(abs(weight), abs(x), abs(grad_y))
    exact = zip(("weight", "x"), oracle.backward(weight, x, grad_y), scales, strict=True)
    try:
        for name, expected, scale in exact:
            note = Text("gradient of {name}", name=name)
            assert_close(yours[name], expected, dtype=case.x.dtype, scale=scale, what=note)
    except AssertionError:
        with precondition(Text("the output is already wrong")):
            scale = forward_scale(abs(weight), abs(x))
            assert_close(yours["y"], oracle.forward(weight, x), dtype=case.x.dtype, scale=scale)
        raise


@given(sizes(3, 9), sizes(2, 9), DEFAULT_DTYPES)
def test_weight_is_the_only_parameter(student: Student, input_dim: int, output_dim: int, dtype: str) -> None:
    """The only state is weight, a trainable nn.Parameter of shape (input_dim, output_dim) in torch's default dtype."""
    anatomy = student.call(probes.anatomy, input_dim, output_dim, dtype)
    is_parameter = anatomy["weight is an nn.Parameter"]  # None if there is no attribute weight
    state_dict = anatomy["state_dict"]
    is_plain = not state_dict and anatomy["dtype"].startswith("torch.")
    seen = NOT_REGISTERED if is_plain else FROZEN if "weight" in state_dict and not anatomy["requires grad"] else ""
    note = "" if seen else Text("weight is not an nn.Parameter that requires grad")
    yours = f"{anatomy['type']}, requires_grad={anatomy['requires grad']}"
    expected = Text("an nn.Parameter that requires grad")
    check(is_parameter is not False, note, mistake=seen, yours=yours, expected=expected)
    transposed = Text("weight is stored as (output_dim, input_dim), as nn.Linear does")
    mistake = transposed if state_dict == {"weight": [output_dim, input_dim]} else ""
    alone = "" if mistake else Text("weight should be the only key, without a bias")
    assert_equal(state_dict, {"weight": [input_dim, output_dim]}, what="state_dict", note=alone, mistake=mistake)
    assert_equal(anatomy["parameters"], ["weight"], what=Text("parameters"))
    check(is_parameter, Text("there is no attribute weight"))
    other = Text("the weight of a new layer does not have torch's default dtype, which is {dtype} here", dtype=dtype)
    assert_equal(anatomy["dtype"], f"torch.{dtype}", what="dtype", mistake=other)


def draw_weight(student: Student, input_dim: int, output_dim: int, seed: int) -> np.ndarray:
    """Return the weight of a new layer after checking its shape and dtype, and that its rows and columns differ."""
    (weight,) = student.call(probes.initial_weights, input_dim, output_dim, 1, seed)
    form = Text("floats of shape [{m}, {n}]", m=input_dim, n=output_dim)
    right = isinstance(weight, torch.Tensor) and weight.is_floating_point()
    right = right and list(weight.shape) == [input_dim, output_dim]
    require(right, Text("the shape or dtype is wrong"), yours=weight, expected=form)
    values = as_float64(weight)
    check(bool(np.isfinite(values).all()), mistake=Text("the initial weight contains NaN or infinity"), yours=weight)
    for name, side in ((Text("rows"), values), (Text("columns"), values.T)):
        copied = len(side) > 1 and side.std() > 0 and bool((side == side[0]).all())
        check(
            not copied,
            mistake=Text("all {name} of the initial weight are equal: draw each weight independently", name=name),
            yours=weight,
        )
    return values


def test_initial_std_is_inverse_sqrt_of_input_dim(student: Student, seed: int) -> None:
    """Each initial weight is drawn independently, with mean 0 and standard deviation 1 / sqrt(input_dim)."""
    for input_dim, output_dim in WIDE:
        weight = draw_weight(student, input_dim, output_dim, seed)
        exact = oracle.initial_std(input_dim, output_dim)
        values = (weight.flatten() - oracle.initial_mean(input_dim, output_dim)) / exact
        n = values.size
        mean = float(values.mean())
        variance = float(values.var())
        layer = f"Linear({input_dim}, {output_dim})"
        expected = Text("standard deviation {std} for {layer}", std=f"{exact:.5f}", layer=layer)
        yours = Text("standard deviation {std}", std=f"{float(weight.std()):.5f}")
        slack = Z * (2 / n) ** 0.5
        right = CUT_VARIANCE * (1 - slack) <= variance <= 1 + slack
        check(right, yours=yours, expected=expected)
        note = Text("the mean of the initial weight of {layer} is not 0", layer=layer)
        check(
            abs(mean) <= Z / n**0.5,
            note,
            yours=float(weight.mean()),
            expected=Text("0, within {slack}", slack=f"{Z * exact / n**0.5:.2g}"),
        )


def test_initial_weight_is_normal(student: Student, seed: int) -> None:
    """Each weight is drawn independently from a normal distribution, not truncated within 3 standard deviations."""
    for input_dim, output_dim in WIDE:
        weight = draw_weight(student, input_dim, output_dim, seed)
        values = weight.flatten()
        spread = float(values.std())
        check(spread > 0, mistake=Text("all elements of the initial weight are equal"), yours=float(values[0]))
        values = (values - values.mean()) / spread
        n = values.size
        kurtosis = float((values**4).mean())
        low, high = oracle.initial_kurtosis(input_dim, output_dim, spread)
        slack = Z * (24 / n) ** 0.5
        is_normal = low - slack <= kurtosis <= high + slack
        yours = Text("kurtosis {value}", value=f"{kurtosis:.2f}")
        check(is_normal, mistake=describe_tails(kurtosis), yours=yours, expected=NORMAL_OR_CUT)
        skew = float((values**3).mean())
        check(
            abs(skew) <= Z * (6 / n) ** 0.5,
            Text("the initial weight is skewed: skewness {value}, expected 0", value=f"{skew:.2f}"),
        )
        share = repeated_share(weight)
        check(
            share <= oracle.initial_repeats(input_dim, output_dim),
            Text("weights repeat each other up to sign: draw each independently"),
            yours=Text("{count} of them", count=f"{share:.0%}"),
        )


@given(st.integers(0, 2**31), sizes(3, 6), sizes(2, 6))
def test_torch_seed_determines_initial_weight(student: Student, seed: int, input_dim: int, output_dim: int) -> None:
    """The same torch.manual_seed gives the same initial weight, and two layers created one after the other differ."""
    first = student.call(probes.initial_weights, input_dim, output_dim, 2, seed)
    again = student.call(probes.initial_weights, input_dim, output_dim, 2, seed)
    other = Text("the same torch.manual_seed gives a different initial weight: draw it from torch's global generator")
    if all(isinstance(weight, Tensor) for weight in (*first, *again)):  # another test judges the dtype
        again = [weight.to(one.dtype) for weight, one in zip(again, first, strict=True)]
    assert_equal(again, first, what=Text("two weights"), mistake=other)
    equal = Text("two layers created one after the other have equal weights: are they seeded, cached or constant?")
    check(not torch.equal(*first), mistake=equal, yours=first)
    require(bool(np.isfinite(as_float64(first[0])).all()), Text("the initial weight is not finite"), yours=first[0])
