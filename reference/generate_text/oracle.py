"""Continues a text in float64, with the model of tables in language_model's oracle."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.language_model.oracle import look_up, softmax


def look_back(tokens: Sequence[int], context: int) -> Sequence[int]:
    """Return the tokens that the model receives, which are the last `context` tokens."""
    return tokens[-context:]


def choose(logits: Float[Array, "T v"]) -> int:
    """Return the most likely next token, given the logits at each position."""
    return int(np.argmax(logits[-1]))


def continue_greedily(tables: Float[Array, "context v v"], prompt: Sequence[int], n: int) -> list[int]:
    """Return the prompt followed by `n` tokens, each of which is the most likely next token."""
    tokens = [*prompt]
    for _ in range(n):
        seen = np.array([look_back(tokens, len(tables))])
        tokens.append(choose(look_up(tables, seen)[0]))
    return tokens


def sharpen(logits: Float[Array, "v"], temperature: float) -> Float[Array, "v"]:
    """Return the probabilities of the next token at the given temperature."""
    return softmax(logits / temperature)
