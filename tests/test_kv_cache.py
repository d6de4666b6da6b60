"""Tests for kv_cache."""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.kv_cache import oracle
from tests.probes import kv_cache as probes
from tests.strategies import SEEDS, costly, normal, rng_of, sizes
from torchkata import Student, Text, as_float64, asking, assert_close, assert_count, assert_equal, assert_number

LEADING = st.lists(sizes(2, 3), min_size=0, max_size=2)
PIECES = st.lists(sizes(2, 3), min_size=2, max_size=4)
GIGABYTES = st.sampled_from([0.5, 2, 14, 26, 140])
right_read = oracle.read  # for scales; no mistake replaces it


@dataclass(frozen=True)
class Decoding:
    """The sizes of a small model and the seed of its weights, a prompt and the number of new tokens."""

    sizes: list[int]
    prompt: Tensor
    n: int

    @property
    def context(self) -> int:
        """The maximum number of tokens in a cache."""
        return self.sizes[3]

    @property
    def exact(self) -> dict[str, Any]:
        """The weights as arrays."""
        weights = probes.draw_weights(*self.sizes)
        arrays = {name: as_float64(x) for name, x in weights.items() if name != "layers"}
        return arrays | {"layers": [[as_float64(x) for x in layer] for layer in weights["layers"]]}


@st.composite
def decodings(draw: st.DrawFn, *, beyond: bool) -> Decoding:
    """Draw a model, a prompt and a number of new tokens. With `beyond`, the text does not fit into the context."""
    layers, width, vocab, rows = draw(sizes(2, 3)), draw(sizes(4, 6, 2)), draw(sizes(5, 8, 3)), draw(sizes(2, 3))
    context = draw(st.integers(3, 7))
    length = draw(st.integers(1, context + 2 if beyond else context - 1))
    n = draw(st.integers(max(1, context + 2 - length), context + 4) if beyond else st.integers(2, context + 1 - length))
    seed = draw(SEEDS)
    prompt = torch.from_numpy(rng_of(seed).integers(0, vocab, [rows, length]))
    return Decoding([vocab, width, layers, context, seed], prompt, n)


@st.composite
def texts(draw: st.DrawFn) -> list[list[list[Tensor]]]:
    """Draw queries, keys and values: `texts[piece][layer]`."""
    leading, layers, dtype = draw(LEADING), draw(sizes(2, 3)), draw(st.sampled_from([torch.float32, torch.float64]))
    d, d_v, lengths = draw(sizes(4, 5)), draw(sizes(2, 3)), draw(PIECES)
    rng = rng_of(draw(SEEDS))
    return [
        [[normal(rng, [*leading, new, size], dtype) for size in (d, d, d_v)] for _ in range(layers)] for new in lengths
    ]


@given(texts())
def test_pieces_equal_one_causal_pass(student: Student, pieces: list[list[list[Tensor]]]) -> None:
    """Caches share nothing, and a text in pieces has the same outputs as causal attention over the whole text."""
    reply = student.call(probes.attend, len(pieces[0]), pieces)
    yours, lengths = reply["outputs"], reply["lengths"]
    shared = Text("filling one cache changes the length of another one: do they share their keys and values?")
    what = Text("lengths of a new cache, and of another one before and after it is filled")
    with asking(probes.SHOW_LENGTHS):
        if lengths[1] != lengths[2]:
            assert_equal(lengths, [0, lengths[1], lengths[1]], what=what, mistake=shared)
    exact = [
        [(as_float64(q), as_float64(k), as_float64(v)) for q, k, v in layer] for layer in zip(*pieces, strict=True)
    ]
    expected, scales = oracle.attend_in_layers(exact), []  # of each layer, for all pieces together
    for of_layer in exact:
        q, k, v = (np.concatenate(parts, axis=-2) for parts in zip(*of_layer, strict=True))
        mask = np.tril(np.ones((q.shape[-2], k.shape[-2]), dtype=bool))
        sizes_of_scores = np.max(abs(q) @ np.swapaxes(abs(k), -1, -2), axis=-1, keepdims=True)
        scales.append(right_read(q, k, abs(v), mask) * (1 + sizes_of_scores))
    start = 0
    for number, piece in enumerate(pieces):  # in the order of the calls, so that the first wrong one is shown
        rows = slice(start, start + piece[0][0].shape[-2])
        start = rows.stop
        for layer, (query, _, _) in enumerate(piece):
            what = Text("piece {piece} in layer {layer}", piece=number, layer=layer)
            right, scale = expected[layer][..., rows, :], scales[layer][..., rows, :]
            assert_close(yours[number][layer], right, dtype=query.dtype, scale=scale, what=what)


def explain_lengths(lengths: list[int], tokens: list[int]) -> Text | str:
    """Return what is wrong with the lengths of a new cache and after each piece, or nothing if that is unclear."""
    grown = [after - before for before, after in pairwise(lengths)]
    if lengths[0]:
        return Text("the length of a new cache is {length} instead of 0", length=lengths[0])
    if lengths == tokens or not grown[0]:
        return ""
    if grown == [1] * len(grown):
        return Text("len(cache) grows by 1 each time, not by the number of new tokens")
    if not any(grown[1:]):
        return Text("len(cache) is still {length} after later calls have added tokens", length=lengths[-1])
    return ""


@given(texts())
def test_cache_counts_tokens_and_bytes(student: Student, pieces: list[list[list[Tensor]]]) -> None:
    """len(cache) is the number of tokens in layer 0, and cache.nbytes() an int, the bytes of all keys and values."""
    yours = student.call(probes.measure, len(pieces[0]), pieces)
    layers, each = len(pieces[0]), yours["after each attend"]
    if any(each[i] != each[i - i % layers] for i in range(len(each))):
        totals = accumulate(piece[0][1].shape[-2] for piece in pieces)
        other = Text("attend in another layer changes len(cache), the number of tokens in layer 0")
        with asking(probes.SHOW_EACH_LENGTH):
            expected = [total for total in totals for _ in range(layers)]
            assert_equal(each, expected, what=Text("len(cache) after each call of attend"), mistake=other)
    right = [0, *accumulate(piece[0][1].shape[-2] for piece in pieces)]
    what, mistake = Text("len(cache), new and after each piece"), explain_lengths(yours["lengths"], right)
    if mistake:
        with asking(probes.SHOW_NEW_LENGTH):
            assert_equal(yours["lengths"], right, what=what, mistake=mistake)
    for number, found in enumerate(zip(yours["lengths"], yours["bytes"], strict=True)):
        so_far = [qkv for piece in pieces[:number] for qkv in piece]
        tokens = sum(piece[0][1].shape[-2] for piece in pieces[:number])
        counts = {"number": number, "all": len(pieces)}
        assert_count(found[0], tokens, what=Text("len(cache) after {number} of {all} pieces", **counts))
        taken = oracle.stored_bytes([[x.numel() for x in qkv] for qkv in so_far], pieces[0][0][0].itemsize, layers)
        assert_count(found[1], taken, what=Text("cache.nbytes() after {number} of {all} pieces", **counts))


@costly
@given(decodings(beyond=False))
def test_model_sees_one_token_per_step(student: Student, case: Decoding) -> None:
    """The model gets the prompt in one call, and then one token in each step."""
    reply = student.call(probes.generate, case.sizes, case.prompt, case.n)
    seen, expected = reply["fed"], oracle.fed(case.prompt.shape[1], case.n, case.context)
    seen = seen[:-1] if len(seen) == len(expected) + 1 else seen  # after the last token, there may be one more call
    assert_equal(seen, expected, what=Text("tokens in each call of the model"))


def explain_form(tokens: Any, case: Decoding) -> Text | str:
    """Return how long the rows of a result are if they have the wrong length, or nothing."""
    if not isinstance(tokens, Tensor) or tokens.ndim != 2 or tokens.shape[1] == case.prompt.shape[1] + case.n:
        return ""
    found, prompt, n = tokens.shape[1], case.prompt.shape[1], case.n
    counts = {"found": found, "right": prompt + n, "prompt": prompt, "n": n}
    return Text("each row has length {found} instead of {right}: {prompt} for the prompt and n = {n} more", **counts)


def assert_generates(student: Student, case: Decoding) -> Any:
    """Compare the text with that of recomputing everything, and return the reply."""
    reply = student.call(probes.generate, case.sizes, case.prompt, case.n)
    expected = oracle.generate(case.exact, case.prompt.numpy(), case.n)
    seen, right = reply["fed"], oracle.fed(case.prompt.shape[1], case.n, case.context)
    counts = Text("tokens in each call of the model: {seen}, expected: {right}", seen=str(seen), right=str(right))
    note = "" if seen[: len(right)] == right else counts
    mistake = explain_form(reply["tokens"], case)
    assert_equal(reply["tokens"], torch.from_numpy(expected), what=Text("tokens"), note=note, mistake=mistake)
    return reply


@costly
@given(decodings(beyond=False))
def test_tokens_equal_recomputing_everything(student: Student, case: Decoding) -> None:
    """generate returns the prompt and the same new tokens as without a cache, if the text fits into the context."""
    assert_generates(student, case)


@costly
@given(decodings(beyond=True))
def test_full_cache_begins_anew(student: Student, case: Decoding) -> None:
    """A text beyond the context is returned whole; each new token is the likeliest after the last `context` tokens."""
    assert_generates(student, case)


@costly
@given(decodings(beyond=True))
def test_prompt_is_not_modified(student: Student, case: Decoding) -> None:
    """generate returns the prompt and n tokens after it, and does not modify the prompt."""
    reply = student.call(probes.generate, case.sizes, case.prompt, 0)
    assert_equal(reply["tokens"], case.prompt, what=Text("tokens for n = 0"))
    reply = student.call(probes.generate, case.sizes, case.prompt, case.n)
    assert_equal(reply["prompt"], case.prompt, what=Text("prompt after the call"))


@given(sizes(2, 96), sizes(3, 9000), sizes(4, 9000), st.sampled_from([2, 4, 1]), sizes(1, 64))
def test_cache_bytes_count_keys_and_values(
    student: Student, num_layers: int, tokens: int, width: int, itemsize: int, batch: int
) -> None:
    """cache_bytes is 2 · num_layers · tokens · width · itemsize · batch, as an exact int."""
    yours = student.call("kv_cache.cache_bytes", num_layers, tokens, width, itemsize, batch)
    assert_count(yours, oracle.cache_bytes(num_layers, tokens, width, itemsize, batch))


@given(GIGABYTES, st.sampled_from([0, 0.25, 1, 8, 80]), st.sampled_from([3.35, 0.1, 2, 8]), sizes(4, 64))
def test_speed_is_bandwidth_over_bytes(
    student: Student, weights: float, caches: float, bandwidth: float, batch: int
) -> None:
    """tokens_per_second is batch · bandwidth / (weight_bytes + cache_bytes)."""
    given_values = weights * 1e9, caches * 1e9, bandwidth * 1e12, batch
    yours = student.call("kv_cache.tokens_per_second", *given_values)
    assert_number(yours, oracle.tokens_per_second(*given_values))


SPEEDS = st.tuples(
    st.sampled_from([989.5e12, 312.5e12, 65.13e12, 2250.1e12, 66.9e12]), st.sampled_from([3.35e12, 2e12, 0.32e12, 8e12])
)
# the quotient is a whole number, and nothing is rounded, however it is computed
POWERS = st.tuples(st.sampled_from([2.0**48, 2.0**46, 2.0**51]), st.sampled_from([2.0**41, 2.0**40, 2.0**43]))


@given(st.one_of(SPEEDS, POWERS), st.sampled_from([2, 4, 1]))
def test_compute_bound_batch_is_smallest(student: Student, speeds: tuple[float, float], itemsize: int) -> None:
    """compute_bound_batch is an int, the smallest batch with 2 · batch / itemsize ≥ flop_per_sec / bandwidth."""
    flop_per_sec, bandwidth = speeds
    yours = student.call("kv_cache.compute_bound_batch", flop_per_sec, bandwidth, itemsize)
    assert_count(yours, oracle.compute_bound_batch(flop_per_sec, bandwidth, itemsize))
