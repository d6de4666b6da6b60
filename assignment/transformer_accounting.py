"""Transformer accounting: parameters, FLOPs and memory of a model.

The model is a small GPT-style Transformer without biases:
    x = tokens[token] + positions[position]       # two embeddings of width `width`
    in each layer:
        h = norm(x)
        q, k, v = h @ w_q, h @ w_k, h @ w_v       # (width, width) each
        x = x + attention(q, k, v) @ w_o          # softmax(q @ k.T / √d) @ v per head; w_o is (width, width)
        x = x + relu(norm(x) @ up) @ down         # (width, hidden) and (hidden, width)
    logits = norm(x) @ output                     # (width, vocab); if `tied`, output is tokens.T

Each head uses d = width / heads columns of q, k and v. Unlike in `language_model`, each norm has a gain: `width`
parameters.

All results are exact ints, not floats.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """The sizes of a model, each at least 1. This class is provided."""

    layers: int
    width: int  # a multiple of heads
    heads: int
    hidden: int  # the width of the MLP
    vocab: int  # number of different tokens
    context: int  # number of positions, and tokens per sequence
    tied: bool


def num_parameters(config: Config) -> int:
    """Return the number of parameters.

    Example, which the functions below continue:
        small = Config(layers=2, width=8, heads=2, hidden=20, vocab=100, context=16, tied=False)
        num_parameters(small)     # 2920
        gpt2_xl = Config(layers=48, width=1600, heads=25, hidden=6400, vocab=50257, context=1024, tied=True)
        num_parameters(gpt2_xl)     # 1556764800
    """
    raise NotImplementedError


def flops_per_token(config: Config) -> int:
    """Return the FLOPs per token of training, forward and backward, on a sequence of `context` tokens.

    Count only matrix multiplications: looking up an embedding is none, and a causal mask saves none. In the backward
    pass, both inputs of each multiplication get a gradient.

    Example:
        flops_per_token(small)     # 14784
    """
    raise NotImplementedError


def step_flops(config: Config, batch: int) -> int:
    """Return the FLOPs of a training step on `batch` sequences of `context` tokens.

    Example:
        step_flops(small, batch=4)     # 946176
    """
    raise NotImplementedError


def half_context(config: Config) -> int:
    """Return the smallest context at which scores, and their products with values, take more than half of all FLOPs.

    Example:
        half_context(gpt2_xl)     # 10124: the `context` of gpt2_xl has no effect
    """
    raise NotImplementedError


def training_bytes(config: Config, batch: int) -> int:
    """Return the bytes of parameters, gradients, AdamW's two averages and activations, all in float32.

    Activations: every tensor, except parameters, that is an input of a matrix multiplication of the forward pass.
    Count a shared input once.

    Example:
        training_bytes(small, batch=4)     # 99968
    """
    raise NotImplementedError


def max_batch(config: Config, device_bytes: float) -> int:
    """Return the largest batch whose `training_bytes` are at most `device_bytes`, or 0 if none fits.

    Example:
        max_batch(gpt2_xl, 80e9)     # 6: a larger batch needs gradient accumulation
    """
    raise NotImplementedError
