"""Common mistakes in kv_cache."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from reference.kv_cache import oracle
from torchkata import instead_of


def attend_with(pieces: Sequence[oracle.Piece], masks: list[Array], step: int = 1) -> Array:
    """Return the outputs if each piece reads everything so far with its own mask. `step` -1 puts new keys first."""
    found = []
    for number, (q, _, _) in enumerate(pieces):
        k, v = (np.concatenate([piece[place] for piece in pieces[: number + 1][::step]], axis=-2) for place in (1, 2))
        found.append(oracle.read(q, k, v, masks[number]))
    return np.concatenate(found, axis=-2)


def shapes(pieces: Sequence[oracle.Piece]) -> list[tuple[int, int]]:
    """Return the number of new and of all tokens of each piece."""
    lengths = [q.shape[-2] for q, _, _ in pieces]
    return [(new, sum(lengths[: number + 1])) for number, new in enumerate(lengths)]


@instead_of(oracle.attend, "the new tokens of one call also attend to later tokens of that call")
def no_mask(pieces: Sequence[oracle.Piece]) -> Array:
    return attend_with(pieces, [np.ones(shape, dtype=bool) for shape in shapes(pieces)])


@instead_of(oracle.attend, "the causal mask ignores the tokens that are already in the cache: shift its diagonal")
def not_shifted(pieces: Sequence[oracle.Piece]) -> Array:
    return attend_with(pieces, [np.tril(np.ones(shape, dtype=bool)) for shape in shapes(pieces)])


@instead_of(
    oracle.attend,
    "single new tokens are right, but if several come at once, their causal mask ignores the tokens already in the "
    "cache: shift its diagonal",
)
def not_shifted_for_several(pieces: Sequence[oracle.Piece]) -> Array:
    masks = [np.tril(np.ones((new, tokens), dtype=bool), tokens if new == 1 else 0) for new, tokens in shapes(pieces)]
    return attend_with(pieces, masks)


@instead_of(oracle.attend, "new keys and values are put before the earlier ones, so the mask hides the wrong ones")
def newest_first(pieces: Sequence[oracle.Piece]) -> Array:
    masks = [np.tril(np.ones((new, tokens), dtype=bool), tokens - new) for new, tokens in shapes(pieces)]
    return attend_with(pieces, masks, step=-1)


@instead_of(oracle.attend, "the new tokens do not attend to those of earlier calls")
def only_new(pieces: Sequence[oracle.Piece]) -> Array:
    return np.concatenate([oracle.attend([piece]) for piece in pieces], axis=-2)


@instead_of(oracle.attend, "the mask lets each token attend to one token after it")
def one_too_many(pieces: Sequence[oracle.Piece]) -> Array:
    masks = [np.tril(np.ones((new, tokens), dtype=bool), tokens - new + 1) for new, tokens in shapes(pieces)]
    return attend_with(pieces, masks)


@instead_of(oracle.attend, "only the first call is masked: in later ones, new tokens also attend to tokens after them")
def masked_once(pieces: Sequence[oracle.Piece]) -> Array:
    masks = [np.ones(shape, dtype=bool) for shape in shapes(pieces)]
    return attend_with(pieces, [np.tril(masks[0]), *masks[1:]])


@instead_of(
    oracle.attend_in_layers,
    "in all layers but layer 0, the new tokens of one call also attend to later tokens of that call, as if these were "
    "old: len(cache) already counts them there",
)
def shifted_by_length(layers: Sequence[Sequence[oracle.Piece]]) -> list[Array]:
    unmasked = [attend_with(pieces, [np.ones(shape, dtype=bool) for shape in shapes(pieces)]) for pieces in layers]
    return [oracle.attend(layers[0]), *unmasked[1:]]


@instead_of(oracle.stored_bytes, "counts the keys but not the values")
def keys_only(pieces: Sequence[Sequence[int]], itemsize: int, layers: int) -> int:
    return sum(itemsize * k for _, k, _ in pieces)


@instead_of(oracle.stored_bytes, "counts twice the keys, as if values had their width: add the bytes of both")
def twice_the_keys(pieces: Sequence[Sequence[int]], itemsize: int, layers: int) -> int:
    return sum(2 * itemsize * k for _, k, _ in pieces)


@instead_of(oracle.stored_bytes, "counts twice the values, as if keys had their width: add the bytes of both")
def twice_the_values(pieces: Sequence[Sequence[int]], itemsize: int, layers: int) -> int:
    return sum(2 * itemsize * v for _, _, v in pieces)


@instead_of(oracle.stored_bytes, "counts numbers instead of bytes")
def elements(pieces: Sequence[Sequence[int]], itemsize: int, layers: int) -> int:
    return sum(k + v for _, k, v in pieces)


@instead_of(oracle.stored_bytes, "counts 4 bytes per number, also for other dtypes than float32")
def four_bytes(pieces: Sequence[Sequence[int]], itemsize: int, layers: int) -> int:
    return sum(4 * (k + v) for _, k, v in pieces)


@instead_of(oracle.stored_bytes, "counts only the keys and values of layer 0")
def first_layer(pieces: Sequence[Sequence[int]], itemsize: int, layers: int) -> int:
    return oracle.stored_bytes(pieces[::layers], itemsize, layers)


@instead_of(oracle.fed, "passes the whole text to the model in each step")
def everything_again(length: int, n: int, context: int) -> list[int]:
    return [length + step for step in range(n)]


@instead_of(oracle.fed, "begins a new cache although the new tokens would exactly fit")
def too_early(length: int, n: int, context: int) -> list[int]:
    counts, stored, new = [], 0, length
    for text in range(length, length + n):
        if stored and stored + new >= context:
            stored, new = 0, min(text, context)
        counts.append(new)
        stored, new = stored + new, 1
    return counts


@instead_of(oracle.generate, "a new cache begins with the last context - 1 tokens instead of context")
def one_place_left(weights: dict[str, Any], prompt: Array, n: int) -> Array:
    tokens, context = prompt, len(weights["positions"])
    seen = tokens.shape[1] if tokens.shape[1] <= context else context - 1
    for _ in range(n):
        best = oracle.logits(weights, tokens[:, -seen:]).argmax(axis=-1)
        tokens = np.concatenate([tokens, best[:, None]], axis=1)
        seen = seen + 1 if seen < context else context - 1
    return tokens


@instead_of(oracle.generate, "of a prompt that is longer than the context, the first tokens are passed, not the last")
def first_tokens(weights: dict[str, Any], prompt: Array, n: int) -> Array:
    context = len(weights["positions"])
    best = oracle.logits(weights, prompt[:, :context]).argmax(axis=-1)
    return oracle.generate(weights, np.concatenate([prompt, best[:, None]], axis=1), n - 1) if n else prompt


@instead_of(oracle.generate, "a new cache begins with the newest token alone, not with the last `context` tokens")
def newest_alone(weights: dict[str, Any], prompt: Array, n: int) -> Array:
    tokens, context = prompt, len(weights["positions"])
    cached = prompt[:, -context:]
    for _ in range(n):
        best = oracle.logits(weights, cached).argmax(axis=-1)[:, None]
        tokens = np.concatenate([tokens, best], axis=1)
        cached = best if cached.shape[1] == context else np.concatenate([cached, best], axis=1)
    return tokens


@instead_of(
    oracle.generate, "the last token of the prompt is passed twice: with the prompt, and again in the next call"
)
def last_token_twice(weights: dict[str, Any], prompt: Array, n: int) -> Array:
    tokens, context = prompt, len(weights["positions"])
    repeated = np.concatenate([prompt, prompt[:, -1:]], axis=1)
    cached = repeated if prompt.shape[1] < context else prompt[:, -context:]
    for _ in range(n):
        best = oracle.logits(weights, cached).argmax(axis=-1)[:, None]
        tokens = np.concatenate([tokens, best], axis=1)
        cached = tokens[:, -context:] if cached.shape[1] == context else np.concatenate([cached, best], axis=1)
    return tokens


@instead_of(oracle.cache_bytes, "counts only the keys or only the values")
def one_of_two(num_layers: int, tokens: int, width: int, itemsize: int, batch: int) -> int:
    return num_layers * tokens * width * itemsize * batch


@instead_of(oracle.cache_bytes, "counts one sequence instead of the whole batch")
def one_sequence(num_layers: int, tokens: int, width: int, itemsize: int, batch: int) -> int:
    return 2 * num_layers * tokens * width * itemsize


@instead_of(oracle.cache_bytes, "counts numbers instead of bytes")
def numbers(num_layers: int, tokens: int, width: int, itemsize: int, batch: int) -> int:
    return 2 * num_layers * tokens * width * batch


@instead_of(oracle.cache_bytes, "counts one layer instead of all")
def single_layer(num_layers: int, tokens: int, width: int, itemsize: int, batch: int) -> int:
    return 2 * tokens * width * itemsize * batch


@instead_of(oracle.tokens_per_second, "leaves out the cache, which is also read in each step")
def cache_left_out(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int) -> float:
    return batch * bandwidth / weight_bytes


@instead_of(oracle.tokens_per_second, "counts the tokens of one sequence instead of the whole batch")
def steps_per_second(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int) -> float:
    return bandwidth / (weight_bytes + cache_bytes)


@instead_of(oracle.tokens_per_second, "reads the weights once per sequence instead of once per step")
def weights_for_each(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int) -> float:
    return batch * bandwidth / (batch * weight_bytes + cache_bytes)


@instead_of(oracle.tokens_per_second, "multiplies the cache by the batch, although it is that of the whole batch")
def cache_for_each(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int) -> float:
    return batch * bandwidth / (weight_bytes + batch * cache_bytes)


@instead_of(oracle.tokens_per_second, "returns seconds per token instead of tokens per second")
def seconds_per_token(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int) -> float:
    return (weight_bytes + cache_bytes) / bandwidth / batch


@instead_of(oracle.compute_bound_batch, "rounds down: with this batch, reading still takes longer")
def rounded_down(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    return int(flop_per_sec * itemsize / (2 * bandwidth))


@instead_of(
    oracle.compute_bound_batch, "rounds to the nearest whole number: if this rounds down, reading still takes longer"
)
def rounded_to_nearest(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    return round(flop_per_sec * itemsize / (2 * bandwidth))


@instead_of(oracle.compute_bound_batch, "adds 1 even if the quotient is a whole number")
def always_one_more(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    return int(flop_per_sec * itemsize / (2 * bandwidth)) + 1


@instead_of(oracle.compute_bound_batch, "returns twice the right batch, as if each weight took one FLOP instead of two")
def one_flop(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    return int(np.ceil(flop_per_sec * itemsize / bandwidth))


@instead_of(oracle.compute_bound_batch, "does not depend on itemsize")
def two_bytes(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    return int(np.ceil(flop_per_sec / bandwidth))


@instead_of(oracle.compute_bound_batch, "divides by itemsize instead of multiplying by it")
def divided(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    return int(np.ceil(flop_per_sec / (2 * itemsize * bandwidth)))
