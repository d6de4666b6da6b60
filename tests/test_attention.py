"""Tests for attention."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.attention import oracle
from tests.probes import attention as probes
from tests.strategies import DTYPES, SEEDS, normal, rng_of, sizes
from torchkata import Student, Text, as_float64, assert_close, assert_equal, check, require

LEADING = st.lists(sizes(2, 3, 0), min_size=0, max_size=2)
EXACT = st.sampled_from([torch.float32, torch.float64])
COARSE = st.sampled_from([torch.bfloat16, torch.float16])

# for scales; a mistake replaces only names in `oracle`
right_weights, right_gradients = oracle.weights, oracle.gradients


@dataclass(frozen=True)
class Case:
    """Queries, keys, values, and a mask or None."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None

    @property
    def inputs(self) -> list[Tensor]:
        """The arguments of `attention`."""
        return [self.q, self.k, self.v, *([] if self.mask is None else [self.mask])]

    @property
    def exact(self) -> tuple[Any, Any, Any]:
        """q, k and v in float64."""
        return as_float64(self.q), as_float64(self.k), as_float64(self.v)

    @property
    def allowed(self) -> Any:
        """The mask as an array."""
        return None if self.mask is None else self.mask.numpy()


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    dtypes: st.SearchStrategy[torch.dtype] = DTYPES,
    masked: bool = False,
    empty: bool = False,
    heads: int = 1,
) -> Case:
    """Draw q, k and v. With `masked`, each query may attend to at least one key, with `empty`, one query to none."""
    leading, dtype = draw(LEADING), draw(dtypes)
    queries, keys = draw(sizes(3, 5)), draw(sizes(3 if empty else 4, 6))
    d, d_v = heads * draw(sizes(4, 9)), heads * draw(sizes(2, 4))
    rng = rng_of(draw(SEEDS))
    q, k = normal(rng, [*leading, queries, d], dtype), normal(rng, [*leading, keys, d], dtype)
    v, mask = normal(rng, [*leading, keys, d_v], dtype), None
    if masked or empty:
        allowed = rng.random([queries, keys]) < 0.5
        allowed[range(queries), rng.integers(0, keys, queries)] = True
        if empty:
            allowed[rng.integers(queries)] = False
        mask = torch.from_numpy(allowed)
    return Case(q, k, v, mask)


def sizes_of_scores(case: Case) -> Any:
    """Return, for each query, the largest sum of absolute terms of a score."""
    q, k, _ = case.exact
    return np.max(oracle.scores(abs(q), abs(k)), axis=-1, keepdims=True)


def scale_of(case: Case) -> Any:
    """Return the scale of the outputs: an error of the scores, which are float32 or better, multiplies the weights."""
    q, k, v = case.exact
    eps = torch.finfo(case.q.dtype).eps
    fine = min(eps, torch.finfo(torch.float32).eps)
    return right_weights(q, k, case.allowed) @ abs(v) * (1 + sizes_of_scores(case) * fine / eps)


def assert_attends(yours: Any, case: Case) -> None:
    """Compare outputs with the oracle's."""
    assert_close(yours, oracle.attention(*case.exact, case.allowed), dtype=case.q.dtype, scale=scale_of(case))


@given(cases())
def test_outputs_are_weighted_means_of_values(student: Student, case: Case) -> None:
    """attention(q, k, v) is softmax(q kᵀ / √d) v in the inputs' dtype, for any leading dimensions."""
    assert_attends(student.call("attention.attention", *case.inputs), case)


@given(cases(masked=True))
def test_masked_keys_have_no_weight(student: Student, case: Case) -> None:
    """With a mask, each query's output is softmax(q kᵀ / √d) v over its allowed keys, in the inputs' dtype."""
    assert_attends(student.call("attention.attention", *case.inputs), case)


def cut(case: Case, heads: int) -> list[Case]:
    """Return one case for each head."""
    parts = zip(*(x.chunk(heads, -1) for x in (case.q, case.k, case.v)), strict=True)
    return [Case(q, k, v, case.mask) for q, k, v in parts]


@given(
    st.sampled_from([2, 3, 1]).flatmap(
        lambda heads: st.tuples(st.just(heads), st.booleans(), cases(masked=True, heads=heads))
    )
)
def test_each_head_attends_separately(student: Student, drawn: tuple[int, bool, Case]) -> None:
    """multi_head_attention cuts q, k and v into heads, and joins each head's softmax(q kᵀ / √d) v in their dtype."""
    heads, masked, case = drawn
    case = case if masked else Case(case.q, case.k, case.v, None)
    q, k, v, *mask = case.inputs
    error = student.call(probes.error_of_heads, q, k, v, heads, case.mask)
    if error and not student.call(probes.error_of_heads, q, k, k, heads, case.mask):
        # the last call is the input that a failure shows
        student.call(probes.error_of_heads, q, k, v, heads, case.mask)
        other = Text("multi_head_attention raises an error if v has another width than q and k ({error})", error=error)
        check(False, mistake=other)
    y = student.call("attention.multi_head_attention", q, k, v, heads, *mask)
    scale = np.concatenate([scale_of(part) for part in cut(case, heads)], axis=-1)
    expected = oracle.multi_head_attention(*case.exact, heads, case.allowed)
    assert_close(y, expected, dtype=case.q.dtype, scale=scale)


def ask_for_weights(student: Student, case: Case, demand: Callable[..., None] = check) -> Any:
    """Return the weights, which are the outputs if v is the identity matrix, and demand that none is negative."""
    keys = case.k.shape[-2]
    eye = torch.eye(keys, dtype=case.q.dtype).expand(*case.k.shape[:-1], keys).contiguous()
    yours = student.call("attention.attention", case.q, case.k, eye, case.mask)
    right = isinstance(yours, Tensor) and yours.shape == (*case.q.shape[:-1], keys)
    require(right, Text("the weights have the wrong shape"), yours=yours)
    demand(bool((yours >= 0).all()), Text("a weight is negative or NaN"), yours=yours)
    return as_float64(yours)


@given(cases(dtypes=EXACT, masked=True))
def test_weights_of_each_query_sum_to_one(student: Student, case: Case) -> None:
    """The weights of a query, which are the output for v = torch.eye(keys), are at least 0 and sum to 1."""
    sums = ask_for_weights(student, case).sum(axis=-1)
    what = Text("sum of the weights of each query")
    dtype = torch.float32  # other tests check the precision
    q, k, _ = case.exact
    ones = oracle.weights(q, k, case.allowed).sum(axis=-1)  # or what a known mistake makes of them
    scale = 1 + sizes_of_scores(case)[..., 0]
    assert_close(torch.from_numpy(np.array(sums)).to(dtype), ones, dtype=dtype, scale=scale, what=what)


@given(st.sampled_from([64, 16, 256, 1024]), st.integers(1, 2**32 - 1))
def test_scores_have_variance_one_for_any_d(student: Student, d: int, seed: int) -> None:
    """If q and k have variance 1, the logarithms of a query's weights, like the scores, have variance 1 for any d."""
    rng = rng_of(seed)
    q, k = normal(rng, [64, d], torch.float64), normal(rng, [64, d], torch.float64)
    logs = np.log(np.maximum(ask_for_weights(student, Case(q, k, k, None), require), 1e-300))
    spread = f"{np.var(logs, axis=-1, ddof=1).mean():.2g}"
    note = Text("for d = {d}, the logarithms of the weights have variance {spread}", d=d, spread=spread)
    check(0.5 < float(spread) < 2, note, yours=spread, expected=Text("1, up to chance"))


def add_to_scores(case: Case, terms: list[float], factor: float = 16.0) -> Case:
    """Return a case in which the first dimension adds about `terms[i]` to all scores of query i."""
    q, k = case.q.clone(), case.k.clone()
    added = torch.tensor(terms)[torch.arange(q.shape[-2]) % len(terms)]
    q[..., 0] = (added / factor * q.shape[-1] ** 0.5).to(q.dtype)
    k[..., 0] = factor
    return Case(q, k, case.v, case.mask)


def add_masked_key(case: Case) -> Case:
    """Return a case with one more key, which is masked. Its scores are those of the last key with the other sign."""
    masked = torch.zeros(case.q.shape[-2], 1, dtype=torch.bool)
    mask = None if case.mask is None else torch.cat([case.mask, masked], dim=-1)
    k, v = (torch.cat([x, sign * x[..., -1:, :]], dim=-2) for x, sign in ((case.k, -1), (case.v, 1)))
    return case if mask is None else Case(case.q, k, v, mask)


@given(
    st.booleans().flatmap(lambda masked: cases(dtypes=EXACT, masked=masked)),
    st.sampled_from([[1e4, -1e4], [1e4], [-1e4, 0.0], [0.0, 1e4]]),
)
def test_adding_a_constant_to_scores_changes_nothing(student: Student, case: Case, terms: list[float]) -> None:
    """Scores of 1e4 and -1e4 give finite, correct outputs. Masked keys with such scores change nothing."""
    case = add_masked_key(add_to_scores(case, terms))
    assert_attends(student.call("attention.attention", *case.inputs), case)


@given(cases(dtypes=COARSE, masked=True), st.sampled_from([[512.0], [-512.0]]))
def test_scores_of_coarse_inputs_are_float32(student: Student, case: Case, terms: list[float]) -> None:
    """bfloat16 and float16 inputs give correct outputs in their dtype from float32 scores: 512 and 513 differ."""
    case = add_to_scores(case, terms, factor=16 + 2**-5)  # exact in float16, but not in bfloat16
    assert_attends(student.call("attention.attention", *case.inputs), case)


@given(cases(dtypes=EXACT), SEEDS)
def test_later_tokens_do_not_change_earlier_outputs(student: Student, case: Case, seed: int) -> None:
    """With a causal mask, the outputs of a token and of those before it do not depend on later tokens."""
    rng, tokens = rng_of(seed), case.k.shape[-2]
    q = normal(rng, [*case.q.shape[:-2], tokens, case.q.shape[-1]], case.q.dtype)
    case = Case(q, case.k, case.v, torch.ones(tokens, tokens, dtype=torch.bool).tril())
    keep = int(rng.integers(1, tokens + 1))
    changed = [x.clone() for x in case.inputs]
    for x in changed[:3]:
        x[..., keep:, :] = 10 * normal(rng, list(x[..., keep:, :].shape), x.dtype)
    first, second = student.call("attention.attention", *case.inputs), student.call("attention.attention", *changed)
    for yours in (first, second):
        is_form_right = isinstance(yours, Tensor) and yours.shape == case.v.shape and yours.dtype == case.v.dtype
        right = is_form_right and bool(yours[..., :keep, :].isfinite().all())
        require(right, Text("the output has the wrong shape or dtype, or is not finite"), yours=yours)
    what = Text("first {keep} outputs (expected: yours with other tokens after them)", keep=keep)
    before = as_float64(first[..., :keep, :])
    scale = scale_of(case)[..., :keep, :] + abs(before)
    assert_close(second[..., :keep, :], before, dtype=case.q.dtype, scale=scale, what=what)


@given(cases(dtypes=EXACT, masked=True), st.booleans(), SEEDS)
def test_order_of_keys_does_not_matter(student: Student, case: Case, masked: bool, seed: int) -> None:
    """Permuting keys and values together (and the columns of a mask) changes nothing."""
    case = case if masked else Case(case.q, case.k, case.v, None)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(case.k.shape[-2]))
    mask = None if case.mask is None else case.mask[:, order]
    other = Case(case.q, case.k[..., order, :], case.v[..., order, :], mask)
    first, second = (student.call("attention.attention", *each.inputs) for each in (case, other))
    shape = [*case.q.shape[:-1], case.v.shape[-1]]
    is_form_right = isinstance(first, Tensor) and list(first.shape) == shape and first.dtype == case.q.dtype
    right = is_form_right and bool(first.isfinite().all())
    require(right, Text("the output has the wrong shape or dtype, or is not finite"), yours=first)
    before = as_float64(first)
    what = Text("outputs (expected: yours for keys and values in another order)")
    assert_close(second, before, dtype=case.q.dtype, scale=scale_of(case) + abs(before), what=what)


@given(cases(empty=True))
def test_fully_masked_query_gives_zero(student: Student, case: Case) -> None:
    """The output is 0 for a query that may attend to no key, otherwise softmax(q kᵀ / √d) v, in the inputs' dtype."""
    assert_attends(student.call("attention.attention", *case.inputs), case)


def assert_gradients(student: Student, case: Case, seed: int) -> None:
    """Compare the gradients of q, k and v with the oracle's."""
    grad = normal(rng_of(seed), [*case.q.shape[:-1], case.v.shape[-1]], case.q.dtype)
    yours = student.call(probes.gradients, case.q, case.k, case.v, case.mask, grad)
    (q, k, v), slopes = case.exact, as_float64(grad)
    expected = oracle.gradients(oracle.weights(q, k, case.allowed), q, k, v, slopes)
    weights = right_weights(q, k, case.allowed)
    scales = right_gradients(weights, abs(q), abs(k), abs(v), abs(slopes), sign=1)
    largest = 2 + np.max(sizes_of_scores(case), initial=0.0)
    is_empty = case.mask is not None and not bool(case.mask.any(-1).all())
    nan = [name for name in expected if isinstance(yours[name], Tensor) and bool(yours[name].isnan().any())]
    names = ", ".join(nan)
    mistake = Text("NaN in the gradients of: {names}, if a query may attend to no key", names=names) if is_empty else ""
    for name, exact in expected.items():
        what = Text("gradient of {name}", name=name)
        scale = largest * scales[name]
        assert_close(
            yours[name], exact, dtype=case.q.dtype, scale=scale, what=what, mistake=mistake if name in nan else ""
        )


@given(st.booleans().flatmap(lambda masked: cases(dtypes=EXACT, masked=masked)), SEEDS)
def test_gradients_reach_queries_keys_and_values(student: Student, case: Case, seed: int) -> None:
    """The gradients of q, k and v are those of softmax(q kᵀ / √d) v, with and without a mask."""
    assert_gradients(student, case, seed)


@given(cases(dtypes=EXACT, empty=True), SEEDS)
def test_gradients_of_fully_masked_queries_are_zero(student: Student, case: Case, seed: int) -> None:
    """A query that may attend to no key adds 0 to all gradients, which are otherwise those of softmax(q kᵀ / √d) v."""
    assert_gradients(student, case, seed)


@given(cases(dtypes=EXACT, masked=True))
def test_inputs_are_not_modified(student: Student, case: Case) -> None:
    """attention(q, k, v, mask) does not modify its inputs."""
    after = student.call(probes.inputs_after, case.q, case.k, case.v, case.mask)
    for name, before in zip(("q", "k", "v", "mask"), case.inputs, strict=True):
        what = Text("{name} after the call", name=name)
        assert_equal(after[name], before, what=what, mistake=Text("modifies {name} in place", name=name))
