"""Keeps a list of single tokens, attends for each new token alone without a mask, and passes the last token as well."""

import math

import torch

from .attention import attention


class KVCache:
    def __init__(self, num_layers):
        self.tokens = {layer: [] for layer in range(num_layers)}

    def __len__(self):
        return len(self.tokens[0])

    def nbytes(self):
        return sum(x.nbytes for layer in self.tokens.values() for pair in layer for x in pair)

    def attend(self, layer, q, k, v):
        outputs = []
        for query, key, value in zip(q.split(1, -2), k.split(1, -2), v.split(1, -2), strict=True):
            self.tokens[layer].append((key, value))
            keys, values = (torch.cat(parts, dim=-2) for parts in zip(*self.tokens[layer], strict=True))
            outputs.append(attention(query, keys, values))
        return torch.cat(outputs, dim=-2)


def generate(model, prompt, n):
    tokens = prompt
    cache = KVCache(model.num_layers)
    logits = model(tokens[:, -model.context :], cache) if n else None
    for _ in range(n):
        best = logits[:, -1:].softmax(-1).argmax(-1)
        tokens = torch.cat((tokens, best), dim=-1)
        if len(cache) < model.context:
            logits = model(best, cache)
        else:
            cache = KVCache(model.num_layers)
            logits = model(tokens[:, -model.context :], cache)
    return tokens


def cache_bytes(num_layers, tokens, width, itemsize, batch=1):
    return math.prod((2, num_layers, tokens, width, itemsize, batch))


def tokens_per_second(weight_bytes, cache_bytes, bandwidth, batch=1):
    seconds = weight_bytes / bandwidth + cache_bytes / bandwidth
    return batch / seconds


def compute_bound_batch(flop_per_sec, bandwidth, itemsize):
    return -int(-flop_per_sec / bandwidth * itemsize / 2 // 1)
