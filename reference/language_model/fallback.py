"""Replaces the student's `language_model` in katas that build on it, if the student's version fails its tests."""

import torch
from torch import Tensor, nn

from .linear import Linear

EPS = 1e-5


class Layer(nn.Module):
    """Attention and an MLP, each with a norm before it and a residual connection around it."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.heads = 4 if dim % 4 == 0 else 1
        self.project, self.merge = Linear(dim, 3 * dim), Linear(dim, dim)
        self.mlp = nn.Sequential(nn.RMSNorm(dim, EPS, False), Linear(dim, 4 * dim), nn.ReLU(), Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to vectors (batch, T, dim)."""
        parts = self.project(nn.functional.rms_norm(x, x.shape[-1:], eps=EPS)).unflatten(-1, (3, self.heads, -1))
        mixed = nn.functional.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), is_causal=True)
        x = x + self.merge(mixed.transpose(1, 2).flatten(2))
        y: Tensor = x + self.mlp(x)
        return y


class LanguageModel(nn.Module):
    """Embeddings, layers, and a linear output layer."""

    def __init__(self, vocab: int, dim: int, num_layers: int, context: int) -> None:
        super().__init__()
        self.context = context
        self.tokens, self.positions = nn.Embedding(vocab, dim), nn.Embedding(context, dim)
        self.layers = nn.Sequential(*(Layer(dim) for _ in range(num_layers)))
        self.output = Linear(dim, vocab)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits of the next token at each position."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.layers(self.tokens(tokens.long()) + self.positions(places))
        logits: Tensor = self.output(nn.functional.rms_norm(x, x.shape[-1:], eps=EPS))
        return logits


def loss(model: nn.Module, batch: Tensor) -> Tensor:
    """Return the mean cross-entropy of the next tokens."""
    logits = model(batch[:, :-1]).float()
    return nn.functional.cross_entropy(logits.transpose(1, 2), batch[:, 1:].long())
