"""Cruncher: a deep linear model."""

from dataclasses import replace
from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.cruncher import oracle
from tests.own_answers import holds
from tests.probes import cruncher as probes
from tests.sampling import Z
from tests.strategies import DeepCase, deep_cases, sizes
from torchkata import Plain, Student, Text, as_float64, assert_close, assert_equal, check, precondition, require, same

HIDDEN = sizes(1, 4)  # the numbers of hidden layers in tests that are not about a model without any
INSIDE_THE_LOOP = Text("without layers, nothing is returned, but with layers, a tensor: is `return` inside the loop?")
STALE = Text("after load_state_dict(), the output is still that of the previous weights: is their product cached?")
UNCHANGED = Text(
    "after the weights were changed in place, the output in eval() under no_grad() is still the old one: "
    "is their product cached?"
)
forward_scale, backward_scale = oracle.forward, oracle.backward  # for scales; a mistake replaces only names in `oracle`


def check_forward(yours: Plain, case: DeepCase, what: Text | str = "") -> None:
    """Compare the model's output with the product of all weights."""
    weights, x = [as_float64(w) for w in case.weights], as_float64(case.x)
    scale = forward_scale([abs(w) for w in weights], abs(x))
    expected, roundings = oracle.forward(weights, x), 8 * len(weights)
    assert_close(yours, expected, dtype=case.x.dtype, scale=scale, roundings=roundings, what=what)


def check_current(student: Student, case: DeepCase) -> None:
    """Check that an output without gradients uses weights that were changed in place after an earlier one."""
    before, after = student.call(probes.changed_in_place, case.weights, case.x)
    larger = replace(case, weights=[weight + 1 for weight in case.weights])
    stale = same(after, before) and not holds(check_forward, after, larger)
    check(not stale, mistake=UNCHANGED, yours=after, expected=Text("another result than before the change"))


def check_parts(student: Student, case: DeepCase, cuts: list[int]) -> None:
    """Compare the outputs for parts of the batch with the oracle, or with the whole batch's outputs if these are wrong.

    A wrong formula then fails only the tests of the formula.
    """
    rows, n = [*pairwise([0, *cuts])], len(case.x)
    yours = student.call(probes.parts, case.weights, case.x, rows)
    is_right = holds(check_forward, yours["batch"], case)
    is_right_form = is_right or (isinstance(yours["batch"], Tensor) and list(yours["batch"].shape) == [n])
    note, form = Text("the output of a batch has the wrong type or shape"), Text("a float tensor of shape [{n}]", n=n)
    require(is_right_form, note, yours=yours["batch"], expected=form)
    weights, x = [as_float64(w) for w in case.weights], as_float64(case.x)
    for (start, stop), part in zip(rows, yours["parts"], strict=True):
        expected = oracle.forward(weights, x[start:stop]) if is_right else as_float64(yours["batch"])[start:stop]
        scale = forward_scale([abs(w) for w in weights], abs(x[start:stop]))
        code = f"model(x[{start}:{stop}])"
        what = code if is_right else Text("{what} (expected: these rows of model(x))", what=code)
        assert_close(part, expected, dtype=case.x.dtype, scale=scale, roundings=16 * len(weights), what=what)


@given(deep_cases(st.integers(2, 4), HIDDEN))
def test_forward_multiplies_by_every_layer(student: Student, case: DeepCase) -> None:
    """Cruncher(x) equals x @ W0 @ W1 … @ final, with the current weights, one number per row and no nonlinearity."""
    answer: Plain = None
    for each in (case, replace(case, weights=case.weights[-1:])):  # also without hidden layers
        reply = student.call(probes.forward, each.weights, each.x)
        if each is not case and isinstance(answer, Tensor):
            check(reply["y"] is not None, mistake=INSIDE_THE_LOOP, expected=Text("a tensor"))
        answer = reply["y"]
        try:
            check_forward(reply["y"], each)
        except AssertionError:
            others = replace(each, weights=[weight + 1 for weight in each.weights])
            stale = same(reply["y"], reply["before"]) and holds(check_forward, reply["before"], others)
            expected = Text("another result than before load_state_dict()")
            check(not stale, mistake=STALE, yours=reply["y"], expected=expected)
            raise
        check_current(student, each)


@given(deep_cases(st.integers(2, 3), HIDDEN), sizes(1, 1, 0), st.sampled_from([torch.float32, torch.float64]))
def test_batch_sizes_zero_and_one_are_supported(
    student: Student, case: DeepCase, rows: int, dtype: torch.dtype
) -> None:
    """A batch of one row or none gives shape [1] or [0], the dtype of the model, and the value from a larger batch."""
    check_parts(student, replace(case, weights=[w.to(dtype) for w in case.weights], x=case.x.to(dtype)), [rows])


@given(deep_cases(st.integers(4, 5), HIDDEN))
def test_rows_are_independent(student: Student, case: DeepCase) -> None:
    """The output for each row does not depend on the other rows of the batch."""
    check_parts(student, case, [2, len(case.x)])


@given(deep_cases(st.integers(2, 4), sizes(1, 4, 0)))
def test_gradients_reach_every_layer(student: Student, case: DeepCase) -> None:
    """backward() computes the gradient of every layer's weight and of x."""
    if len(case.weights) == 1:
        with precondition():  # another test is about a model without hidden layers
            student.call(probes.forward, case.weights, case.x)
    yours = student.call(probes.gradients, case.weights, case.x, case.grad_y)
    with precondition(Text("the output is already wrong")):
        check_forward(yours["y"], case)
    weights, x, grad_y = [as_float64(w) for w in case.weights], as_float64(case.x), as_float64(case.grad_y)
    grads, grad_x = oracle.backward(weights, x, grad_y)
    scales, scale_x = backward_scale([abs(w) for w in weights], abs(x), abs(grad_y))
    roundings = 8 * len(weights)
    for i, (grad, scale) in enumerate(zip(grads, scales, strict=True)):
        what = Text("gradient of weight {i} of {all}", i=i, all=len(grads))
        assert_close(yours["weights"][i], grad, scale=scale, roundings=roundings, what=what)
    assert_close(yours["x"], grad_x, scale=scale_x, roundings=roundings, what=Text("gradient of {name}", name="x"))


@given(sizes(3, 6), sizes(1, 4, 0))
def test_state_dict_has_expected_keys(student: Student, dim: int, num_layers: int) -> None:
    """layers is an nn.ModuleList, and each layer has its own weight, layers.0.weight … final.weight, rightly shaped."""
    anatomy, expected = student.call(probes.anatomy, dim, num_layers), oracle.anatomy(dim, num_layers)
    assert_equal(anatomy["state_dict"], expected["state_dict"], what="state_dict")
    assert_equal(anatomy["parameters"], expected["parameters"], what=Text("number of parameters"))
    is_list = "layers is an nn.ModuleList"
    note, code = Text("layers should be an nn.ModuleList"), "isinstance(model.layers, nn.ModuleList)"
    check(anatomy[is_list] is expected[is_list], note, yours=f"{code}: {anatomy[is_list]}", expected=f"{code}: True")


@given(sizes(3, 6, 2), st.integers(2, 4), st.integers(0, 2**31))
def test_layers_are_initialized_independently(student: Student, dim: int, num_layers: int, seed: int) -> None:
    """Cruncher sets no seed, and each layer, even of another model, has its own memory and its own finite values."""
    initial = student.call(probes.initial_weights, dim, num_layers, 2, seed)
    weights = initial["weights"]
    assert_equal(initial["seed"], seed, what="torch.initial_seed()", mistake=Text("Cruncher sets the torch seed"))
    assert_equal(
        initial["addresses"],
        len(weights),
        what=Text("addresses in memory"),
        mistake=Text("the layers share one weight"),
    )
    for i, weight in enumerate(weights):
        finite = not isinstance(weight, Tensor) or bool(weight.isfinite().all())
        check(finite, mistake=Text("initial weights contain NaN or infinity"), yours=weight)
        for j in range(i):
            alike = isinstance(weight, Tensor) and torch.equal(weight, weights[j])
            note = Text(
                "weights {j} and {i} of two new models are equal: copied, constant, or drawn after setting a seed",
                j=j,
                i=i,
            )
            check(not alike, mistake=note, yours=weight)


def test_layers_are_initialized_like_linear(student: Student, seed: int) -> None:
    """Each layer is initialized like Linear(dim, dim), with standard deviation 1 / sqrt(dim) at any depth."""
    dim, num_layers = 128, 4
    initial = student.call(probes.initial_weights, dim, num_layers, 1, seed)
    for i, (weight, exact) in enumerate(zip(initial["weights"], oracle.initial_stds(dim, num_layers), strict=True)):
        shape = [dim, dim] if i < num_layers else [dim, 1]
        with precondition(Text("a weight has the wrong shape")):
            assert_equal(list(weight.shape), shape, what=Text("shape of weight {i} of {all}", i=i, all=num_layers + 1))
        expected, variance = Text("standard deviation {std}", std=f"{exact:.4f}"), float(as_float64(weight).var())
        slack = Z * (2 / weight.numel()) ** 0.5
        note = Text("weight {i} of {all} has the wrong standard deviation", i=i, all=num_layers + 1)
        yours = Text("standard deviation {std}", std=f"{float(as_float64(weight).std()):.4f}")
        right = 0.973 * (1 - slack) <= variance / exact**2 <= 1 + slack if exact else variance == 0
        check(right, note, yours=yours, expected=expected)
