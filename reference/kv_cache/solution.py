"""A cache of keys and values, greedy decoding with it, and what decoding costs."""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .attention import attention


class KVCache:
    """Keys and values of each layer."""

    def __init__(self, num_layers: int) -> None:
        self.layers: list[tuple[Tensor, Tensor] | None] = [None] * num_layers

    def __len__(self) -> int:
        """Return the number of tokens in layer 0."""
        return 0 if self.layers[0] is None else self.layers[0][0].shape[-2]

    def nbytes(self) -> int:
        """Return the bytes of all keys and values."""
        return sum(k.nbytes + v.nbytes for k, v in filter(None, self.layers))

    def attend(
        self, layer: int, q: Float[Tensor, "... new d"], k: Float[Tensor, "... new d"], v: Float[Tensor, "... new d_v"]
    ) -> Float[Tensor, "... new d_v"]:
        """Append keys and values, and return what the queries read."""
        old = self.layers[layer]
        if old is not None:
            k, v = torch.cat([old[0], k], dim=-2), torch.cat([old[1], v], dim=-2)
        self.layers[layer] = (k, v)
        new, tokens = q.shape[-2], k.shape[-2]
        mask = torch.ones(new, tokens, dtype=torch.bool).tril(tokens - new)
        return attention(q, k, v, mask)


def generate(model: Any, prompt: Int[Tensor, "batch T"], n: int) -> Int[Tensor, "batch T+n"]:
    """Feed the prompt, then one token in each step, and begin anew when the cache is full."""
    tokens, cache = prompt, KVCache(model.num_layers)
    new = prompt[:, -model.context :]
    for _ in range(n):
        logits = model(new, cache)
        new = logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, new], dim=1)
        if len(cache) == model.context:
            cache, new = KVCache(model.num_layers), tokens[:, -model.context :]
    return tokens


def cache_bytes(num_layers: int, tokens: int, width: int, itemsize: int, batch: int = 1) -> int:
    """Count a key and a value for each layer and token."""
    return 2 * num_layers * tokens * width * itemsize * batch


def tokens_per_second(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int = 1) -> float:
    """Divide the tokens of a step by the time it takes to read weights and caches."""
    return batch * bandwidth / (weight_bytes + cache_bytes)


def compute_bound_batch(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    """Compare 2 · batch FLOPs per weight with its bytes."""
    return math.ceil(flop_per_sec * itemsize / (2 * bandwidth))
