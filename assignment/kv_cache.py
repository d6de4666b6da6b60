"""Decode with cached keys and values."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .attention import attention  # your own


class KVCache:
    """Keys and values of all tokens so far, per layer.

    Example, with equal weights:
        cache, zeros = KVCache(num_layers=1), torch.zeros(2, 1)
        cache.attend(0, zeros, zeros, torch.tensor([[2.], [4.]]))      # [[2.], [3.]]
        cache.attend(0, zeros[:1], zeros[:1], torch.tensor([[9.]]))    # [[5.]]: the mean of 2, 4 and 9
        len(cache), cache.nbytes()                                     # 3, 24: 2 * 3 float32 numbers
    """

    def __init__(self, num_layers: int) -> None:
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of tokens in layer 0."""
        raise NotImplementedError

    def nbytes(self) -> int:
        """Return the bytes of keys and values."""
        raise NotImplementedError

    def attend(
        self, layer: int, q: Float[Tensor, "... new d"], k: Float[Tensor, "... new d"], v: Float[Tensor, "... new d_v"]
    ) -> Float[Tensor, "... new d_v"]:
        """Append keys and values to those of a layer, and return the attention of the queries.

        Tokens attend to themselves and earlier ones. Dtype and precision are those of your `attention`.
        """
        raise NotImplementedError


def generate(model: Any, prompt: Int[Tensor, "batch T"], n: int) -> Int[Tensor, "batch T+n"]:
    """Return the prompt and `n` tokens after it, each with the largest logit.

    `model(tokens, cache)` takes new tokens, from position `len(cache)` on. It calls `cache.attend` once in each of
    `model.num_layers` layers, and returns logits (batch, new, vocab).

    Pass it the prompt, then one token per step. A cache holds at most `model.context` tokens. If the prompt or a token
    would not fit, begin a new cache with the last `context` tokens of the text. The new cache is full, so every later
    step begins another.
    """
    raise NotImplementedError


def cache_bytes(num_layers: int, tokens: int, width: int, itemsize: int, batch: int = 1) -> int:
    """Return the bytes of a cache with a key and a value of `width` numbers per layer, token and sequence.

    Example, GPT-2 XL:
        cache_bytes(48, 1024, 1600, itemsize=2)     # 314572800
    """
    raise NotImplementedError


def tokens_per_second(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int = 1) -> float:
    """Return the tokens per second of memory-bound decoding, with `bandwidth` in bytes/s.

    A step reads the weights and `cache_bytes`, the whole batch's cache, and generates one token per sequence.

    Example, 7e9 bfloat16 weights on an H100:
        tokens_per_second(14e9, 0, 3.35e12)                 # 239.3
        tokens_per_second(14e9, 6e9, 3.35e12, batch=10)     # 1675.0: the 10 sequences' caches take 6e9 bytes
    """
    raise NotImplementedError


def compute_bound_batch(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    """Return the smallest batch for which computing takes at least as long as reading the weights.

    Per weight, a step performs 2 FLOPs per sequence and reads `itemsize` bytes. Ignore the cache.

    Example, an H100 in bfloat16:
        compute_bound_batch(989.5e12, 3.35e12, itemsize=2)     # 296
    """
    raise NotImplementedError
