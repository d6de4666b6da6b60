"""Builds a layer on the meta device, and lets torch's FlopCounterMode count its forward and backward pass."""

from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


@dataclass(frozen=True)
class Config:
    layers: int
    width: int
    heads: int
    hidden: int
    vocab: int
    context: int
    tied: bool


def num_parameters(config: Config) -> int:
    d, h = config.width, config.hidden
    with torch.device("meta"):
        layer = nn.ModuleList([*(nn.Linear(a, b, bias=False) for a, b in [(d, 3 * d), (d, d), (d, h), (h, d)])])
        layer.extend([nn.RMSNorm(d), nn.RMSNorm(d)])
        rest = nn.ModuleList([nn.Embedding(config.vocab, d), nn.Embedding(config.context, d), nn.RMSNorm(d)])
        rest.append(nn.Linear(d, config.vocab, bias=False))
        if config.tied:
            rest[3].weight = rest[0].weight
    return config.layers * sum(p.numel() for p in layer.parameters()) + sum(p.numel() for p in rest.parameters())


def count(config: Config, layers: int) -> int:
    T, d, heads = config.context, config.width, config.heads

    def leaf(*shape):
        return torch.empty(shape, device="meta", requires_grad=True)

    with FlopCounterMode(display=False) as counter:
        for _ in range(layers):
            q, k, v = (leaf(T, d) @ leaf(d, 3 * d)).view(T, 3, heads, d // heads).permute(1, 2, 0, 3)
            y = nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
            z = (y.transpose(0, 1).reshape(T, d) @ leaf(d, d)) @ leaf(d, config.hidden) @ leaf(config.hidden, d)
            z.backward(torch.empty_like(z))
        logits = leaf(T, d) @ leaf(d, config.vocab)
        logits.backward(torch.empty_like(logits))
    return counter.get_total_flops()


def flops_per_token(config: Config) -> int:
    none, one = count(config, 0), count(config, 1)
    return (none + config.layers * (one - none)) // config.context


def step_flops(config: Config, batch: int) -> int:
    return sum(flops_per_token(config) * config.context for _ in range(batch))


def half_context(config: Config) -> int:
    one, two = (flops_per_token(replace(config, context=context)) for context in (1, 2))
    attention = two - one
    return (one - attention) // attention + 1


def training_bytes(config: Config, batch: int) -> int:
    with torch.device("meta"):
        tokens, d = batch * config.context, config.width
        shapes = [*[(tokens, d)] * 6, (tokens, config.hidden), (tokens, config.heads, config.context)]
        kept = [torch.empty(shape) for shape in shapes] * config.layers + [torch.empty(tokens, d)]
    return 16 * num_parameters(config) + sum(tensor.nbytes for tensor in kept)


def max_batch(config: Config, device_bytes: float) -> int:
    batch = 0
    while training_bytes(config, batch + 1) <= device_bytes:
        batch += 1
    return batch
