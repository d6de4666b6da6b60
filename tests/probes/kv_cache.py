"""Probes for kv_cache, with a small model that uses the student's cache."""

from typing import Any

import torch
from torch import Tensor

from torchkata import Text, typed


class Model:
    """A Transformer without MLPs, whose attention is that of a cache."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights, self.num_layers = weights, len(weights["layers"])
        self.context = len(weights["positions"])
        self.fed: list[int] = []

    def __call__(self, tokens: Tensor, cache: Any) -> Tensor:
        """Return the logits of new tokens."""
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


@typed(
    "cache = KVCache(num_layers)\n[[cache.attend(layer, *qkv) for layer, qkv in enumerate(piece)] for piece in pieces]"
)
def attend(assignment: Any, num_layers: int, pieces: list[list[list[Tensor]]]) -> dict[str, object]:
    """Return the outputs of each piece in each layer, and the lengths of this cache and of an earlier one."""
    KVCache = assignment.kv_cache.KVCache
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
def measure(assignment: Any, num_layers: int, pieces: list[list[list[Tensor]]]) -> list[list[object]]:
    """Return the length and the bytes of a cache, new and after each piece, and the length after its layer 0."""
    cache = assignment.kv_cache.KVCache(num_layers)
    found: list[list[object]] = [[len(cache), cache.nbytes(), len(cache)]]
    for piece in pieces:
        lengths = []
        for layer, qkv in enumerate(piece):
            cache.attend(layer, *qkv)
            lengths.append(len(cache))
        found.append([lengths[-1], cache.nbytes(), lengths[0]])
    return found


def describe(weights: dict[str, Any]) -> str:
    """Return the code of `generate` with a model of the same sizes."""
    vocab, width = weights["tokens"].shape
    layers, context = len(weights["layers"]), len(weights["positions"])
    return (
        f"table = torch.randn({vocab}, {width})\n"
        "class Model:  # like the model of the test, which has other random weights\n"
        f"    num_layers, context = {layers}, {context}\n"
        "    def __call__(self, tokens, cache):\n"
        "        x = table[tokens]\n"
        "        for layer in range(self.num_layers):\n"
        "            x = x + cache.attend(layer, x, x, x)\n"
        "        return x @ table.T\n"
        "generate(Model(), prompt, n)"
    )


@typed(describe)
def generate(assignment: Any, weights: dict[str, Any], prompt: Tensor, n: int) -> dict[str, object]:
    """Return the generated text, the number of tokens in each call of the model, and the prompt afterwards."""
    model = Model(weights)
    tokens = assignment.kv_cache.generate(model, prompt, n)
    return {"tokens": tokens, "fed": model.fed, "prompt": prompt}
