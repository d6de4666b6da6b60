"""Writes into tensors that are allocated in advance and doubled when full, and masks by positions."""

import torch
from torch import Tensor

from .attention import attention


class KVCache:
    def __init__(self, num_layers):
        self.k, self.v = [None] * num_layers, [None] * num_layers
        self.used = [0] * num_layers

    def __len__(self):
        return self.used[0]

    def nbytes(self):
        parts = [x[..., :n, :] for xs in (self.k, self.v) for x, n in zip(xs, self.used, strict=True) if x is not None]
        return sum(part.numel() * part.element_size() for part in parts)

    def grow(self, store: list, layer: int, x: Tensor) -> Tensor:
        end = self.used[layer] + x.shape[-2]
        old = store[layer]
        if old is None or end > old.shape[-2]:
            bigger = x.new_zeros(*x.shape[:-2], 2 * end, x.shape[-1])
            if old is not None:
                bigger[..., : self.used[layer], :] = old[..., : self.used[layer], :]
            store[layer] = bigger
        store[layer][..., self.used[layer] : end, :] = x
        return store[layer][..., :end, :]

    def attend(self, layer, q, k, v):
        keys, values = self.grow(self.k, layer, k), self.grow(self.v, layer, v)
        places = torch.arange(keys.shape[-2])
        queries = places[self.used[layer] :]
        self.used[layer] = len(places)
        return attention(q, keys, values, queries[:, None] >= places)


@torch.inference_mode()
def generate(model, prompt, n):
    text = torch.empty(len(prompt), prompt.shape[1] + n, dtype=prompt.dtype)
    text[:, : prompt.shape[1]] = prompt
    cache = KVCache(model.num_layers)
    for end in range(prompt.shape[1], text.shape[1]):
        if len(cache) == 0 or len(cache) == model.context:
            cache = KVCache(model.num_layers)
            fresh = text[:, max(0, end - model.context) : end]
        else:
            fresh = text[:, end - 1 : end]
        text[:, end] = model(fresh, cache)[:, -1].max(dim=-1).indices
    return text.clone()


def cache_bytes(num_layers, tokens, width, itemsize, batch=1):
    return itemsize * num_layers * tokens * batch * (width + width)


def tokens_per_second(weight_bytes, cache_bytes, bandwidth, batch=1):
    return 1 / ((weight_bytes + cache_bytes) / bandwidth / batch)


def compute_bound_batch(flop_per_sec, bandwidth, itemsize):
    batch = 1
    while 2 * batch * bandwidth < flop_per_sec * itemsize:
        batch += 1
    return batch
