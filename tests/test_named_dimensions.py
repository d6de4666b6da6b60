"""Tests for named_dimensions."""

from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.named_dimensions import oracle
from tests.probes import named_dimensions as probes
from tests.strategies import DTYPES, SEEDS, SIZES, normal, rng_of, sizes
from torchkata import Student, Text, as_float64, assert_close, assert_equal, check, precondition

LEADING = st.lists(sizes(2, 3, 0), min_size=0, max_size=3)
HEADS_AND_REMAINDER = st.integers(2, 4).flatmap(lambda heads: st.tuples(st.just(heads), st.integers(1, heads - 1)))


@dataclass(frozen=True)
class Attention:
    """Queries, keys and a gradient for their scores."""

    q: Tensor
    k: Tensor
    grad: Tensor


@st.composite
def attentions(draw: st.DrawFn) -> Attention:
    """Generate q and k with the same leading dimensions and usually different numbers of rows."""
    leading, hidden, dtype = draw(LEADING), draw(st.integers(1, 9)), draw(DTYPES)
    queries, keys = (draw(sizes(1, 5, 0)) for _ in range(2))
    rng = rng_of(draw(SEEDS))
    return Attention(
        normal(rng, [*leading, queries, hidden], dtype),
        normal(rng, [*leading, keys, hidden], dtype),
        normal(rng, [*leading, queries, keys], dtype),
    )


@dataclass(frozen=True)
class Heads:
    """Concatenated heads, their weight, and a gradient for the result."""

    heads: int
    x: Tensor
    w: Tensor
    grad: Tensor


@st.composite
def several_heads(draw: st.DrawFn) -> Heads:
    """Generate one or more heads with usually different input and output sizes."""
    leading, dtype = draw(LEADING), draw(DTYPES)
    heads, d_in, d_out = draw(st.integers(1, 4)), draw(SIZES), draw(SIZES)
    rng = rng_of(draw(SEEDS))
    return Heads(
        heads,
        normal(rng, [*leading, heads * d_in], dtype),
        normal(rng, [d_in, d_out], dtype),
        normal(rng, [*leading, heads * d_out], dtype),
    )


def compare_scores(student: Student, case: Attention) -> None:
    """Compare the scores with the oracle's."""
    y = student.call(probes.scores, case.q, case.k)
    q, k = as_float64(case.q), as_float64(case.k)
    scale = oracle.attention_scores(abs(q), abs(k))
    assert_close(y, oracle.attention_scores(q, k), dtype=case.q.dtype, scale=scale)


def compare_heads(student: Student, case: Heads) -> None:
    """Compare the result of per_head_linear with the oracle's."""
    y = student.call(probes.per_head, case.x, case.w, case.heads)
    x, w = as_float64(case.x), as_float64(case.w)
    scale = oracle.per_head_linear(abs(x), abs(w), case.heads)
    assert_close(y, oracle.per_head_linear(x, w, case.heads), dtype=case.x.dtype, scale=scale)


@given(attentions())
def test_scores_are_query_key_dot_products(student: Student, case: Attention) -> None:
    """attention_scores(q, k)[..., i, j] is the dot product of query i and key j, in the inputs' dtype."""
    compare_scores(student, case)


@given(attentions())
def test_gradients_reach_queries_and_keys(student: Student, case: Attention) -> None:
    """Gradients flow through attention_scores to q and to k."""
    with precondition():
        compare_scores(student, case)
    yours = student.call(probes.gradients_of_scores, case.q, case.k, case.grad)
    q, k, grad = as_float64(case.q), as_float64(case.k), as_float64(case.grad)
    expected = oracle.attention_scores_backward(q, k, grad)
    scales = oracle.attention_scores_backward(abs(q), abs(k), abs(grad))
    for name, exact, scale in zip(("q", "k"), expected, scales, strict=True):
        assert_close(yours[name], exact, dtype=case.q.dtype, scale=scale, what=Text("gradient of {name}", name=name))


@given(LEADING, st.integers(1, 9), DTYPES, SEEDS)
def test_mean_is_taken_over_hidden_dimension(
    student: Student, leading: list[int], hidden: int, dtype: torch.dtype, seed: int
) -> None:
    """mean_over_hidden(x) replaces the last dimension of x by its mean in x's dtype, and gradients flow to x."""
    x = normal(rng_of(seed), [*leading, hidden], dtype)
    exact = as_float64(x)
    y = student.call(probes.mean, x)
    assert_close(y, oracle.mean_over_hidden(exact), dtype=dtype, scale=oracle.mean_over_hidden(abs(exact)))
    no_graph = Text("the result has no graph, so x gets no gradient: is x detached?")
    check(student.call(probes.mean_has_graph, x), mistake=no_graph)


@given(several_heads())
def test_each_head_is_multiplied_by_w(student: Student, case: Heads) -> None:
    """per_head_linear multiplies each head (d_in neighbors in x) by w and joins the results in order, in x's dtype."""
    compare_heads(student, case)


@given(several_heads())
def test_gradients_reach_x_and_w(student: Student, case: Heads) -> None:
    """Gradients flow through per_head_linear to x and to w, where they are summed over the heads."""
    with precondition():
        compare_heads(student, case)
    yours = student.call(probes.gradients_per_head, case.x, case.w, case.heads, case.grad)
    x, w, grad = as_float64(case.x), as_float64(case.w), as_float64(case.grad)
    expected = oracle.per_head_linear_backward(x, w, case.heads, grad)
    scales = oracle.per_head_linear_backward(abs(x), abs(w), case.heads, abs(grad))
    for name, exact, scale in zip(("x", "w"), expected, scales, strict=True):
        assert_close(yours[name], exact, dtype=case.x.dtype, scale=scale, what=Text("gradient of {name}", name=name))


@given(HEADS_AND_REMAINDER, sizes(2, least=2), LEADING, SEEDS)
def test_mismatched_head_dimension_raises(
    student: Student, heads_and_remainder: tuple[int, int], d_in: int, leading: list[int], seed: int
) -> None:
    """per_head_linear raises an error if the size of the last dimension is not heads times d_in."""
    (heads, remainder), rng = heads_and_remainder, rng_of(seed)
    size = heads * d_in + remainder
    raised = student.call(probes.split_badly, normal(rng, [*leading, size]), normal(rng, [d_in, 2]), heads)
    silent = Text(
        "per_head_linear does not raise, although {size} elements are not {heads} heads of size {d_in}",
        size=size,
        heads=heads,
        d_in=d_in,
    )
    check(
        (raised == []) is oracle.heads_fit(size, heads, d_in),
        mistake=silent,
        yours=Text("no exception"),
        expected=Text("an exception"),
    )


@given(sizes(2, 12, 0))
def test_mask_allows_current_and_earlier_keys(student: Student, n: int) -> None:
    """causal_mask(n)[query, key] is True exactly where key <= query; dtype torch.bool, shape (n, n)."""
    assert_equal(student.call(probes.mask, n), torch.from_numpy(np.asarray(oracle.causal_mask(n))))
