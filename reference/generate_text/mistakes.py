"""Mistakes in sampling from language models."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray as Array

from reference.generate_text import oracle
from reference.language_model.oracle import softmax
from torchkata import instead_of

X: TypeAlias = Array[Any, Any]


@instead_of(oracle.look_back, "the model is given the first tokens of the text, not the last")
def looks_at_the_start(tokens: Sequence[int], context: int) -> Sequence[int]:
    return tokens[:context]


@instead_of(oracle.look_back, "the model is given one token fewer than its context allows")
def one_token_less(tokens: Sequence[int], context: int) -> Sequence[int]:
    return tokens[-max(context - 1, 1) :]


@instead_of(oracle.look_back, "the model is given only the last token")
def last_token(tokens: Sequence[int], context: int) -> Sequence[int]:
    return tokens[-1:]


@instead_of(oracle.choose, "the logits of the first position are used instead of those of the last")
def first_position(logits: X) -> int:
    return int(np.argmax(logits[0]))


@instead_of(oracle.choose, "with temperature 0, the least likely token is chosen")
def least_likely(logits: X) -> int:
    return int(np.argmin(logits[-1]))


@instead_of(oracle.continue_greedily, "only the new tokens are returned, without the prompt")
def without_prompt(tables: X, prompt: Sequence[int], n: int) -> list[int]:
    return oracle.continue_greedily(tables, prompt, n)[len(prompt) :]


@instead_of(oracle.continue_greedily, "one token is missing")
def one_missing(tables: X, prompt: Sequence[int], n: int) -> list[int]:
    return oracle.continue_greedily(tables, prompt, max(n - 1, 0))


@instead_of(oracle.continue_greedily, "the result lacks its beginning: crop only what the model is given")
def cropped(tables: X, prompt: Sequence[int], n: int) -> list[int]:
    tokens = oracle.continue_greedily(tables, prompt, n)
    return tokens[-len(tables) - 1 :] if n else tokens


@instead_of(oracle.continue_greedily, "the text ends after the new token 0, although n is larger")
def ends_after_zero(tables: X, prompt: Sequence[int], n: int) -> list[int]:
    tokens = oracle.continue_greedily(tables, prompt, n)
    new = tokens[len(prompt) :]
    return [*prompt, *(new[: new.index(0) + 1] if 0 in new else new)]


@instead_of(oracle.sharpen, "the temperature has no effect")
def no_temperature(logits: X, temperature: float) -> X:
    return softmax(logits)


@instead_of(oracle.sharpen, "all tokens are equally likely: does the softmax run over the last dimension?")
def uniform(logits: X, temperature: float) -> X:
    return np.full(len(logits), 1 / len(logits))


@instead_of(oracle.sharpen, "the logits are multiplied by the temperature instead of divided by it")
def multiplied(logits: X, temperature: float) -> X:
    return softmax(logits * temperature)


@instead_of(oracle.sharpen, "softmax is applied to probabilities / temperature instead of logits / temperature")
def softened(logits: X, temperature: float) -> X:
    return softmax(softmax(logits) / temperature)
