"""Adds up layer by layer, returns the FLOPs as 2 per weight plus attention's, and uses properties of its own Config."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil


@dataclass(frozen=True)
class Config:
    layers: int
    width: int
    heads: int
    hidden: int
    vocab: int
    context: int
    tied: bool = False

    @property
    def matrices(self):
        return [(self.width, self.width)] * 4 + [(self.width, self.hidden), (self.hidden, self.width)]


def num_parameters(config):
    total = config.width * (config.vocab * (2 - config.tied) + config.context + 1)
    for _ in range(config.layers):
        total += sum(a * b for a, b in config.matrices) + config.width + config.width
    return total


def multiplied(config):
    gains, embeddings = config.width * (2 * config.layers + 1), config.width * (config.vocab + config.context)
    return num_parameters(config) - gains - embeddings + config.tied * config.width * config.vocab


def flops_per_token(config):
    scores = config.layers * config.heads * config.context * (config.width // config.heads)
    return 6 * multiplied(config) + 6 * scores + 6 * scores


def step_flops(config, batch=1):
    return flops_per_token(config) * batch * config.context


def half_context(config):
    equal = Fraction(multiplied(config), 2 * config.layers * config.width)
    return ceil(equal) + (equal.denominator == 1)


def training_bytes(config, batch):
    per_layer = [config.width] * 6 + [config.hidden] + [config.context] * config.heads
    tokens = config.context * batch
    return (4 + 4 + 4 + 4) * num_parameters(config) + 4 * tokens * (config.width + config.layers * sum(per_layer))


def max_batch(config, device_bytes):
    low, high = 0, 1
    while training_bytes(config, high) <= device_bytes:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if training_bytes(config, middle) <= device_bytes else (low, middle)
    return low
