"""Parameters, FLOPs and bytes of a Transformer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """The sizes of a model."""

    layers: int
    width: int
    heads: int
    hidden: int
    vocab: int
    context: int
    tied: bool


def count_layer(config: Config) -> int:
    """Count the elements of a layer's six matrices."""
    return 4 * config.width**2 + 2 * config.width * config.hidden


def num_parameters(config: Config) -> int:
    """Add up embeddings, layers, the last gain and the output matrix."""
    embeddings = (config.vocab + config.context) * config.width
    layers = config.layers * (count_layer(config) + 2 * config.width)
    output = 0 if config.tied else config.width * config.vocab
    return embeddings + layers + config.width + output


def count_products(config: Config) -> int:
    """Count the multiplications with weights for one token in the forward pass."""
    return config.layers * count_layer(config) + config.width * config.vocab


def flops_per_token(config: Config) -> int:
    """Count 2 FLOPs per multiplication, and three products per product of the forward pass."""
    attention = config.layers * 2 * config.context * config.width
    return 3 * 2 * (count_products(config) + attention)


def step_flops(config: Config, batch: int) -> int:
    """Multiply by the tokens per step."""
    return batch * config.context * flops_per_token(config)


def half_context(config: Config) -> int:
    """Divide the multiplications with weights by those of attention per position of the context."""
    return count_products(config) // (config.layers * 2 * config.width) + 1


def training_bytes(config: Config, batch: int) -> int:
    """Add 4 + 4 + 8 bytes per parameter and 4 per activation."""
    layer = 6 * config.width + config.heads * config.context + config.hidden
    activations = batch * config.context * (config.layers * layer + config.width)
    return 16 * num_parameters(config) + 4 * activations


def max_batch(config: Config, device_bytes: float) -> int:
    """Divide the bytes that parameters leave free by those of one sequence."""
    fixed = training_bytes(config, 0)
    sequence = training_bytes(config, 1) - fixed
    return max(0, int(device_bytes - fixed) // sequence)
