"""Probes for kv_cache, with a small model that uses the student's cache."""

from typing import Any

import torch
from torch import Tensor

from torchkata import Text, typed


def draw_weights(vocab: int, width: int, layers: int, context: int, seed: int) -> dict[str, Any]:
    """Return normally distributed weights in float64."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    return {
        "tokens": normal(vocab, width),
        "positions": normal(context, width),
        "layers": [[normal(width, width) for _ in range(3)] for _ in range(layers)],
        "output": normal(width, vocab),
    }


class Model:
    """A Transformer without MLPs, whose attention is that of a cache."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights, self.num_layers = weights, len(weights["layers"])
        self.context = len(weights["positions"])
        self.fed: list[int] = []

    def __call__(self, tokens: Tensor, cache: Any) -> Tensor:
        """Return the logits of new tokens."""
        if tokens.ndim != 2:
            found = list(tokens.shape)
            raise ValueError(Text("the model expects tokens of shape (batch, T), but these have {shape}", shape=found))
        start, new = len(cache), tokens.shape[1]
        self.fed.append(new)
        if start + new > self.context:
            have = {"start": start, "new": new, "context": self.context}
            raise ValueError(
                Text("{start} tokens in the cache and {new} new ones are more than context = {context}", **have)
            )
        x = self.weights["tokens"][tokens] + self.weights["positions"][start : start + new]
        for layer, (wq, wk, wv) in enumerate(self.weights["layers"]):
            x = x + cache.attend(layer, x @ wq, x @ wk, x @ wv)
        return torch.matmul(x, self.weights["output"])


SHOW_LENGTHS = (
    "other = KVCache(num_layers)\nfor layer, qkv in enumerate(pieces[0]): other.attend(layer, *qkv)\n"
    "cache = KVCache(num_layers)\nlengths = [len(cache), len(other)]\n"
    "for piece in pieces:\n    for layer, qkv in enumerate(piece): cache.attend(layer, *qkv)\n"
    "[*lengths, len(other)]"
)
SHOW_EACH_LENGTH = (
    "cache, lengths = KVCache(num_layers), []\nfor piece in pieces:\n    for layer, qkv in enumerate(piece):\n"
    "        cache.attend(layer, *qkv)\n        lengths.append(len(cache))\nlengths"
)

SHOW_NEW_LENGTH = (
    "cache = KVCache(num_layers)\nlengths = [len(cache)]\nfor piece in pieces:\n"
    "    for layer, qkv in enumerate(piece): cache.attend(layer, *qkv)\n    lengths.append(len(cache))\nlengths"
)


def start_anew(assignment: Any) -> Any:
    """Import the student's module again, so that its classes and globals contain nothing from earlier cases."""
    del assignment.kv_cache
    return assignment.kv_cache


@typed(
    "cache = KVCache(num_layers)\n[[cache.attend(layer, *qkv) for layer, qkv in enumerate(piece)] for piece in pieces]"
)
def attend(assignment: Any, num_layers: int, pieces: list[list[list[Tensor]]]) -> dict[str, object]:
    """Return the outputs of each piece in each layer, and the lengths of this cache and of an earlier one."""
    KVCache = start_anew(assignment).KVCache
    other = KVCache(num_layers)
    for layer, qkv in enumerate(pieces[0]):
        other.attend(layer, *(x.clone() for x in qkv))
    cache = KVCache(num_layers)
    lengths = [len(cache), len(other)]
    outputs = [[cache.attend(layer, *qkv) for layer, qkv in enumerate(piece)] for piece in pieces]
    return {"outputs": outputs, "lengths": [*lengths, len(other)]}


@typed(
    "cache = KVCache(num_layers)\nfor piece in pieces:\n"
    "    for layer, qkv in enumerate(piece): cache.attend(layer, *qkv)\n"
    "len(cache), cache.nbytes()"
)
def measure(assignment: Any, num_layers: int, pieces: list[list[list[Tensor]]]) -> dict[str, list[int]]:
    """Return the length and the bytes of a cache, new and after each piece, and the length after each `attend`."""
    cache = start_anew(assignment).KVCache(num_layers)
    lengths, sizes, each = [len(cache)], [cache.nbytes()], []
    for piece in pieces:
        for layer, qkv in enumerate(piece):
            cache.attend(layer, *qkv)
            each.append(len(cache))
        lengths.append(len(cache))
        sizes.append(cache.nbytes())
    return {"lengths": lengths, "bytes": sizes, "after each attend": each}


@typed(
    "from tests.probes.kv_cache import Model, draw_weights\n"
    "model = Model(draw_weights(*sizes))\n"
    "generate(model, prompt, n), model.fed"
)
def generate(assignment: Any, sizes: list[int], prompt: Tensor, n: int) -> dict[str, object]:
    """Return the generated text, the number of tokens in each call of the model, and the prompt afterwards.

    `sizes` has the arguments of `draw_weights`, the last of which is the seed.
    """
    model = Model(draw_weights(*sizes))
    tokens = start_anew(assignment).generate(model, prompt, n)
    return {"tokens": tokens, "fed": model.fed, "prompt": prompt}
