"""Tests for flop_accounting."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.flop_accounting import oracle
from tests.meter import count_operations
from tests.probes import flop_accounting as probes
from torchkata import Plain, Student, Text, assert_count, assert_number, precondition

SMALL = st.integers(2, 9) | st.sampled_from([1, 0])  # sizes of 0 and 1 come last, since they show an error less clearly
SIZES = st.tuples(SMALL, SMALL, SMALL)
BEYOND_INT64 = st.integers(2**56, 2**57).map(
    lambda half: 2 * half + 1
)  # fits in 64 bits, unlike the counts; odd, so that no float can represent it
LARGE = st.floats(1e6, 1e15)
COUNTED = st.integers(1, 30)


@given(SIZES, st.just(1) | BEYOND_INT64)
def test_matmul_counts_two_flops_per_multiplication(student: Student, sizes: tuple[int, int, int], times: int) -> None:
    """matmul_flops returns 2 · B · D · K as an exact int."""
    B, D, K = sizes
    assert_count(
        student.call("flop_accounting.matmul_flops", B * times, D, K), oracle.matmul_flops(B, D, K, times), what="FLOPs"
    )


@given(SMALL, SMALL, SMALL)
def test_matmul_flops_match_torch(student: Student, B: int, D: int, K: int) -> None:
    """matmul_flops equals the FLOPs counted while torch computes x @ w."""
    predicted = student.call("flop_accounting.matmul_flops", B, D, K)
    x, w = torch.zeros(B, D), torch.zeros(D, K)
    counted = count_operations(lambda: x @ w).flops
    note = Text(
        "counted: {B} · {K} results, each a sum of {D} products; a multiplication and an addition are 2 FLOPs",
        B=B,
        K=K,
        D=D,
    )
    with precondition():
        assert_count(predicted, oracle.matmul_flops(B, D, K), what="FLOPs", note=note)
    assert_count(predicted, counted, what="FLOPs", note=note)


@given(SMALL, SMALL, st.just(1) | BEYOND_INT64 | LARGE)
def test_training_flops_are_exact(student: Student, tokens: int, parameters: int, times: float) -> None:
    """training_flops counts 2 FLOPs per token and parameter in the forward pass and 4 in the backward pass."""
    yours = student.call("flop_accounting.training_flops", tokens * times, type(times)(parameters))
    assert_number(yours, oracle.training_flops(tokens, parameters, times), what="training_flops")


def count_products(yours: Plain, one: int, products: int) -> Text | str:
    """Say how many products of `one` FLOPs are counted."""
    if not one or type(yours) not in (int, float):
        return ""
    count, expected = f"{yours / one:g}", f"{products:g}"
    if count == expected:  # the result is only rounded
        return Text(
            "an exact int is asked for: a float, such as the result of /, has only 53 bits, and int() is then too late"
        )
    return Text(
        "in matmuls of 2 · B · D² = {one} FLOPs: {expected}; yours: {count}", one=one, expected=expected, count=count
    )


@given(SMALL, SMALL, st.integers(0, 50) | st.just(1), st.booleans(), st.just(1) | BEYOND_INT64)
def test_deep_network_omits_input_gradient(
    student: Student, B: int, D: int, L: int, input_needs_grad: bool, times: int
) -> None:
    """deep_linear_flops, an exact int, is 3 matmuls per layer, one less unless input_needs_grad, and 0 if L is 0."""
    expected = oracle.deep_linear_flops(B, D, oracle.deep_linear_products(L, input_needs_grad), times)
    yours = student.call(probes.deep_linear, B * times, D, L, input_needs_grad)
    note = count_products(yours, 2 * B * times * D * D, 3 * L - (L > 0 and not input_needs_grad))
    assert_count(yours, expected, what="FLOPs", note=note)


@given(st.integers(2, 9), st.integers(2, 9), st.integers(1, 5), st.booleans())
def test_deep_linear_flops_match_torch(student: Student, B: int, D: int, L: int, input_needs_grad: bool) -> None:
    """deep_linear_flops equals the FLOPs counted while torch runs the forward and backward pass."""
    predicted = student.call(probes.deep_linear, B, D, L, input_needs_grad)
    x, weights = torch.zeros(B, D, requires_grad=input_needs_grad), torch.zeros(L, D, D, requires_grad=True).unbind()
    outputs = [x]
    forward = count_operations(lambda: outputs.extend(outputs[-1] @ w for w in weights)).flops
    leaves = [tensor for tensor in (x, *weights) if tensor.requires_grad]
    backward = count_operations(lambda: torch.autograd.grad(outputs[-1].sum(), leaves) if leaves else None).flops
    one = oracle.matmul_flops(B, D, D)
    share = Text("; yours are {count}", count=f"{predicted / one:g}") if type(predicted) in (int, float) else ""
    counts = Text(
        "{forward} forward and {backward} backward{share}",
        forward=forward // one,
        backward=backward // one,
        share=share,
    )
    note = Text("counted in products of 2 · B · D² = {one} FLOPs: {counts}", one=one, counts=counts)
    products = oracle.deep_linear_products(L, input_needs_grad)
    with precondition():
        assert_count(predicted, oracle.deep_linear_flops(B, D, products), what="FLOPs", note=note)
    assert_count(predicted, forward + backward, what="FLOPs", note=note)


@given(SMALL, SMALL, SMALL.filter(bool))
def test_input_needs_grad_defaults_to_false(student: Student, B: int, D: int, L: int) -> None:
    """input_needs_grad is False by default."""
    needs_grad = False
    explicit = oracle.deep_linear_flops(B, D, oracle.deep_linear_products(L, needs_grad))
    with precondition():
        assert_count(student.call(probes.deep_linear, B, D, L, needs_grad), explicit, what="FLOPs")
    expected = oracle.deep_linear_flops(B, D, oracle.products_by_default(L))
    yours = student.call("flop_accounting.deep_linear_flops", B, D, L)
    assert_count(yours, expected, what="FLOPs", note=count_products(yours, 2 * B * D * D, 3 * L - 1))


@given(COUNTED, COUNTED, LARGE, st.integers(1, 1000), st.floats(1e12, 1e16), st.floats(0.01, 1) | st.just(1.0))
def test_training_days_divides_flops_by_throughput(
    student: Student, parameters: int, tokens: int, times: float, devices: int, peak: float, mfu: float
) -> None:
    """training_days divides 6 · tokens · parameters by the FLOPs of all devices per day at that MFU, unrounded."""
    yours = student.call("flop_accounting.training_days", float(parameters), tokens * times, devices, peak, mfu)
    assert_number(yours, oracle.training_days(parameters, tokens, devices, peak, mfu, times), what=Text("days"))
